"""Lists of a map's members read what they show, however many members there are (D5, P6)."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.integration.store.test_view_plans import connected, explain, read_from
from tests.support.databases import clone_url, drop

from rota.core.ids import build_id
from rota.core.maps import MapIdentity
from rota.core.states import RunState
from rota.store import graph_views, partitions
from rota.store.embedded import Embedded
from rota.store.ordered_scan import SCAN_ROWS_MAX
from rota.store.pool import DatabaseAccess, open_connection

DAY = datetime(2026, 7, 3, 12, tzinfo=UTC)
WHICH = MapIdentity(build_id(DAY, bytes(10)), 2)
NUMBER, BAD_EVERY, LIMIT = 30_000, 100, 50


@pytest.fixture(scope="module")
def filled(server: Embedded) -> Iterator[str]:
    url = asyncio.run(clone_url(server.url))
    asyncio.run(fill(url))
    yield url
    asyncio.run(drop(server.url, url))


async def fill(url: str) -> None:
    async with open_connection(DatabaseAccess(url=url)) as conn:
        await partitions.create_ahead(conn, today=DAY.date(), ahead=1)
        await conn.execute(
            """
            insert into rota.runs (
                id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id,
                kind_id, policy_id, job_version, state, left_state, trigger, priority, attempt,
                graph_run_id, step, member
            )
            select
                ($2 || lpad(to_hex(n), 6, '0'))::uuid, gen_random_uuid(), at, at, at, at, 1, 1, 1,
                1, 1, (case when n % $5 = 0 then 'dead' else 'succeeded' end)::rota.run_state,
                'running', 'graph', 5, 1, $3, 2, n
            from generate_series(0, $4 - 1) as n, (select $1::timestamptz as at) as clock
            """,
            DAY,
            WHICH.prefix,
            WHICH.run_id,
            NUMBER,
            BAD_EVERY,
        )
        await conn.execute("analyze")


def bounds(**given: Any) -> dict[str, Any]:
    return {
        "run_id": WHICH.run_id,
        "tenant_id": 1,
        "after_id": WHICH.derive_id_before(20_001),
        "last_id": WHICH.last_id,
        "states": None,
        "most": LIMIT + 1,
    } | given


@pytest.mark.parametrize("walled", [False, True], ids=["as the owner", "behind the wall"])
async def test_a_page_of_members_reads_what_it_shows(filled: str, walled: bool) -> None:
    everything = bounds(look=SCAN_ROWS_MAX, ended=True, alive=True)
    bad = bounds(states=[RunState.DEAD])

    async with connected(filled, 1, walled=walled) as conn:
        whole = await explain(conn, graph_views.MEMBERS, everything)
        dead = await explain(conn, graph_views.BAD_MEMBERS, bad)

    assert read_from(whole, "runs_") <= LIMIT + 2
    assert read_from(dead, "runs_") <= LIMIT + 2


async def test_members_are_found_from_any_place_on(filled: str) -> None:
    async with connected(filled, 1, walled=True) as conn:
        page = await graph_views.list_members(conn, WHICH, tenant_id=1, after=29_979)
        dead = await graph_views.list_members(
            conn, WHICH, tenant_id=1, states=frozenset({RunState.DEAD}), after=29_700
        )
        rare = await graph_views.list_members(
            conn,
            WHICH,
            tenant_id=1,
            states=frozenset({RunState.SUCCEEDED, RunState.LOST}),
            after=-1,
            limit=3,
        )

    assert [row.member for row in page.rows] == list(range(29_980, NUMBER))
    assert page.after is None
    assert [row.member for row in dead.rows] == [29_800, 29_900]
    assert ([row.member for row in rare.rows], rare.after) == ([1, 2, 3], 3)
