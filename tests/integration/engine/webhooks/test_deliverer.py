"""Webhooks are sent to real receivers, which verify, hang, reset, redirect and die (I7)."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from aiohttp import web
from standardwebhooks import Webhook as StandardWebhook
from svix.webhooks import Webhook as SvixWebhook
from tests.integration.executors.http.target_server import TargetServer, target_server
from tests.support.certificates import write_certificate
from tests.support.webhooks import (
    CLOCK,
    SECRET,
    build_event,
    consume,
    create_endpoint,
    sealing,
    send_due,
    sender,
)
from tests.support.world import World

from rota.contract.cloudevents import read_structured
from rota.core import signatures
from rota.core.webhook_deliveries import (
    DELIVERY_LEASE,
    DISABLE_AFTER,
    DISABLE_FAILURES_MIN,
    FAILING_AFTER,
)
from rota.executors.http import TargetGuard
from rota.store import webhook_deliveries, webhooks
from rota.store.pool import DatabaseAccess, open_pool
from rota.store.webhook_deliveries import DeliveryFilter

LEASE_OVER_S = DELIVERY_LEASE.total_seconds() + 1


@pytest.fixture
async def receiver() -> AsyncIterator[TargetServer]:
    async with target_server() as running:
        yield running


async def read_delivery(world: World, endpoint_id: UUID) -> webhook_deliveries.DeliveryDetail:
    (row,) = await webhook_deliveries.list_deliveries(
        world.conn, DeliveryFilter(endpoint_id=endpoint_id), tenant_id=1
    )
    return await webhook_deliveries.get_delivery(
        world.conn, row.id, endpoint_id=endpoint_id, tenant_id=1
    )


async def read_endpoint(world: World, endpoint_id: UUID) -> webhooks.WebhookEndpoint:
    return await webhooks.get_endpoint(world.conn, endpoint_id, tenant_id=1)


async def test_two_other_libraries_verify_what_the_receiver_gets(
    world: World, receiver: TargetServer
) -> None:
    endpoint = await create_endpoint(world, f"{receiver.url}/hook")
    event = build_event(world, labels={"team": "büro"})
    await consume(world, event)

    async with sender(world, port=receiver.port) as deliverer:
        await send_due(deliverer)

    (seen,) = receiver.requests
    for library in (StandardWebhook(SECRET), SvixWebhook(SECRET)):
        assert library.verify(seen["body"], seen["headers"])["type"] == "run.failed"
    assert seen["headers"]["webhook-id"] == f"evt_{event.id.hex}"
    assert seen["headers"]["content-type"] == "application/json"
    body = json.loads(seen["body"])
    assert body["timestamp"] == "2026-07-01T12:00:00Z"
    assert body["data"]["error"] == {"type": "ValueError", "message": "no such customer"}
    assert body["data"]["run_id"] == f"run_{event.run_id.hex}"  # type: ignore[union-attr]
    assert body["data"]["labels"] == {"team": "büro"}
    delivery = await read_delivery(world, endpoint.id)
    assert (delivery.state, delivery.status, delivery.attempts) == ("delivered", 200, 1)
    (attempt,) = json.loads(delivery.history)
    assert attempt["status"] == 200


async def test_both_secrets_sign_while_one_replaces_the_other(
    world: World, receiver: TargetServer
) -> None:
    newer = signatures.format_secret(bytes([9] * 32))
    endpoint = await create_endpoint(world, f"{receiver.url}/hook")
    await webhooks.rotate_secret(
        world.conn,
        endpoint.id,
        newer,
        tenant_id=1,
        former_for=timedelta(hours=24),
        sealing=sealing(2),
    )
    async with sender(world, port=receiver.port) as deliverer:
        await consume(world, build_event(world))
        await send_due(deliverer)
        await world.advance(hours=25)
        await consume(world, build_event(world))
        await send_due(deliverer)

    first, second = receiver.requests
    for secret in (newer, SECRET):
        StandardWebhook(secret).verify(first["body"], first["headers"])
    StandardWebhook(newer).verify(second["body"], second["headers"])
    with pytest.raises(Exception, match="No matching signature"):
        StandardWebhook(SECRET).verify(second["body"], second["headers"])


async def test_the_cloudevents_format_can_be_read_by_another_reader(
    world: World, receiver: TargetServer
) -> None:
    await create_endpoint(world, f"{receiver.url}/hook", format="cloudevents")
    event = build_event(world)
    await consume(world, event)

    async with sender(world, port=receiver.port) as deliverer:
        await send_due(deliverer)

    (seen,) = receiver.requests
    assert seen["headers"]["content-type"] == "application/cloudevents+json"
    read = read_structured(json.loads(seen["body"]))
    assert (read.type, read.id) == ("rota.run.failed", f"evt_{event.id.hex}")
    assert read.subject == f"jobs/nightly%20report/runs/run_{event.run_id.hex}"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("path", "status", "error"),
    [
        ("/status/500", 500, "answered 500"),
        ("/status/404", 404, "answered 404"),
        ("/redirect/307?to=/echo", 307, "redirects are not followed"),
        ("/broken", None, "network"),
        ("/silent", None, "timeout"),
    ],
)
async def test_a_failed_attempt_is_retried_on_the_schedule_with_the_same_id(
    world: World, receiver: TargetServer, path: str, status: int | None, error: str
) -> None:
    endpoint = await create_endpoint(world, receiver.url + path)
    await consume(world, build_event(world))

    async with sender(world, port=receiver.port, patience=timedelta(seconds=0.5)) as deliverer:
        await send_due(deliverer)
        delivery = await read_delivery(world, endpoint.id)
        assert (delivery.state, delivery.status) == ("pending", status)
        assert error in str(delivery.error)
        assert timedelta(seconds=4.4) < delivery.next_attempt_at - world.now < timedelta(seconds=6)
        await send_due(deliverer)
        assert len(receiver.requests) == 1, "it is not due yet"
        await world.advance(seconds=6)
        await send_due(deliverer)

    first, second = receiver.requests
    assert first["headers"]["webhook-id"] == second["headers"]["webhook-id"]
    assert first["body"] == second["body"]
    delivery = await read_delivery(world, endpoint.id)
    assert timedelta(minutes=4) < delivery.next_attempt_at - world.now < timedelta(minutes=6)
    assert (await read_endpoint(world, endpoint.id)).failures == 2


async def test_ten_attempts_within_75_hours_and_then_the_delivery_has_failed(
    world: World, receiver: TargetServer
) -> None:
    endpoint = await create_endpoint(world, f"{receiver.url}/status/500")
    await consume(world, build_event(world))
    began = world.now

    async with sender(world, port=receiver.port) as deliverer:
        for _ in range(10):
            await send_due(deliverer)
            delivery = await read_delivery(world, endpoint.id)
            await world.move_to(max(delivery.next_attempt_at, world.now) + timedelta(minutes=6))
        await send_due(deliverer)

    assert delivery.state == "failed"
    assert len(receiver.requests) == 10
    assert timedelta(hours=65) < world.now - began < timedelta(hours=85)
    assert len(json.loads(delivery.history)) == 10


async def test_retry_after_delays_the_next_attempt_in_seconds_and_as_a_date(
    world: World, receiver: TargetServer
) -> None:
    date = format_datetime(CLOCK.now() + timedelta(hours=2), usegmt=True)
    by_seconds = await create_endpoint(world, f"{receiver.url}/status/429?Retry-After=3600")
    by_date = await create_endpoint(
        world, f"{receiver.url}/status/503?Retry-After={date.replace(' ', '%20')}"
    )
    endless = await create_endpoint(world, f"{receiver.url}/status/503?Retry-After=999999999")
    await consume(world, build_event(world))

    async with sender(world, port=receiver.port) as deliverer:
        await send_due(deliverer)

    waits = {
        each.id: (await read_delivery(world, each.id)).next_attempt_at - world.now
        for each in (by_seconds, by_date, endless)
    }
    assert waits[by_seconds.id] == timedelta(hours=1)
    assert timedelta(minutes=119) < waits[by_date.id] <= timedelta(hours=2)
    assert waits[endless.id] == timedelta(hours=24)
    health = await webhooks.lock_health(world.conn, by_seconds.id)
    assert health is not None
    assert health.concurrency == 5, "429 halves the number in flight"


async def test_ten_megabytes_of_answer_are_read_to_four_kilobytes(
    world: World, receiver: TargetServer
) -> None:
    endpoint = await create_endpoint(world, f"{receiver.url}/big/10000000")
    await consume(world, build_event(world))

    async with sender(world, port=receiver.port) as deliverer:
        await send_due(deliverer)

    delivery = await read_delivery(world, endpoint.id)
    assert delivery.state == "delivered"
    assert len(str(delivery.response)) == 4096


async def test_a_certificate_that_nobody_trusts_is_a_failed_attempt(
    world: World, tmp_path: Path
) -> None:
    certificate, key = write_certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    async with serving_tls(context) as port:
        endpoint = await create_endpoint(world, f"https://127.0.0.1:{port}/hook")
        await consume(world, build_event(world))
        async with sender(world, port=port) as deliverer:
            await send_due(deliverer)

    delivery = await read_delivery(world, endpoint.id)
    assert delivery.state == "pending"
    assert str(delivery.error).startswith("tls: ")


@asynccontextmanager
async def serving_tls(context: ssl.SSLContext) -> AsyncIterator[int]:
    async def handle(_request: web.BaseRequest) -> web.Response:
        return web.Response()

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


async def test_a_name_that_moves_to_a_private_address_is_refused(
    world: World, receiver: TargetServer
) -> None:
    answers = iter([["93.184.216.34"], ["127.0.0.1"], ["127.0.0.1"]])

    async def lookup(_host: str) -> Sequence[str]:
        return next(answers)

    endpoint = await create_endpoint(world, f"http://hook.example:{receiver.port}/hook")
    guard = TargetGuard(allow_ports=(receiver.port,))
    async with sender(world, lookup=lookup, guard=guard) as deliverer:
        warning = await deliverer.poster.check_url(  # type: ignore[attr-defined]
            endpoint.url, tenant="default", allow_http=True
        )
        assert warning is None, "the address was public when the endpoint was saved"
        await consume(world, build_event(world))
        await send_due(deliverer)

    delivery = await read_delivery(world, endpoint.id)
    assert "target refused" in str(delivery.error)
    assert "127.0.0.1" in str(delivery.error)
    assert receiver.requests == []


async def test_410_disables_the_endpoint_and_keeps_its_events(
    world: World, receiver: TargetServer
) -> None:
    endpoint = await create_endpoint(world, f"{receiver.url}/status/410")
    await consume(world, build_event(world))

    async with sender(world, port=receiver.port) as deliverer:
        await send_due(deliverer)
        await consume(world, build_event(world))
        await world.advance(hours=1)
        await send_due(deliverer)

    found = await read_endpoint(world, endpoint.id)
    assert (found.state, found.disabled_reason, found.pending) == ("disabled", "gone", 2)
    assert len(receiver.requests) == 1
    held = await webhook_deliveries.list_deliveries(
        world.conn, DeliveryFilter(endpoint_id=endpoint.id, state="held"), tenant_id=1
    )
    assert len(held) == 2
    assert await read_news(world) == ["endpoint.disabled"]


async def test_a_failing_endpoint_gets_one_probe_at_a_time_and_says_when_it_recovers(
    world: World, receiver: TargetServer
) -> None:
    endpoint = await create_endpoint(world, f"{receiver.url}/status/500")
    await consume(world, *(build_event(world) for _ in range(30)))

    async with sender(world, port=receiver.port) as deliverer:
        await send_due(deliverer)
        assert len(receiver.requests) == 10, "ten are in flight at a time"
        await send_due(deliverer)
        assert len(receiver.requests) == 10, "the next probe is not due"
        await world.advance(minutes=5, seconds=40)
        await send_due(deliverer)
        assert len(receiver.requests) == 11
        assert [each.id for each in await webhooks.list_unhealthy(world.conn)] == [endpoint.id]

        await world.conn.execute(
            "update rota.webhook_endpoints set url = $1", f"{receiver.url}/hook"
        )
        await world.advance(minutes=6)
        await send_due(deliverer)
        assert len(receiver.requests) == 12, "one probe"
        for _ in range(3):
            await send_due(deliverer)

    assert (await read_endpoint(world, endpoint.id)).failures == 0
    assert await webhooks.list_unhealthy(world.conn) == []
    assert await read_news(world) == ["endpoint.failing", "endpoint.recovered"]


async def test_five_days_of_failures_disable_an_endpoint_and_enabling_it_sends_what_was_held(
    world: World, receiver: TargetServer
) -> None:
    endpoint = await create_endpoint(world, f"{receiver.url}/status/503")
    began = world.now
    events = [build_event(world) for _ in range(3)]
    await consume(world, *events)

    async with sender(world, port=receiver.port) as deliverer:
        for number in range(60):
            await send_due(deliverer)
            await world.advance(hours=3)
            if number % 8 == 0:
                events.append(build_event(world))
                await consume(world, events[-1])
            if (await read_endpoint(world, endpoint.id)).state == "disabled":
                break
        found = await read_endpoint(world, endpoint.id)
        assert (found.state, found.disabled_reason) == ("disabled", "failing")
        assert found.failures >= DISABLE_FAILURES_MIN
        assert found.disabled_at is not None
        assert found.disabled_at - began >= DISABLE_AFTER

        await world.conn.execute(
            "update rota.webhook_endpoints set url = $1", f"{receiver.url}/hook"
        )
        sent_before = len(receiver.requests)
        await webhook_deliveries.pace_held(
            world.conn, endpoint.id, tenant_id=1, spacing=timedelta(seconds=10)
        )
        await webhooks.enable_endpoint(world.conn, endpoint.id, tenant_id=1)
        await send_due(deliverer)
        assert len(receiver.requests) == sent_before + 1, "they are ten seconds apart"
        for _ in range(found.pending):
            await world.advance(seconds=10)
            await send_due(deliverer)

    states = await read_states(world, endpoint.id)
    assert set(states) == {event.id for event in events}, "no gap"
    assert len(receiver.requests) == sent_before + found.pending
    assert await read_news(world) == ["endpoint.failing", "endpoint.disabled"]


async def read_states(world: World, endpoint_id: UUID) -> dict[UUID, str]:
    rows = await webhook_deliveries.list_deliveries(
        world.conn, DeliveryFilter(endpoint_id=endpoint_id), tenant_id=1, limit=1000
    )
    return {row.event_id: row.state for row in rows}


async def read_all_states(world: World) -> dict[UUID, str]:
    rows = await world.conn.fetch("select id, state from rota.webhook_deliveries")
    return {row[0]: row[1] for row in rows}


async def read_news(world: World) -> list[str]:
    rows = await world.conn.fetch(
        "select action from rota.audit where thing = 'webhook' order by id"
    )
    return [row[0] for row in rows]


async def test_a_sender_that_dies_before_it_records_is_followed_by_the_same_request(
    world: World, receiver: TargetServer
) -> None:
    """The receiver has the request, but nothing of it was recorded: it comes again."""
    endpoint = await create_endpoint(world, f"{receiver.url}/silent")
    await consume(world, build_event(world))

    async with sender(world, port=receiver.port, patience=timedelta(seconds=60)) as killed:
        await killed.tick()
        await asyncio.wait_for(receiver.asked.wait(), 10)
        await killed.close()
    await world.conn.execute("update rota.webhook_endpoints set url = $1", f"{receiver.url}/hook")

    async with sender(world, port=receiver.port) as successor:
        await send_due(successor)
        assert len(receiver.requests) == 1, "the lease of the dead sender holds"
        await world.advance(seconds=LEASE_OVER_S)
        await send_due(successor)

    first, second = receiver.requests
    assert first["headers"]["webhook-id"] == second["headers"]["webhook-id"]
    assert first["body"] == second["body"]
    delivery = await read_delivery(world, endpoint.id)
    assert (delivery.state, delivery.attempts) == ("delivered", 2)


async def test_a_sender_that_was_away_too_long_records_nothing(
    world: World, receiver: TargetServer
) -> None:
    endpoint = await create_endpoint(world, f"{receiver.url}/hook")
    await consume(world, build_event(world))
    late_id, other_id = world.new_id(), world.new_id()

    (late,) = await webhook_deliveries.claim_deliveries(world.conn, sender=late_id, room=10)
    await world.advance(seconds=LEASE_OVER_S)
    (other,) = await webhook_deliveries.claim_deliveries(world.conn, sender=other_id, room=10)
    result = webhook_deliveries.DeliveryResult(
        status=200, response="", duration=timedelta(seconds=1)
    )
    assert (
        await webhook_deliveries.record_delivered(world.conn, late, result, sender=late_id) is None
    )
    assert (
        await webhook_deliveries.record_delivered(world.conn, other, result, sender=other_id)
        is not None
    )
    assert (await read_delivery(world, endpoint.id)).attempts == 2


async def test_two_senders_share_the_work_and_send_nothing_twice(
    world: World, receiver: TargetServer, database: str
) -> None:
    endpoints = [await create_endpoint(world, f"{receiver.url}/hook/{n}") for n in range(3)]
    events = [build_event(world) for _ in range(40)]
    await consume(world, *events)

    access = DatabaseAccess(url=database)
    async with (
        open_pool(access, size=4) as pool,
        open_pool(access, size=4) as other_pool,
        sender(world, port=receiver.port, source=pool) as one,
        sender(world, port=receiver.port, source=other_pool) as other,
    ):
        while set((await read_all_states(world)).values()) != {"delivered"}:
            await asyncio.gather(send_due(one), send_due(other))

    sent = [(seen["path"], seen["headers"]["webhook-id"]) for seen in receiver.requests]
    assert len(sent) == len(set(sent)) == len(endpoints) * len(events)


async def test_a_master_key_that_does_not_fit_is_a_failed_attempt_that_says_what_to_do(
    world: World, receiver: TargetServer
) -> None:
    endpoint = await create_endpoint(world, f"{receiver.url}/hook")
    await consume(world, build_event(world))

    async with sender(world, port=receiver.port) as deliverer:
        deliverer.read_master_key = lambda: bytes(32)
        await send_due(deliverer)

    assert receiver.requests == []
    assert "rotate its secret" in str((await read_delivery(world, endpoint.id)).error)


async def test_without_a_master_key_nothing_is_claimed_and_the_log_says_so_once(
    world: World, receiver: TargetServer
) -> None:
    emitted: list[Any] = []
    await create_endpoint(world, f"{receiver.url}/hook")
    await consume(world, build_event(world))

    async with sender(world, port=receiver.port, emit=emitted.append) as deliverer:
        deliverer.read_master_key = lambda: None
        await send_due(deliverer)
        await send_due(deliverer)

    assert receiver.requests == []
    assert [type(event).__name__ for event in emitted] == ["WebhooksUnsigned"]


async def test_old_deliveries_and_events_are_deleted(world: World, receiver: TargetServer) -> None:
    await create_endpoint(world, f"{receiver.url}/hook")
    await consume(world, build_event(world))
    await world.advance(days=13)
    await consume(world, build_event(world))
    assert await webhook_deliveries.delete_old(world.conn, limit=10) == (0, 0)

    await world.advance(days=2)
    assert await webhook_deliveries.delete_old(world.conn, limit=10) == (1, 1)
    assert await world.count("webhook_deliveries") == 1
    assert await world.count("webhook_events") == 1


def test_the_failing_limit_is_below_the_limit_in_flight() -> None:
    assert FAILING_AFTER < DISABLE_FAILURES_MIN


async def test_the_role_of_schedulers_may_do_all_of_it(
    world: World, receiver: TargetServer
) -> None:
    await create_endpoint(world, f"{receiver.url}/status/410", include=("payload", "result"))
    await world.conn.execute("set role rota_service")

    await consume(world, build_event(world))
    async with sender(world, port=receiver.port) as deliverer:
        await send_due(deliverer)
    await webhook_deliveries.delete_old(world.conn, limit=10)

    assert await read_news(world) == ["endpoint.disabled"]
