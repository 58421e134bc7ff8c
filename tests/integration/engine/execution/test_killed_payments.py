"""A worker that is killed takes its uncommitted effects with it, and repeats no others (E2)."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.cluster import Cluster
from tests.support.databases import create
from tests.support.shop import Shop, open_shop, until

from rota.core.outcome import Guarantee
from rota.core.policy import Policy
from rota.core.states import RunState
from rota.store.embedded import start
from rota.store.schema_migration import migrate

LEASES = {
    "ROTA_WORKER__LEASE": "2s",
    "ROTA_WORKER__BEAT_EVERY": "200ms",
    "ROTA_WORKER__STOP_AFTER": "1200ms",
}
EXACTLY = Policy(guarantee=Guarantee.EXACTLY_ONCE)
WORKER = ("worker", "tests.support.paying:handlers")


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """On a server that may hold data; worker processes refuse any other."""
    with await asyncio.to_thread(start, tmp_path / "home") as embedded:
        async with open_shop(await create(embedded.url, "payments")) as opened:
            await migrate(opened.conn)
            await opened.conn.execute("create table payments (run_id uuid, attempt integer)")
            yield opened


async def test_a_killed_worker_repeats_what_was_not_committed_and_nothing_else(
    shop: Shop, tmp_path: Path
) -> None:
    (tmp_path / "witness").mkdir()
    settings = LEASES | {
        "ROTA_DATABASE_URL": shop.access.url,
        "WITNESS": str(tmp_path / "witness"),
    }
    kinds = ("inside", "inside async", "after")
    runs = {kind: await shop.submit(kind, policy=EXACTLY) for kind in kinds}

    def said(kind: str) -> list[str]:
        file = tmp_path / "witness" / str(runs[kind])
        return file.read_text().splitlines() if file.exists() else []

    async def all_stand_still() -> bool:
        return all(said(kind) for kind in kinds)

    cluster = Cluster(folder=tmp_path, settings=settings)
    try:
        first = cluster.add("first", *WORKER)
        await until(all_stand_still)
        first.signal(signal.SIGKILL)
        cluster.add("second", *WORKER)
        ended = {kind: await shop.ends(run_id) for kind, run_id in runs.items()}
    finally:
        cluster.close()

    rows = await shop.conn.fetch("select run_id, attempt from payments")
    paid = {run_id: [row[1] for row in rows if row[0] == run_id] for run_id in runs.values()}
    assert {run.state for run in ended.values()} == {RunState.SUCCEEDED}
    assert {kind: paid[run_id] for kind, run_id in runs.items()} == {
        "inside": [2],
        "inside async": [2],
        "after": [1],
    }
    assert said("inside") == said("inside async") == ["1 inside", "2 inside"]
    assert said("after") == ["1 after"]
