"""Messages about incidents as people read them, and text of strangers that does no harm."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.core.alert_channels import AlertItem, AlertMessage, MessageKind
from rota.core.alerts.channel_kinds import find_channel_kind, is_recovery_required
from rota.core.alerts.finding import Severity
from rota.core.alerts.messages import build_alert_document, neutralise_text, render_alert

OPENED = datetime(2026, 11, 18, 6, 0, tzinfo=UTC)


def item(**given: Any) -> AlertItem:
    fields: dict[str, Any] = {
        "incident_id": UUID(int=1),
        "title": "nightly report did not finish by 06:00",
        "subject_kind": "job",
        "subject_name": "nightly report",
        "condition": "finish_by",
        "severity": Severity.PAGE,
        "opened_at": OPENED,
    }
    return AlertItem(**fields | given)


def message(*items: AlertItem, **given: Any) -> AlertMessage:
    fields: dict[str, Any] = {
        "notification_id": UUID(int=7),
        "dedup_key": "group/1",
        "kind": MessageKind.OPENED,
        "severity": Severity.PAGE,
        "tenant": "default",
        "title": "nightly report did not finish by 06:00",
        "items": items or (item(),),
        "at": OPENED,
    }
    return AlertMessage(**fields | given)


def test_a_message_says_what_is_wrong_since_when_and_where_to_look() -> None:
    rendered = render_alert(
        message(
            item(
                error="ValueError: no rows\nin table x",
                count=3,
                last_success_at=OPENED - timedelta(days=1),
                link="https://rota.example/incidents/1",
            ),
            link="https://rota.example/incidents",
        )
    )

    assert rendered.title == "[page] nightly report did not finish by 06:00"
    assert rendered.body.splitlines() == [
        "- nightly report did not finish by 06:00 (since 2026-11-18 06:00 UTC, 3 times)",
        "  error: ValueError: no rows in table x",
        "  last success: 2026-11-17 06:00 UTC",
        "  https://rota.example/incidents/1",
        "Details: https://rota.example/incidents",
    ]


def test_a_link_is_shown_once() -> None:
    link = "https://rota.example/incidents/1"

    assert render_alert(message(item(link=link), link=link)).body.count(link) == 1


def test_a_recovery_says_how_long_it_lasted() -> None:
    rendered = render_alert(
        message(
            item(resolved_at=OPENED + timedelta(hours=1, minutes=5, seconds=9), count=4),
            kind=MessageKind.RESOLVED,
        )
    )

    assert rendered.title.startswith("[resolved] ")
    assert "(resolved after 1 hour 5 minutes, 4 times)" in rendered.body


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (MessageKind.OPENED, "page"),
        (MessageKind.UPDATED, "update"),
        (MessageKind.REPEATED, "still open"),
        (MessageKind.ESCALATED, "escalated"),
        (MessageKind.ACKNOWLEDGED, "acknowledged"),
        (MessageKind.FLAPPING, "flapping"),
        (MessageKind.DIGEST, "digest"),
        (MessageKind.TEST, "test"),
    ],
)
def test_the_title_begins_with_why_the_message_is_sent(kind: MessageKind, word: str) -> None:
    assert render_alert(message(kind=kind)).title.startswith(f"[{word}] ")


def test_another_tenant_than_the_default_is_named() -> None:
    assert render_alert(message(tenant="acme")).title.endswith(" (tenant acme)")


def test_facts_are_listed_and_structures_are_left_to_programs() -> None:
    rendered = render_alert(message(facts={"acknowledged_by": "ada", "runs": [1, 2], "late": True}))

    assert "acknowledged by: ada" in rendered.body.splitlines()
    assert "late: true" in rendered.body.splitlines()
    assert "runs" not in rendered.body


def test_incidents_without_room_are_counted() -> None:
    items = [item(title=f"job {number} failed", error="x" * 900) for number in range(50)]

    rendered = render_alert(
        message(*items, more=5, link="https://rota.example/"), characters_max=1000
    )

    assert len(rendered.body) <= 1000
    shown = sum(line.startswith("- job") for line in rendered.body.splitlines())
    assert shown >= 1
    assert f"and {55 - shown} more" in rendered.body.splitlines()
    assert rendered.body.endswith("Details: https://rota.example/")


def test_a_message_without_incidents_still_has_a_body() -> None:
    bare = AlertMessage(
        notification_id=UUID(int=7),
        dedup_key="group/1",
        kind=MessageKind.DIGEST,
        severity=Severity.WARNING,
        tenant="default",
        title="412 incidents in 3 rules",
        items=(),
        more=412,
        at=OPENED,
    )

    assert render_alert(bare).body == "412 incidents"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("<!channel> now", "‹!channel› now"),
        ("<https://evil.example|bank>", "‹https://evil.example|bank›"),
        ("@everyone and ops@example.org", "＠everyone and ops＠example.org"),
        ("[pay](https://evil.example)", "[pay] (https://evil.example)"),
        ("![x](https://evil.example/p.png)", "![x] (https://evil.example/p.png)"),
        ("<b onclick=x>hi</b>", "‹b onclick=x›hi‹/b›"),
        ("a\r\nBcc: b\tc\x00\x1b[31m", "a Bcc: b c[31m"),
        ("gpj.\u202eexe\u2066\u200b\ufeff", "gpj.exe"),
        ("] (stays) ](", "] (stays) ] ("),
        ("lone \ud800 surrogate", "lone surrogate"),
    ],
)
def test_text_of_jobs_is_one_line_without_effects(given: str, shown: str) -> None:
    assert neutralise_text(given) == shown


@given(st.text(max_size=3000), st.integers(min_value=10, max_value=1024))
def test_any_text_becomes_a_short_and_harmless_line(text: str, limit: int) -> None:
    line = neutralise_text(text, bytes_max=limit)

    assert len(line.encode()) <= limit
    assert not {"<", ">", "@", "\n", "\r", "\0", "\u202e"} & set(line)
    assert "](" not in line
    assert neutralise_text(line, bytes_max=limit) == line


def test_an_error_has_at_most_a_kilobyte() -> None:
    rendered = render_alert(message(item(error="ä" * 5000)))

    (error,) = [line for line in rendered.body.splitlines() if "error: " in line]
    assert len(error.removeprefix("  error: ").encode()) <= 1024
    assert error.endswith("…")


def test_programs_get_json_with_the_same_harmless_text() -> None:
    document = build_alert_document(
        message(
            item(error="@here <x>", labels={"team": "<b>"}),
            facts={"at": OPENED, "share": float("nan"), "list": ["@a"]},
        )
    )

    written = json.dumps(document, allow_nan=False, ensure_ascii=False)
    assert document["type"] == "alert.opened"
    assert document["data"]["incidents"][0]["error"] == "＠here ‹x›"
    assert document["data"]["facts"] == {
        "at": "2026-11-18T06:00:00Z",
        "share": None,
        "list": ["＠a"],
    }
    assert "<" not in written
    assert "@" not in written


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("mailtos://rota:secret@example.org", "email"),
        ("SLACK://a/b/c", "slack"),
        ("https://hooks.slack.com/services/a/b/c", "slack"),
        ("workflows://host/a/b", "teams"),
        ("https://prod-1.westus.logic.azure.com/workflows/x", "teams"),
        ("pagerduty://a@b", "pagerduty"),
        ("jira://key", "jira"),
        ("tgram://token/chat", "telegram"),
        ("alertmanager+http://localhost:9093", "alertmanager"),
        ("webhook+https://example.org/hook", "webhook"),
        ("ntfy://topic", "ntfy"),
        ("https://example.org/", "https"),
        ("no url with a secret", "unknown"),
    ],
)
def test_the_kind_of_a_channel_comes_from_its_url(url: str, kind: str) -> None:
    assert find_channel_kind(url) == kind


def test_services_that_keep_alerts_open_always_get_the_end() -> None:
    required = {
        kind
        for kind in ("email", "slack", "pagerduty", "jira", "alertmanager", "webhook")
        if is_recovery_required(kind)
    }

    assert required == {"pagerduty", "jira", "alertmanager"}
