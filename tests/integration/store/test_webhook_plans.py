"""Claiming and listing deliveries read what they need, however many are held or done (I7)."""

import json
from typing import Any
from uuid import UUID

import pytest
from tests.integration.store.test_view_plans import literal, nodes, read_from
from tests.support.webhooks import create_endpoint
from tests.support.world import World

from rota.store import webhook_deliveries
from rota.store.statement import Statement

DELIVERIES_EACH = 5_000
ROOM = 100


@pytest.fixture
async def endpoints(world: World) -> list[UUID]:
    """Twenty endpoints: a working one, one that is disabled, and others with nothing due."""
    made = [(await create_endpoint(world)).id for _ in range(20)]
    await world.conn.execute(
        """
        insert into rota.webhook_events (id, tenant_id, type, at, data)
        select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 1,
            'run.failed', now(), '{}'
        from generate_series(1, $1::integer) as n
        """,
        DELIVERIES_EACH,
    )
    # The first is behind, the second is disabled and holds all of its deliveries.
    await world.conn.execute(
        """
        insert into rota.webhook_deliveries (id, tenant_id, endpoint_id, event_id, state)
        select gen_random_uuid(), 1, e.id, v.id,
            case when e.place <= 2 then 'pending' else 'delivered' end
        from unnest($1::uuid[]) with ordinality as e (id, place)
        cross join rota.webhook_events as v
        """,
        made[:8],
    )
    await world.conn.execute(
        "update rota.webhook_endpoints set state = 'disabled' where id = $1", made[1]
    )
    await world.conn.execute("analyze rota.webhook_deliveries, rota.webhook_events")
    await world.advance(seconds=1)
    return made


async def explain(
    world: World, statement: Statement[Any], **arguments: object
) -> list[dict[str, Any]]:
    values = ", ".join(map(literal, statement._bind(arguments)))
    block = world.conn.transaction()
    await block.start()  # type: ignore[attr-defined]
    try:
        await world.conn.execute("set local plan_cache_mode = force_generic_plan")
        await world.conn.execute(f"prepare walk as {statement.text}")
        rows = await world.conn.fetch(f"explain (analyze, format json) execute walk({values})")
        await world.conn.execute("deallocate walk")
    finally:
        await block.rollback()  # type: ignore[attr-defined]
    return list(nodes(json.loads(rows[0][0])[0]["Plan"]))


async def test_looking_for_due_deliveries_reads_one_row_per_endpoint(
    world: World, endpoints: list[UUID]
) -> None:
    plan = await explain(world, webhook_deliveries.LOCK_DUE, failing_after=5, most=ROOM)

    assert read_from(plan, "webhook_deliveries") <= len(endpoints)


async def test_a_claim_reads_what_it_takes(world: World, endpoints: list[UUID]) -> None:
    plan = await explain(
        world,
        webhook_deliveries.CLAIM,
        endpoint_ids=endpoints[:1],
        failing_after=5,
        room=ROOM,
        lease="45 seconds",
        sender=UUID(int=1),
    )

    assert read_from(plan, "webhook_deliveries") <= 50


async def test_a_page_of_the_log_reads_what_it_shows(world: World, endpoints: list[UUID]) -> None:
    plan = await explain(
        world,
        webhook_deliveries.PAGE,
        endpoint_id=endpoints[3],
        tenant_id=1,
        state=None,
        type=None,
        before=webhook_deliveries.LAST_EVENT_ID,
        most=50,
    )

    assert read_from(plan, "webhook_deliveries") <= 60
