"""No attempt that forbids overlap outlives the lease of its worker, whatever it does (E3, E4, O15).

Real worker processes on a durable server. One of them is cut off in silence; its attempt does not
stop when it is asked to. The other one takes the run over.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.support import lease_jobs
from tests.support.cluster import Cluster, Member
from tests.support.database_proxy import database_proxy
from tests.support.databases import create
from tests.support.shop import Shop, open_shop, until

from rota.core.states import RunState
from rota.store.embedded import start
from rota.store.schema_migration import migrate

SETTINGS = {
    "ROTA_WORKER__LEASE": "6s",
    "ROTA_WORKER__BEAT_EVERY": "500ms",
    "ROTA_WORKER__STOP_AFTER": "4s",
    "ROTA_WORKER__BLOCKED_AFTER": "1m",
    "ROTA_WORKER__ON_DATABASE_OUTAGE": "stop",
}
WORDS = ("worker", "tests.support.lease_jobs:handlers")
OUTLIVED = 70


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """On a server that may hold data; worker processes refuse any other."""
    with await asyncio.to_thread(start, tmp_path / "home") as embedded:
        async with open_shop(await create(embedded.url, "leases")) as opened:
            await migrate(opened.conn)
            yield opened


@pytest.mark.parametrize("kind", ["thread", "blocking", "deaf", "child"])
async def test_an_attempt_that_does_not_stop_is_gone_before_its_successor_starts(
    shop: Shop, tmp_path: Path, kind: str
) -> None:
    witness = tmp_path / "witness"
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(database_proxy(shop.access.url))
        clusters = [
            Cluster(folder=tmp_path, settings=SETTINGS | {"ROTA_DATABASE_URL": url})
            for url in (proxy.url, shop.access.url)
        ]
        for cluster in clusters:
            stack.callback(cluster.close)
        alone = clusters[0].add("alone", *WORDS)
        run_id = await shop.submit(kind, {"path": str(witness)})
        await until(lambda: says(witness, 1))
        proxy.fall_silent()
        clusters[1].add("other", *WORDS)
        run = await shop.ends(run_id)
        if kind != "child":  # which was killed, and its worker lives
            await until(lambda: has_ended(alone))
            assert alone.codes == [OUTLIVED]

    said = lease_jobs.read(witness)
    assert max(said[1]) < min(said[2])
    assert (run.state, run.attempt) == (RunState.SUCCEEDED, 2)


async def says(witness: Path, attempt: int) -> bool:
    return attempt in lease_jobs.read(witness)


async def has_ended(member: Member) -> bool:
    return not member.is_alive
