"""Messages that really arrive: e-mail and HTTP, half-failures, secrets that stay secret (E17)."""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from tests.integration.executors.http.target_server import TargetServer, target_server
from tests.support.mailbox import Mailbox, mailbox, text_of
from tests.support.silence import silence

from rota.config.loader import load_settings
from rota.core.errors import InvalidSetting
from rota.core.outcome import Failed, Outcome, Succeeded
from rota.executors.notify import NotifyChannel, NotifyExecutor
from rota.processes.built_in_executors import build_notify_executor
from rota.processes.executor_factory import ExecutorSetup
from rota.sdk.testing import RecordingContext

# Apprise imports what the next Python no longer has, where there still is one.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

PASSWORD = "hunter2/&?"
ENCODED = "hunter2%2F%26%3F"


@pytest.fixture
async def post() -> AsyncIterator[Mailbox]:
    async with mailbox() as box:
        yield box


@pytest.fixture
async def server() -> AsyncIterator[TargetServer]:
    async with target_server() as running:
        yield running


def mail(box: Mailbox, *, account: str = "", to: str = "ops") -> str:
    at = f"{account}127.0.0.1:{box.port}"
    return f"mailto://{at}?from=rota@example.org&to={to}@example.org"


def mailing(box: Mailbox, **channel: Any) -> dict[str, NotifyChannel]:
    return {"mail": NotifyChannel(url=mail(box), **channel)}


async def notify(
    channels: Mapping[str, NotifyChannel],
    context: RecordingContext | None = None,
    **payload: Any,
) -> Outcome:
    executor = NotifyExecutor(channels)
    await executor.open()
    spec = executor.read("notify", {"channel": list(channels), "body": "done", **payload})
    return await asyncio.wait_for(executor.run(spec, context or RecordingContext()), 60)


def failed(outcome: Outcome) -> Failed:
    assert isinstance(outcome, Failed)
    return outcome


async def test_a_mail_arrives_with_its_subject_and_its_text(post: Mailbox) -> None:
    outcome = await notify(
        mailing(post),
        title="Backup of {database} – fertig",
        body="{rows} rows\nin run {run_id}",
        values={"database": "shop", "rows": 7},
    )

    assert outcome == Succeeded(result={"sent": ["mail"]})
    (message,) = post.messages
    run = RecordingContext().run_id
    assert message["subject"] == "Backup of shop – fertig"
    assert text_of(message).splitlines() == ["7 rows", f"in run {run}"]
    assert "rota@example.org" in message["from"]
    assert message["idempotency-key"] == RecordingContext().idempotency_key
    assert post.recipients == ["ops@example.org"]


async def test_html_arrives_as_html_with_its_values_escaped(post: Mailbox) -> None:
    await notify(
        mailing(post), format="html", body="<b>{who}</b>", values={"who": "<i>Ada & Bob</i>"}
    )

    (message,) = post.messages
    assert "<b>&lt;i&gt;Ada &amp; Bob&lt;/i&gt;</b>" in text_of(message, "html")


async def test_markdown_is_turned_into_html_for_mail(post: Mailbox) -> None:
    await notify(mailing(post), format="markdown", body="**{who}**", values={"who": "<b>_Ada_"})

    (message,) = post.messages
    assert "<strong>&lt;b&gt;_Ada_</strong>" in text_of(message, "html")


async def test_a_payload_names_recipients_where_the_channel_allows_it(post: Mailbox) -> None:
    await notify(mailing(post, allow_to=True), to=["ada@example.org", "bob@example.org"])

    assert post.recipients == ["ada@example.org", "bob@example.org"]


async def test_a_json_webhook_gets_title_text_level_and_key(server: TargetServer) -> None:
    channels = {"hook": NotifyChannel(url=f"json://127.0.0.1:{server.port}/echo")}

    outcome = await notify(channels, title="Backup", body="failed", level="failure")

    assert isinstance(outcome, Succeeded)
    (seen,) = server.requests
    assert '"title": "Backup"' in seen["body"]
    assert '"message": "failed"' in seen["body"]
    assert '"type": "failure"' in seen["body"]
    assert seen["headers"]["idempotency-key"] == RecordingContext().idempotency_key


@pytest.mark.parametrize(
    ("path", "type_", "final"),
    [
        ("/status/404", "http 404", True),
        ("/status/429", "http 429", False),
        ("/status/500", "http 500", False),
        ("/redirect/302?to=/echo", "http 302", True),
        ("/broken", "network", False),
    ],
)
async def test_what_a_service_answers_decides_whether_to_try_again(
    server: TargetServer, path: str, type_: str, final: bool
) -> None:
    outcome = failed(
        await notify({"hook": NotifyChannel(url=f"json://127.0.0.1:{server.port}{path}")})
    )

    assert (outcome.failure.type, outcome.final) == (type_, final)
    assert outcome.failure.message.startswith("hook: ")


@pytest.mark.parametrize(
    ("reply", "type_", "final"),
    [("550 no such user", "smtp 550", True), ("451 later, please", "smtp 451", False)],
)
async def test_what_a_mail_server_answers_decides_too(
    post: Mailbox, reply: str, type_: str, final: bool
) -> None:
    post.replies["ops@example.org"] = [reply]

    outcome = failed(await notify(mailing(post)))

    assert (outcome.failure.type, outcome.final) == (type_, final)


