"""Messages about incidents as they arrive: at mail servers, chats, pagers and programs."""

import html
import json
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote
from uuid import UUID

import pytest
from tests.integration.executors.http.target_server import TargetServer, target_server
from tests.support.alerting_messages import (
    HARMFUL,
    OPENED_AT,
    build_hostile_message,
    build_item,
    build_message,
)
from tests.support.mailbox import Mailbox, mailbox, text_of
from tests.support.vendors import (
    JIRA_HOST,
    PAGERDUTY_HOST,
    SLACK_HOST,
    TEAMS_HOST,
    Vendors,
    open_vendors,
    write_authority,
)

from rota.config.channels import ChannelSettings
from rota.core.alert_channels import AlertMessage, ChannelResult, MessageKind
from rota.core.alerts.finding import Severity
from rota.core.signatures import parse_secret, verify_request
from rota.processes.alert_channels import build_alert_channel
from rota.runtime.clock import SystemClock
from rota.sdk.webhooks import new_secret

# Apprise imports what the next Python no longer has, where there still is one.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

SECRET = new_secret()
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/"
TEAMS = f"workflows://{TEAMS_HOST}/643e69f83c8944438d68119179a10a64/KODuebWbDGYFr0z0eu"
PAGERDUTY = "pagerduty://3f5a2b1c9d8e4f60a1b2c3d4e5f60718@abcdefghijklmnopqrst"
JIRA = "jira://d3b07384-d113-46c4-a9a0-c9d2b6a1b5f1/%23ops"
TELEGRAM = "tgram://123456789:abcdefg_hijklmnop/12315544/"
DISCORD = "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js"


class Receivers(NamedTuple):
    """Everything that can receive a message, on this machine."""

    post: Mailbox
    server: TargetServer
    vendors: Vendors

    @property
    def mail(self) -> str:
        return f"mailto://127.0.0.1:{self.post.port}?from=rota@example.org&to=ops@example.org"

    def at(self, scheme: str, path: str = "") -> str:
        return f"{scheme}://127.0.0.1:{self.server.port}{path}"


@pytest.fixture
async def receivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Receivers]:
    async with mailbox() as post, target_server() as server, open_vendors(tmp_path) as vendors:
        vendors.use(monkeypatch)
        yield Receivers(post, server, vendors)


async def send(url: str, *messages: AlertMessage, **settings: Any) -> list[ChannelResult]:
    configured = build_alert_channel(
        "ops", ChannelSettings(url=url, tenants=("*",), **settings), environment={}
    )
    try:
        return [await configured.channel.send(message) for message in messages]
    finally:
        await configured.channel.close()


async def deliver(url: str, *messages: AlertMessage, **settings: Any) -> None:
    assert await send(url, *messages, **settings) == [ChannelResult()] * len(messages)


def other(message: AlertMessage, number: int, **changes: Any) -> AlertMessage:
    """A later message about the same incidents."""
    return replace(message, notification_id=UUID(int=number), **changes)


def resolved(message: AlertMessage, number: int = 9) -> AlertMessage:
    ended = OPENED_AT + timedelta(minutes=20)
    items = [replace(item, resolved_at=ended) for item in message.items]
    return other(message, number, kind=MessageKind.RESOLVED, items=items, at=ended)


# Mail


async def test_a_mail_has_the_title_as_subject_and_the_incidents_as_text(
    receivers: Receivers,
) -> None:
    await deliver(receivers.mail, build_message())

    (mail,) = receivers.post.messages
    assert mail["subject"] == "[warning] nightly report failed 3 times in a row"
    assert mail.get_content_type() == "text/plain"
    assert mail["from"] == "Rota <rota@example.org>"
    assert mail["to"] == "ops@example.org"
    assert mail["auto-submitted"] == "auto-generated"
    assert "  error: ValueError: no rows" in text_of(mail)
    assert receivers.post.recipients == ["ops@example.org"]


async def test_all_mails_about_the_same_incidents_are_one_thread(receivers: Receivers) -> None:
    first = build_message()
    await deliver(receivers.mail, first, resolved(first), other(first, 10, dedup_key="another"))

    opened, ended, stranger = receivers.post.messages
    assert opened["references"] == opened["in-reply-to"] == ended["references"]
    assert stranger["references"] != opened["references"]
    ids = {mail["message-id"] for mail in receivers.post.messages}
    assert len(ids) == 3
    assert all(id_.endswith("@example.org>") for id_ in ids)
    assert ended["subject"].startswith("[resolved] ")
    assert "resolved after 20 minutes" in text_of(ended)


