"""Taking events in and listing them read what they need, however many there are (S7, P6).

Each statement is explained and executed in the generic form that it is kept in, on 30,000 events
of three days, as the owner and behind the wall between tenants, for the tenant that has most of
them and for one that has none.
"""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from tests.integration.store.test_view_plans import connected, explain, literal, nodes
from tests.support.databases import clone_url, drop

from rota.store import events, partitions
from rota.store.driver import Connection
from rota.store.embedded import Embedded
from rota.store.events import FIRST_ID, LAST_ID
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.statement import Statement

FIRST_DAY = date(2026, 7, 1)
DAYS = 3
LARGEST, NOBODY = 1, 77
LIMIT = 50
RANGE = {"before": LAST_ID, "from_id": FIRST_ID, "most": LIMIT}
# A type that half of the events have, one that a few have, and one that none has.
WALKS: dict[str, tuple[Statement[Any], dict[str, object], int]] = {
    "all": (events.SCAN, RANGE, LIMIT),
    "of a type": (events.SCAN_TYPE, {**RANGE, "type": "order.0"}, LIMIT),
    "of a rare type": (events.SCAN_TYPE, {**RANGE, "type": "rare.7"}, 6),
    "of no type": (events.SCAN_TYPE, {**RANGE, "type": "none"}, 0),
    "of a source": (events.SCAN_SOURCE, {**RANGE, "source": "shop", "type": None}, LIMIT),
}


@pytest.fixture(scope="module")
def filled(server: Embedded) -> Iterator[str]:
    url = asyncio.run(clone_url(server.url))
    asyncio.run(fill(url))
    yield url
    asyncio.run(drop(server.url, url))


@pytest.mark.parametrize("walled", [False, True], ids=["as the owner", "behind the wall"])
@pytest.mark.parametrize("tenant_id", [LARGEST, NOBODY], ids=["largest tenant", "empty tenant"])
async def test_a_list_of_events_reads_what_it_shows(
    filled: str, tenant_id: int, walled: bool
) -> None:
    for name, (statement, given, shown) in WALKS.items():
        async with connected(filled, tenant_id, walled=walled) as conn:
            plan = await explain(conn, statement, {**given, "tenant_id": tenant_id})

        assert not [node for node in plan if node["Node Type"] == "Seq Scan"], name
        # A partition is asked for its next event before it is known whose is the newest.
        wanted = shown if tenant_id == LARGEST else 0
        assert wanted <= touched(plan, "events") <= wanted + DAYS + 2, name


@pytest.mark.parametrize("walled", [False, True], ids=["as the owner", "behind the wall"])
async def test_an_event_asks_only_the_jobs_that_wait_for_its_type(
    filled: str, walled: bool
) -> None:
    asked: dict[str, Any] = {"tenant_id": LARGEST, "types": ["order.7", "order.*", "*"]}
    async with connected(filled, LARGEST, walled=walled) as conn:
        digests = await conn.fetch("select digest from rota.event_keys limit 3")
        waiting = await explained(conn, events.WAITING_JOBS, asked)
        # As an array reads bytes.
        written = [f"\\\\x{row[0].hex()}" for row in digests]
        asked = {"tenant_id": LARGEST, "digests": written}
        known = await explained(conn, events.FIND_KNOWN, asked)

    assert touched(waiting, "event_types") == touched(waiting, "jobs") == 20
    assert touched(known, "event_keys") == 3
    # Each is looked for in its own day.
    assert touched(known, "events") <= 3


async def test_the_duty_reads_only_what_is_due(filled: str) -> None:
    async with connected(filled, LARGEST, walled=False) as conn:
        plan = await explained(conn, events.LOCK_DUE_BATCHES, {"most": 10})

    assert touched(plan, "event_piles") == 10


async def explained(
    conn: Connection, statement: Statement[Any], arguments: dict[str, Any]
) -> list[dict[str, Any]]:
    """The plan that it is kept in, without what lists are helped by."""
    values = ", ".join(map(literal, statement._bind(arguments)))
    await conn.execute("set plan_cache_mode = force_generic_plan")
    await conn.execute(f"prepare hot as {statement.text}")
    rows = await conn.fetch(f"explain (analyze, verbose, format json) execute hot({values})")
    await conn.execute("deallocate hot")
    return list(nodes(json.loads(rows[0][0])[0]["Plan"]))


def touched(plan: list[dict[str, Any]], table: str) -> int:
    """How many rows of a table, or of its partitions, were read, with those that were left out."""
    count = 0
    for node in plan:
        name = node.get("Relation Name", "")
        if name == table or name.startswith((f"{table}_2", f"{table}_rest")):
            rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
            count += rows * node["Actual Loops"]
    return int(count)


async def fill(url: str) -> None:
    async with open_connection(
        DatabaseAccess(url=url, statement_timeout=timedelta(minutes=1))
    ) as conn:
        for day in range(DAYS):
            await partitions.create_ahead(conn, today=FIRST_DAY + timedelta(days=day + 1), ahead=0)
        await fill_events(conn)
        await fill_waiting(conn)
        await conn.execute("analyze")


async def fill_events(conn: Connection) -> None:
    """Most are of one tenant, half of them of one type and source, six of a rare type."""
    await conn.execute(
        """
        insert into rota.events (id, tenant_id, type, source, received_at, body)
        select
            (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
                || substr(md5(n::text), 1, 20))::uuid,
            n % 10 / 8 + 1,
            case
                when n % 5000 = 7 then 'rare.7' when n % 2 = 0 then 'order.0' else 'order.' || n
            end,
            case when n % 2 = 0 then 'shop' else 'mall ' || n end,
            at,
            '{}'
        from generate_series(1, 30000) as n,
            lateral (select $1::timestamptz + n * interval '8.64 s' as at) as clock
        """,
        datetime(2026, 7, 1, tzinfo=UTC),
    )
    await conn.execute(
        "insert into rota.event_keys (tenant_id, digest, event_id, received_at)"
        " select tenant_id, decode(md5(id::text), 'hex'), id, received_at from rota.events"
    )


async def fill_waiting(conn: Connection) -> None:
    """5,000 jobs that wait for 250 types, and 2,000 piles of which half are due."""
    await conn.execute(
        "insert into rota.policies (digest, body) values (decode(md5('p'), 'hex'), '{}')"
    )
    await conn.execute(
        """
        insert into rota.jobs (id, tenant_id, name, kind_id, queue_id, policy_id, schedule)
        select
            md5(n::text)::uuid, 1, n::text, 1, 1, (select max(id) from rota.policies),
            jsonb_build_object('event', 'order.' || n % 250)
        from generate_series(1, 5000) as n
        """
    )
    await conn.execute(
        """
        insert into rota.event_piles (
            job_id, key, tenant_id, run_id, opened_at, due_at, count, size, filled
        )
        select
            md5(n::text)::uuid, '', 1, md5(n::text)::uuid, at, at, 1, 1, 0
        from generate_series(1, 2000) as n,
            lateral (select rota.now() + (n - 1000) * interval '1 s' as at) as clock
        """
    )