async def test_a_server_that_is_not_there_is_tried_again(post: Mailbox) -> None:
    url = "mailto://127.0.0.1:1?from=rota@example.org&to=ops@example.org"

    outcome = failed(await notify({"mail": NotifyChannel(url=url)}))

    assert (outcome.failure.type, outcome.final) == ("network", False)


async def test_a_service_that_says_nothing_is_given_up_in_time(server: TargetServer) -> None:
    url = f"json://127.0.0.1:{server.port}/silent"
    channel = NotifyChannel(url=url, timeout=timedelta(milliseconds=200))

    outcome = failed(await notify({"hook": channel}))

    assert (outcome.failure.type, outcome.final) == ("timeout", False)


async def test_a_url_that_apprise_does_not_know_fails_for_good() -> None:
    outcome = failed(await notify({"odd": NotifyChannel(url=f"pigeon://{PASSWORD}@loft")}))

    assert (outcome.failure.type, outcome.final) == ("bad channel", True)
    assert "hunter2" not in repr(outcome)


async def test_the_next_attempt_sends_only_to_those_that_failed(
    post: Mailbox, server: TargetServer
) -> None:
    hook = NotifyChannel(url=f"json://127.0.0.1:{server.port}/status/500")
    mended = NotifyChannel(url=f"json://127.0.0.1:{server.port}/echo")
    first = RecordingContext()

    half = failed(await notify({"hook": hook, **mailing(post)}, first))
    second = RecordingContext(attempt=2, stored_checkpoint=first.stored_checkpoint)
    whole = await notify({"hook": mended, **mailing(post)}, second)

    assert (half.failure.type, half.final) == ("http 500", False)
    assert whole == Succeeded(result={"sent": ["hook", "mail"]})
    assert len(post.messages) == 1
    assert [seen["path"] for seen in server.requests] == ["/status/500", "/echo"]


async def test_an_attempt_that_is_stopped_half_way_is_gone_on_with(post: Mailbox) -> None:
    first = RecordingContext()
    async with silence() as silent:
        slow = NotifyChannel(url=f"json://127.0.0.1:{silent.port}")
        running = asyncio.create_task(notify({**mailing(post), "slow": slow}, first))
        await asyncio.wait_for(silent.called.wait(), 30)
        running.cancel()
        await asyncio.wait([running])

    mended = {**mailing(post), "slow": NotifyChannel(url=mail(post, to="oncall"))}
    outcome = await notify(
        mended, RecordingContext(attempt=2, stored_checkpoint=first.stored_checkpoint)
    )

    assert running.cancelled()
    assert outcome == Succeeded(result={"sent": ["mail", "slow"]})
    assert post.recipients == ["ops@example.org", "oncall@example.org"]


async def test_one_that_may_still_succeed_keeps_the_run_from_failing_for_good(
    server: TargetServer,
) -> None:
    at = f"json://127.0.0.1:{server.port}"

    outcome = failed(
        await notify(
            {
                "gone": NotifyChannel(url=f"{at}/status/404"),
                "busy": NotifyChannel(url=f"{at}/status/503"),
            }
        )
    )

    assert (outcome.failure.type, outcome.final) == ("http 503", False)
    assert "gone: the service answered 404 (Not Found)" in outcome.failure.message
    assert "busy: the service answered 503" in outcome.failure.message


async def test_a_password_is_used_and_never_shown(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with mailbox(password=PASSWORD) as post:
        wrong, right = RecordingContext(), RecordingContext()
        refused = await notify(
            {"mail": NotifyChannel(url=mail(post, account="rota:hunter2wrong@"))}, wrong
        )
        sent = await notify(
            {"mail": NotifyChannel(url=mail(post, account=f"rota:{ENCODED}@"))}, right
        )

    assert isinstance(sent, Succeeded)
    assert failed(refused).failure.type == "login refused"
    assert failed(refused).final
    shown = repr((refused, sent)) + wrong.all_output + right.all_output + caplog.text
    assert "hunter2" not in shown + "".join(capfd.readouterr())


async def test_a_token_in_a_path_is_never_shown_either(caplog: pytest.LogCaptureFixture) -> None:
    context = RecordingContext()

    outcome = await notify(
        {
            "hook": NotifyChannel(
                url="json://rota:hunter2@127.0.0.1:1/services/hunter2?token=hunter2"
            )
        },
        context,
    )

    assert "hunter2" not in repr(outcome) + context.all_output + caplog.text


def test_without_channels_the_kind_is_off() -> None:
    assert NotifyExecutor({}).kinds == ()


def test_a_worker_with_channels_and_without_apprise_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)

    with pytest.raises(InvalidSetting, match=r"install rota\[notify\]"):
        NotifyExecutor({"ops": NotifyChannel(url="mailto://example.org")})


def test_recipients_can_only_be_allowed_for_mail() -> None:
    with pytest.raises(InvalidSetting, match="mailto and mailtos"):
        NotifyExecutor({"chat": NotifyChannel(url="slack://a/b/c", allow_to=True)})


async def test_a_secret_that_is_missing_keeps_the_worker_from_starting() -> None:
    tree = {"executors": {"channels": {"ops": {"url": "mailto://rota:${MAIL_PASSWORD}@x.example"}}}}
    settings = load_settings(environment={}, flags=tree, default_files=())

    with pytest.raises(InvalidSetting) as refused:
        build_notify_executor(ExecutorSetup(settings=settings, environment={}))

    assert str(refused.value) == (
        "executors.channels.ops.url: '${MAIL_PASSWORD}' is invalid: "
        "set the environment variable MAIL_PASSWORD of this process"
    )