async def test_a_mail_that_is_sent_twice_has_one_message_id(receivers: Receivers) -> None:
    await deliver(receivers.mail, build_message(), build_message())

    first, second = receivers.post.messages
    assert first.get_all("message-id") == second.get_all("message-id")
    assert len(first.get_all("message-id") or []) == 1


async def test_copies_and_headers_of_the_url_are_kept(receivers: Receivers) -> None:
    await deliver(
        f"{receivers.mail},ada@example.org&cc=bob@example.org&bcc=eve@example.org&+X-Team=ops",
        build_message(),
    )

    (mail,) = receivers.post.messages
    assert mail["cc"] == "bob@example.org"
    assert mail["bcc"] is None
    assert mail["x-team"] == "ops"
    assert set(receivers.post.recipients) == {
        f"{name}@example.org" for name in ("ops", "ada", "bob", "eve")
    }


@pytest.mark.parametrize(
    ("reply", "error", "final"),
    [
        ("550 no such user", "the mail server answered 550", True),
        ("451 later, please", "the mail server answered 451", False),
    ],
)
async def test_what_a_mail_server_refuses_is_retried_or_not(
    receivers: Receivers, reply: str, error: str, final: bool
) -> None:
    receivers.post.replies["ops@example.org"] = [reply]

    assert await send(receivers.mail, build_message()) == [ChannelResult(error=error, final=final)]


async def test_one_refused_recipient_of_two_is_an_error(receivers: Receivers) -> None:
    receivers.post.replies["ops@example.org"] = ["550 no such user"]

    (result,) = await send(f"{receivers.mail},ada@example.org", build_message())

    assert result == ChannelResult(error="the mail server answered 550", final=True)
    assert receivers.post.recipients == ["ada@example.org"]


async def test_a_url_without_a_valid_recipient_is_final(receivers: Receivers) -> None:
    url = f"mailto://127.0.0.1:{receivers.post.port}?from=rota@example.org&to=nobody"

    (result,) = await send(url, build_message())

    assert result == ChannelResult(error="the URL of this channel names no recipient", final=True)


async def test_a_url_that_apprise_does_not_know_is_final_and_never_shown() -> None:
    (result,) = await send("pigeon://hunter2@loft", build_message())

    assert result == ChannelResult(
        error="apprise does not support the URL of this channel", final=True
    )


async def test_a_wrong_password_is_final_and_never_shown() -> None:
    async with mailbox(password="hunter2") as post:
        url = f"mailto://rota:hunter2wrong@127.0.0.1:{post.port}?from=rota@example.org"

        (result,) = await send(url, build_message())

    assert result == ChannelResult(error="the mail server refused the login (535)", final=True)


@pytest.mark.parametrize("mode", ["starttls", "ssl"])
async def test_a_mail_goes_over_tls_to_a_server_that_proves_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    authority, certificate, key = write_authority(tmp_path, ["localhost"])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    async with mailbox(tls=tls, is_implicit=mode == "ssl") as post:
        url = f"mailtos://localhost:{post.port}?from=rota@example.org&smtp=localhost&mode={mode}"
        (stranger,) = await send(url, build_message())
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        (known,) = await send(url, build_message())

    assert stranger == ChannelResult(error="the TLS connection failed")
    assert known == ChannelResult()
    assert post.recipients == ["rota@example.org"]


# Chats


async def test_slack_gets_a_title_and_a_text(receivers: Receivers) -> None:
    message = build_message(build_item(error="a & b"))
    await deliver(SLACK, message, resolved(message))

    first, second = receivers.vendors.requests
    assert first.host == SLACK_HOST
    assert first.path == "/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
    (attachment,) = first.json()["attachments"]
    assert attachment["title"] == "[warning] nightly report failed 3 times in a row"
    assert "error: a &amp; b" in attachment["text"]
    assert second.json()["attachments"][0]["color"] != attachment["color"]


async def test_teams_gets_an_adaptive_card(receivers: Receivers) -> None:
    await deliver(TEAMS, build_message())

    (request,) = receivers.vendors.requests
    assert request.host == TEAMS_HOST
    assert request.query["sig"] == ["KODuebWbDGYFr0z0eu"]
    document = request.json()
    (attachment,) = document["attachments"]
    assert document["type"] == "message"
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert card["type"] == "AdaptiveCard"
    assert [block["type"] for block in card["body"]] == ["TextBlock", "TextBlock"]
    assert card["body"][0]["text"] == "[warning] nightly report failed 3 times in a row"
    assert "entities" not in card["msteams"]


