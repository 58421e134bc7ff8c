"""Signed webhooks against a real receiver that verifies them (E2, E17, S10)."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.integration.executors.http.target_server import TargetServer, target_server
from tests.support.moved_clock import MovedClock

from rota.config.loader import load_settings
from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.outcome import Failed, Outcome, Succeeded
from rota.executors.http import TargetGuard, WebhookExecutor, build_webhook_signing
from rota.processes.built_in_executors import build_webhook_executor
from rota.processes.executor_factory import ExecutorSetup
from rota.sdk import webhooks
from rota.sdk.testing import RecordingContext

# The same for every process that collects these tests.
SECRET, OLDER = ("whsec_" + base64.b64encode(bytes([n] * 32)).decode() for n in (1, 2))
NOW = datetime(2030, 1, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
async def server() -> AsyncIterator[TargetServer]:
    async with target_server() as running:
        yield running


@pytest.fixture
async def clock() -> MovedClock:
    return MovedClock(NOW)


@pytest.fixture
async def executor(server: TargetServer, clock: MovedClock) -> AsyncIterator[WebhookExecutor]:
    known = {
        "partner": build_webhook_signing([SECRET]),
        "rotating": build_webhook_signing([SECRET, OLDER]),
        "bound": build_webhook_signing([SECRET], hosts=["127.0.0.1"]),
        "elsewhere": build_webhook_signing([SECRET], hosts=["partner.example"]),
    }
    guard = TargetGuard(allow_networks=("127.0.0.1/32",), allow_ports=(server.port,))
    opened = WebhookExecutor(known, guard=guard, clock=clock)
    await opened.open()
    yield opened
    await opened.close()


async def deliver(
    executor: WebhookExecutor, url: str, context: RecordingContext | None = None, **payload: Any
) -> Outcome:
    given = {"webhook": "partner", "type": "invoice.paid", **payload}
    if "body" in given:
        del given["type"]
    spec = executor.read("webhook", {"url": url, **given})
    return await asyncio.wait_for(executor.run(spec, context or RecordingContext()), 30)


async def test_the_receiver_can_verify_what_it_gets(
    server: TargetServer, executor: WebhookExecutor
) -> None:
    outcome = await deliver(executor, f"{server.url}/hook", data={"invoice": 7, "name": "ü"})

    assert isinstance(outcome, Succeeded)
    (seen,) = server.requests
    received = webhooks.verify(seen["headers"], seen["body"].encode(), SECRET, now=NOW)
    assert received.id == RecordingContext().idempotency_key
    assert received.sent_at == NOW
    assert received.json() == {
        "type": "invoice.paid",
        "timestamp": "2030-01-01T09:00:00Z",
        "data": {"invoice": 7, "name": "ü"},
    }
    assert (seen["method"], seen["headers"]["content-type"]) == ("POST", "application/json")


async def test_a_later_attempt_has_the_same_id_and_body_and_a_signature_of_its_own(
    server: TargetServer, executor: WebhookExecutor, clock: MovedClock
) -> None:
    await deliver(executor, f"{server.url}/hook")
    await clock.advance(timedelta(hours=1))
    await deliver(executor, f"{server.url}/hook", RecordingContext(attempt=2))

    first, second = server.requests
    assert first["body"] == second["body"]
    assert first["headers"]["webhook-id"] == second["headers"]["webhook-id"]
    assert first["headers"]["webhook-signature"] != second["headers"]["webhook-signature"]
    later = NOW + timedelta(hours=1)
    webhooks.verify(second["headers"], second["body"].encode(), SECRET, now=later)
    with pytest.raises(webhooks.InvalidSignature):
        webhooks.verify(first["headers"], first["body"].encode(), SECRET, now=later)


@pytest.mark.parametrize("known", [SECRET, OLDER])
async def test_while_a_secret_is_replaced_either_is_enough(
    server: TargetServer, executor: WebhookExecutor, known: str
) -> None:
    await deliver(executor, f"{server.url}/hook", webhook="rotating")

    (seen,) = server.requests
    received = webhooks.verify(seen["headers"], seen["body"].encode(), known, now=NOW)
    assert received.sent_at == NOW


@pytest.mark.parametrize(
    ("body", "sent"), [({"id": 7}, '{"id":7}'), ("plain text", "plain text"), ([], "[]")]
)
async def test_a_body_of_ones_own_is_sent_and_signed_as_it_is(
    server: TargetServer, executor: WebhookExecutor, body: Any, sent: str
) -> None:
    await deliver(executor, f"{server.url}/hook", body=body, headers={"X-Team": "billing"})

    (seen,) = server.requests
    assert (seen["body"], seen["headers"]["x-team"]) == (sent, "billing")
    assert webhooks.verify(seen["headers"], sent.encode(), SECRET, now=NOW).body == sent.encode()


@pytest.mark.parametrize(
    ("path", "type_", "final"),
    [
        ("/status/410", "http 410", True),
        ("/status/400", "http 400", True),
        ("/status/503?Retry-After=7", "http 503", False),
        ("/redirect/307?to=/echo", "http 307", True),
        ("/broken", "network", False),
    ],
)
async def test_what_the_receiver_answers_decides(
    server: TargetServer, executor: WebhookExecutor, path: str, type_: str, final: bool
) -> None:
    outcome = await deliver(executor, server.url + path)

    assert isinstance(outcome, Failed)
    assert (outcome.failure.type, outcome.final) == (type_, final)
    assert len(server.requests) == 1, "a redirect is not followed"


async def test_a_receiver_that_says_nothing_is_left_after_its_time(
    server: TargetServer, executor: WebhookExecutor
) -> None:
    outcome = await deliver(executor, f"{server.url}/silent", timeout="200ms")

    assert isinstance(outcome, Failed)
    assert (outcome.failure.type, outcome.final) == ("timeout", False)


async def test_the_guard_of_http_holds_here_too(server: TargetServer) -> None:
    strict = WebhookExecutor({"partner": build_webhook_signing([SECRET])})
    await strict.open()
    outcome = await deliver(strict, "http://169.254.169.254/latest/meta-data")
    await strict.close()

    assert isinstance(outcome, Failed)
    assert (outcome.failure.type, outcome.final) == ("target refused", True)


async def test_a_bound_webhook_goes_to_its_hosts_only(
    server: TargetServer, executor: WebhookExecutor
) -> None:
    outcome = await deliver(executor, f"{server.url}/hook", webhook="bound")

    assert isinstance(outcome, Succeeded)
    with pytest.raises(
        InvalidInput, match=r"webhook elsewhere may be sent to partner\.example only"
    ):
        await deliver(executor, f"{server.url}/hook", webhook="elsewhere")


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({"webhook": "nobody", "type": "a"}, "webhook"),
        ({"webhook": None, "type": "a"}, "webhook"),
        ({"webhook": "partner"}, "type"),
        ({"webhook": "partner", "type": "a..b"}, "type"),
        ({"webhook": "partner", "type": "a", "body": "b"}, "body"),
        ({"webhook": "partner", "body": 7}, "body"),
        ({"webhook": "partner", "type": "a", "data": "x" * 300_000}, "body"),
        ({"webhook": "partner", "type": "a", "method": "GET"}, "payload.method"),
        ({"webhook": "partner", "type": "a", "redirects": 1}, "payload.redirects"),
        ({"webhook": "partner", "type": "a", "headers": {"Webhook-Id": "1"}}, "headers"),
        ({"webhook": "partner", "type": "a", "url": "file:///etc/passwd"}, "url"),
        ({"webhook": "partner", "type": "a", "timeout": "soon"}, "timeout"),
    ],
)
async def test_what_is_wrong_is_refused_by_its_name(
    executor: WebhookExecutor, payload: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        executor.read("webhook", {"url": "https://partner.example/hook", **payload})

    assert refused.value.field == field


async def test_the_secret_is_never_shown(server: TargetServer, executor: WebhookExecutor) -> None:
    context = RecordingContext()

    outcome = await deliver(executor, f"{server.url}/hook", context)

    shown = repr((outcome, build_webhook_signing([SECRET]))) + context.all_output
    sent = json.dumps(server.requests)
    assert SECRET not in shown + sent
    assert SECRET.removeprefix("whsec_") not in shown + sent


def test_a_worker_signs_as_its_settings_say_and_is_off_without() -> None:
    tree = {"executors": {"webhooks": {"partner": {"secrets": ["${PARTNER}"]}}}}
    settings = load_settings(environment={}, flags=tree, default_files=())

    made = build_webhook_executor(ExecutorSetup(settings=settings, environment={"PARTNER": SECRET}))
    without = build_webhook_executor(
        ExecutorSetup(settings=load_settings(environment={}, default_files=()), environment={})
    )

    assert made.kinds == ("webhook",)
    assert without.kinds == ()
    with pytest.raises(InvalidSetting, match=r"executors\.webhooks\.partner\.secrets") as refused:
        build_webhook_executor(ExecutorSetup(settings=settings, environment={"PARTNER": "hunter2"}))
    assert "hunter2" not in str(refused.value)
