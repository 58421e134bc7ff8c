"""A worker that is killed in the middle of a map costs no member, and doubles none (D5, CP-D2)."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.cluster import Cluster
from tests.support.databases import create
from tests.support.mapping import begin, ended, ends_as, result, the_map
from tests.support.shop import Shop, open_shop, until

from rota.core.states import RunState
from rota.store import graph_views
from rota.store.embedded import start
from rota.store.schema_migration import migrate

NUMBER = 6_000
LEASES = {
    "ROTA_WORKER__LEASE": "2s",
    "ROTA_WORKER__BEAT_EVERY": "200ms",
    "ROTA_WORKER__STOP_AFTER": "1200ms",
}
STEPS: tuple[dict[str, Any], ...] = (
    {
        "name": "each",
        "kind": "one",
        "map": {"source": {"kind": "items", "payload": {"number": NUMBER}}, "at_once": 500},
        "payload": {"n": {"$": "item"}},
    },
    {"name": "sum", "kind": "sum", "needs": ["each"]},
)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """On a server that may hold data; worker processes refuse any other."""
    with await asyncio.to_thread(start, tmp_path / "home") as embedded:
        async with open_shop(await create(embedded.url, "maps")) as opened:
            await migrate(opened.conn)
            yield opened


async def test_a_killed_worker_loses_no_member_and_doubles_none(shop: Shop, tmp_path: Path) -> None:
    cluster = Cluster(folder=tmp_path, settings=LEASES | {"ROTA_DATABASE_URL": shop.access.url})
    words = ("worker", "tests.support.map_jobs:handlers")
    try:
        first = cluster.add("first", *words)
        run_id = await begin(shop, *STEPS)

        async def half_done() -> bool:
            found = (await graph_views.read_maps(shop.conn, tenant_id=1, run_id=run_id)).get(0)
            return found is not None and found.succeeded >= 1000

        await until(half_done)
        first.signal(signal.SIGKILL)
        before = await the_map(shop, run_id)
        cluster.add("second", *words)
        run = await ends_as(shop, run_id, RunState.SUCCEEDED)
    finally:
        cluster.close()

    found = await the_map(shop, run_id)
    assert before.total is None or before.made < NUMBER
    assert (found.total, found.made, found.succeeded) == (NUMBER, NUMBER, NUMBER)
    assert await ended(shop, run_id) == {"succeeded": NUMBER}
    assert result(run) == {"sum": sum(range(NUMBER))}