# PagerDuty


async def test_pagerduty_keeps_one_alert_from_its_beginning_to_its_end(
    receivers: Receivers,
) -> None:
    first = build_message(severity=Severity.PAGE)
    changed = other(first, 8, kind=MessageKind.UPDATED, title="nightly report failed 9 times")
    acknowledged = other(first, 11, kind=MessageKind.ACKNOWLEDGED)
    await deliver(PAGERDUTY, first, changed, acknowledged, resolved(first))

    events = [request.json() for request in receivers.vendors.requests]
    assert {request.host for request in receivers.vendors.requests} == {PAGERDUTY_HOST}
    assert {request.path for request in receivers.vendors.requests} == {"/v2/enqueue"}
    assert [event["event_action"] for event in events] == ["trigger", "trigger", "resolve"]
    assert {event["dedup_key"] for event in events} == {first.dedup_key}
    assert {event["routing_key"] for event in events} == {"3f5a2b1c9d8e4f60a1b2c3d4e5f60718"}
    assert events[0]["payload"] == {
        "summary": "[page] nightly report failed 3 times in a row",
        "severity": "critical",
        "source": "rota/default",
        "component": "nightly report",
        "custom_details": events[0]["payload"]["custom_details"],
    }
    assert "ValueError: no rows" in events[0]["payload"]["custom_details"]["incidents"]
    assert events[0]["links"] == [{"href": "https://rota.example/incidents"}]
    assert "images" not in events[0]


async def test_a_test_of_pagerduty_leaves_no_open_alert(receivers: Receivers) -> None:
    await deliver(PAGERDUTY, build_message(kind=MessageKind.TEST, severity=Severity.INFO))

    events = [request.json() for request in receivers.vendors.requests]
    assert [event["event_action"] for event in events] == ["trigger", "resolve"]
    assert len({event["dedup_key"] for event in events}) == 1


async def test_a_long_key_is_shortened_to_what_pagerduty_accepts(receivers: Receivers) -> None:
    first = build_message(dedup_key="k" * 400)
    await deliver(PAGERDUTY, first, resolved(first))

    keys = {request.json()["dedup_key"] for request in receivers.vendors.requests}
    assert [len(key) for key in keys] == [64]


# Jira Service Management


async def test_jira_keeps_one_alert_by_its_alias(receivers: Receivers) -> None:
    first = build_message(severity=Severity.PAGE)
    await deliver(JIRA, first, other(first, 8, kind=MessageKind.ACKNOWLEDGED), resolved(first))

    created, acknowledged, closed = receivers.vendors.requests
    base = "/jsm/ops/integration/v2/alerts"
    assert {request.host for request in receivers.vendors.requests} == {JIRA_HOST}
    assert {request.headers["authorization"] for request in receivers.vendors.requests} == {
        "GenieKey d3b07384-d113-46c4-a9a0-c9d2b6a1b5f1"
    }
    alert = created.json()
    assert created.path == base
    assert alert["alias"] == first.dedup_key
    assert alert["priority"] == "P1"
    assert alert["responders"] == [{"type": "team", "name": "ops"}]
    assert len(alert["message"]) <= 130
    assert "ValueError: no rows" in alert["description"]
    assert all(isinstance(value, str) for value in alert["details"].values())
    alias = "9d2f%2Ffailure_streak%2F1"
    assert acknowledged.path == f"{base}/{alias}/acknowledge"
    assert closed.path == f"{base}/{alias}/close"
    assert closed.query == acknowledged.query == {"identifierType": ["alias"]}
    assert closed.json()["note"].startswith("[resolved] ")


async def test_a_priority_in_the_url_stays(receivers: Receivers) -> None:
    await deliver(f"{JIRA}?priority=2", build_message())

    assert receivers.vendors.requests[0].json()["priority"] == "P2"


# Programs


async def test_a_webhook_gets_signed_json_that_its_receiver_can_verify(
    receivers: Receivers,
) -> None:
    message = build_message()
    await deliver(receivers.at("webhook+http", "/hook?team=a"), message, secrets=(SECRET,))

    (request,) = receivers.server.requests
    body = request["body"].encode()
    verified = verify_request(
        request["headers"], body, [parse_secret(SECRET)], now=SystemClock().now()
    )
    assert (request["method"], request["path"]) == ("POST", "/hook?team=a")
    assert verified.id == str(message.notification_id)
    assert request["headers"]["idempotency-key"] == str(message.notification_id)
    assert request["headers"]["content-type"] == "application/json"
    document = verified.json()
    assert document["type"] == "alert.opened"
    assert document["timestamp"] == "2026-11-18T06:00:00Z"
    assert document["data"]["dedup_key"] == message.dedup_key
    assert document["data"]["incidents"][0]["labels"] == {"team": "billing"}


