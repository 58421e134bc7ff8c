"""Events become deliveries exactly once, and only where an endpoint subscribes to them (I7)."""

import asyncio
from uuid import UUID

import asyncpg
from tests.support.webhooks import build_event, consume, create_endpoint
from tests.support.world import World

from rota.core.outgoing_events import RelayInterests
from rota.core.webhook_deliveries import derive_delivery_id
from rota.engine.webhooks.subscriber import WebhookSubscriber
from rota.store import tenants


async def read_deliveries(world: World) -> set[tuple[UUID, UUID]]:
    rows = await world.conn.fetch("select endpoint_id, event_id from rota.webhook_deliveries")
    return {(row[0], row[1]) for row in rows}


async def test_without_endpoints_nothing_is_asked_for_and_nothing_is_written(
    world: World,
) -> None:
    await consume(world, build_event(world))

    assert await WebhookSubscriber().read_interests(world.conn) == RelayInterests()
    assert await world.count("webhook_events") == 0


async def test_an_event_is_stored_once_for_all_endpoints_that_subscribe_to_it(
    world: World,
) -> None:
    first = await create_endpoint(world, events=("run.*",))
    second = await create_endpoint(world, events=("run.failed",))
    await create_endpoint(world, events=("job.*",))
    await create_endpoint(world, events=("run.*",), event_filter={"job": "other"})
    event = build_event(world)

    await consume(world, event, event)

    assert await read_deliveries(world) == {(first.id, event.id), (second.id, event.id)}
    assert await world.count("webhook_events") == 1
    ids = await world.conn.fetch("select id from rota.webhook_deliveries")
    assert {row[0] for row in ids} == {
        derive_delivery_id(each.id, event.id) for each in (first, second)
    }


async def test_an_event_that_comes_again_changes_nothing(world: World) -> None:
    endpoint = await create_endpoint(world)
    event = build_event(world)
    await consume(world, event)
    await world.conn.execute("update rota.webhook_deliveries set state = 'delivered'")

    await consume(world, event, build_event(world))

    states = await world.conn.fetch(
        "select state from rota.webhook_deliveries where endpoint_id = $1 order by event_id",
        endpoint.id,
    )
    assert sorted(row[0] for row in states) == ["delivered", "pending"]


async def test_a_pass_that_is_rolled_back_leaves_nothing_and_its_repetition_everything(
    world: World,
) -> None:
    endpoint = await create_endpoint(world)
    events = [build_event(world) for _ in range(20)]
    block = world.conn.transaction()
    await block.start()  # type: ignore[attr-defined]
    await WebhookSubscriber().consume(world.conn, events, now=world.now)
    await block.rollback()  # type: ignore[attr-defined]
    assert await read_deliveries(world) == set()

    await consume(world, *events[:15])
    await consume(world, *events)

    assert await read_deliveries(world) == {(endpoint.id, event.id) for event in events}


async def test_two_relays_that_race_create_each_delivery_once(world: World, database: str) -> None:
    """One of them has lost its lease and does not know it yet."""
    endpoint = await create_endpoint(world)
    events = [build_event(world) for _ in range(50)]
    other = await asyncpg.connect(database)
    try:

        async def relay(conn: asyncpg.Connection) -> None:
            async with conn.transaction():
                await WebhookSubscriber().consume(conn, events, now=world.now)

        await asyncio.gather(relay(world.conn), relay(other))
    finally:
        await other.close()

    assert await read_deliveries(world) == {(endpoint.id, event.id) for event in events}
    assert await world.count("webhook_deliveries") == len(events)


async def test_events_of_a_disabled_endpoint_are_kept(world: World) -> None:
    endpoint = await create_endpoint(world)
    await world.conn.execute("update rota.webhook_endpoints set state = 'disabled'")
    event = build_event(world)

    await consume(world, event)

    assert await read_deliveries(world) == {(endpoint.id, event.id)}


async def test_a_tenant_gets_only_its_own_events(world: World) -> None:
    other = await tenants.create_tenant(world.conn, name="other")
    await create_endpoint(world, events=("*",))
    theirs = await create_endpoint(world, events=("*",), tenant_id=other.id)
    event = build_event(world, tenant_id=other.id)

    await consume(world, event)

    assert await read_deliveries(world) == {(theirs.id, event.id)}


async def test_the_success_of_one_named_job_is_read_for_that_job_only(world: World) -> None:
    job_id = await world.job(name="nightly report")
    await create_endpoint(world, events=("run.succeeded",), event_filter={"job": "nightly report"})

    interests = await WebhookSubscriber().read_interests(world.conn)

    assert interests == RelayInterests(succeeded_jobs=frozenset({job_id}))