async def test_alertmanager_gets_one_alert_per_incident(receivers: Receivers) -> None:
    message = build_message(
        build_item(), build_item(incident_id=UUID(int=2), subject_name="weekly report"), more=3
    )
    login = receivers.at("alertmanager+http", "/prefix/").replace("://", "://rota:s%40crets@")
    await deliver(login, message)

    (request,) = receivers.server.requests
    first, second, rest = json.loads(request["body"])
    assert request["path"] == "/prefix/api/v2/alerts"
    assert request["headers"]["authorization"] == "Basic cm90YTpzQGNyZXRz"
    assert first["labels"] == {
        "alertname": "RotaFailureStreak",
        "severity": "warning",
        "tenant": "default",
        "subject_kind": "job",
        "subject": "nightly report",
        "incident": str(UUID(int=1)),
        "group": message.dedup_key,
        "team": "billing",
    }
    assert first["annotations"]["error"] == "ValueError: no rows"
    assert first["startsAt"] == "2026-11-18T06:00:00Z"
    assert first["endsAt"] == "2026-12-18T06:00:00Z"
    assert first["generatorURL"] == "https://rota.example/incidents/1"
    assert second["labels"]["subject"] == "weekly report"
    assert rest["labels"]["alertname"] == "RotaMoreIncidents"


async def test_the_end_of_an_incident_ends_its_alert(receivers: Receivers) -> None:
    first = build_message()
    acknowledged = other(first, 8, kind=MessageKind.ACKNOWLEDGED)
    await deliver(receivers.at("alertmanager+http"), acknowledged, resolved(first))

    listed, sent = receivers.server.requests
    (alert,) = json.loads(sent["body"])
    assert listed["method"] == "GET"
    assert unquote(listed["path"]) == f'/api/v2/alerts?filter=group="{first.dedup_key}"'
    assert alert["endsAt"] == "2026-11-18T06:20:00Z"


async def test_alerts_of_a_digest_and_of_a_test_end_by_themselves(receivers: Receivers) -> None:
    digest = build_message(kind=MessageKind.DIGEST, more=400)
    test = replace(build_message(kind=MessageKind.TEST), items=())
    await deliver(receivers.at("alertmanager+http"), digest, test)

    alerts = [
        alert for request in receivers.server.requests for alert in json.loads(request["body"])
    ]
    assert [(alert["labels"]["alertname"], alert["endsAt"]) for alert in alerts] == [
        ("RotaFailureStreak", "2026-11-18T07:00:00Z"),
        ("RotaMoreIncidents", "2026-11-18T07:00:00Z"),
        ("RotaTest", "2026-11-18T06:01:00Z"),
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/status/404", ChannelResult(error="the service answered 404 (Not Found)", final=True)),
        (
            "/status/429?Retry-After=7",
            ChannelResult(error="the service answered 429 (Too Many Requests)", retry_after_s=7),
        ),
        (
            "/status/503",
            ChannelResult(error="the service answered 503 (Service Unavailable)"),
        ),
        (
            "/redirect/302?to=/echo",
            ChannelResult(error="the service answered 302 (Found)", final=True),
        ),
        ("/broken", ChannelResult(error="no connection")),
        ("/silent", ChannelResult(error="no response in time")),
    ],
)
async def test_what_a_program_answers_decides_whether_to_try_again(
    receivers: Receivers, path: str, expected: ChannelResult
) -> None:
    (result,) = await send(
        receivers.at("webhook+http", path),
        build_message(),
        secrets=(SECRET,),
        timeout=timedelta(milliseconds=500 if path == "/silent" else 10_000),
    )

    assert result == expected


@pytest.mark.parametrize(
    "url",
    [
        "alertmanager+http://169.254.169.254/",
        "webhook+http://metadata.google.internal/",
        "webhook+http://[fd00:ec2::254]/",
    ],
)
async def test_no_channel_leads_to_the_credentials_of_a_cloud(url: str) -> None:
    secrets = (SECRET,) if url.startswith("webhook") else ()

    (result,) = await send(url, build_message(), secrets=secrets)

    assert result.final
    assert result.error is not None
    assert result.error.startswith("target refused: ")


async def test_a_denied_network_stays_denied(receivers: Receivers) -> None:
    configured = build_alert_channel(
        "ops",
        ChannelSettings(url=receivers.at("alertmanager+http"), tenants=("*",)),
        environment={},
        deny_networks=("127.0.0.0/8",),
    )

    result = await configured.channel.send(build_message())

    await configured.channel.close()
    assert result.final
    assert not receivers.server.requests


# Every kind


def read_mail(receivers: Receivers) -> list[str]:
    return [
        str(part)
        for mail in receivers.post.messages
        for part in (*mail.values(), text_of(mail), *header_names(mail))
    ]


def header_names(mail: EmailMessage) -> list[str]:
    assert "bcc" not in {name.lower() for name in mail}
    return list(mail)


def read_vendor(receivers: Receivers) -> list[str]:
    return [text for request in receivers.vendors.requests for text in find_texts(request.json())]


def read_server(receivers: Receivers) -> list[str]:
    return [
        text
        for request in receivers.server.requests
        if request["body"]
        for text in find_texts(json.loads(request["body"]))
    ]


def find_texts(value: Any) -> list[str]:
    """Every text of a JSON document, decoded, also the names of its fields."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for each in (*value.keys(), *value.values()) for text in find_texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in find_texts(each)]
    return []


@pytest.mark.parametrize(
    ("build_url", "read"),
    [
        pytest.param(lambda to: to.mail, read_mail, id="email"),
        pytest.param(lambda _: SLACK, read_vendor, id="slack"),
        pytest.param(lambda _: f"{SLACK}?blocks=yes", read_vendor, id="slack blocks"),
        pytest.param(lambda _: TEAMS, read_vendor, id="teams"),
        pytest.param(lambda _: PAGERDUTY, read_vendor, id="pagerduty"),
        pytest.param(lambda _: JIRA, read_vendor, id="jira"),
        pytest.param(lambda _: TELEGRAM, read_vendor, id="telegram"),
        pytest.param(lambda _: DISCORD, read_vendor, id="discord"),
        pytest.param(lambda to: to.at("json", "/echo"), read_server, id="json"),
        pytest.param(lambda to: to.at("alertmanager+http"), read_server, id="alertmanager"),
        pytest.param(lambda to: to.at("webhook+http"), read_server, id="webhook"),
    ],
)
async def test_text_of_jobs_does_no_harm_in_any_channel(
    receivers: Receivers,
    build_url: Callable[[Receivers], str],
    read: Callable[[Receivers], list[str]],
) -> None:
    url = build_url(receivers)
    message = build_hostile_message()
    secrets = (SECRET,) if url.startswith("webhook") else ()
    await deliver(url, message, resolved(message), secrets=secrets)

    texts = read(receivers)
    assert any("‹!channel›" in text for text in texts)
    for text in texts:
        found = [harm for harm in HARMFUL if harm in text]
        assert not found, (found, text)


@pytest.mark.parametrize("url", [SLACK, TEAMS, PAGERDUTY, JIRA, TELEGRAM, DISCORD])
async def test_a_service_that_is_down_is_tried_again_and_no_token_is_shown(
    receivers: Receivers, url: str
) -> None:
    for host in (SLACK_HOST, TEAMS_HOST, PAGERDUTY_HOST, JIRA_HOST, "api.telegram.org"):
        receivers.vendors.replies[host] = [(503, "")] * 3
    receivers.vendors.replies["discord.com"] = [(503, "")] * 3

    (result,) = await send(url, build_message())

    assert result == ChannelResult(error="the service answered 503 (Service Unavailable)")


async def test_a_message_with_thousands_of_incidents_fits_into_every_channel(
    receivers: Receivers,
) -> None:
    items = [
        build_item(incident_id=UUID(int=number), title=f"job {number} failed", error="&" * 900)
        for number in range(1, 200)
    ]
    message = build_message(*items, more=9801)
    for url in (TEAMS, TELEGRAM, DISCORD, SLACK):
        await deliver(url, message)

    by_host = {request.host: request for request in receivers.vendors.requests}
    assert len(receivers.vendors.requests) == 4
    # Telegram counts characters after it has read the escapes.
    assert len(html.unescape(by_host["api.telegram.org"].json()["text"])) <= 4096
    assert len(by_host["discord.com"].json()["content"]) <= 2000
