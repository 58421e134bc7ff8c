"""A worker that is killed in the middle of a load, and what is in the table afterwards (E1)."""

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
from tests.integration.executors.sql.conftest import Bench
from tests.support.shop import open_shop, until

from rota.core.policy import DelayGrowth, Policy, RetryJitter, RetryPolicy
from rota.core.states import RunState
from rota.executors.sql import SqlConnection

ROOT = Path(__file__).resolve().parents[4]
WORKER = "tests.integration.executors.sql.worker"
ROWS, CHUNK = 30_000, 100
PAYLOAD: dict[str, Any] = {
    "extract": [{"name": "one", "from": {"file": "one.csv"}}],
    "transform": f"select i::integer as id, 'word ' || i as word from range({ROWS}) r(i)",
    "load": {"to": {"connection": "target", "table": "t"}},
    "chunk_rows": CHUNK,
}
AT_ONCE = RetryPolicy(
    max_retries=1, growth=DelayGrowth.CONSTANT, base_delay=timedelta(0), jitter=RetryJitter.NONE
)


async def test_a_worker_killed_in_the_middle_loses_and_doubles_nothing(
    bench: Bench, emptied: str, database: str, tmp_path: Path
) -> None:
    (bench.folder / "one.csv").write_text("n\n1\n")
    bench.connections.append(SqlConnection(name="target", url=emptied))
    target = await asyncpg.connect(emptied)
    await target.execute("create table t (id integer primary key, word text)")
    async with open_shop(database) as shop:
        run_id = await shop.submit("etl", PAYLOAD, policy=Policy(retries=AT_ONCE))

        await run_and_kill_a_worker(bench, database, emptied, tmp_path, target)
        seen, staged = await target.fetchval("select count(*) from t"), await chunks_of(target)
        shop.others = (lambda: bench.etl,)
        async with shop.worker():
            run = await shop.ends(run_id)

    facts = await target.fetchrow("select count(*), count(distinct id), sum(id) from t")
    tables = await target.fetch("select tablename from pg_tables where schemaname = 'public'")
    await target.close()
    result = json.loads(run.result or "")
    assert seen == 0
    assert 3 <= staged < ROWS // CHUNK
    assert (run.state, run.attempt) == (RunState.SUCCEEDED, 2)
    assert (result["resumed_after"], result["rows"]) == (staged, ROWS)
    assert tuple(facts) == (ROWS, ROWS, ROWS * (ROWS - 1) // 2)
    assert {row[0] for row in tables} == {"t", "rota_etl_marks"}
    # The dead worker's folder, too: whoever opened next removed it.
    assert list(bench.work.iterdir()) == []


async def run_and_kill_a_worker(
    bench: Bench, database: str, url: str, folder: Path, target: Any
) -> None:
    """Start one, and kill it when some chunks are there."""
    settings = folder / "rota.toml"
    settings.write_text(
        f"""
        [executors]
        data_folder = "{bench.folder}"
        etl_folder = "{bench.work}"
        [executors.connections.target]
        url = "{url}"
        """
    )
    process = subprocess.Popen(  # noqa: ASYNC220 - starting takes no time worth waiting for
        [sys.executable, "-m", WORKER, database, str(settings)], cwd=ROOT
    )

    async def far_enough() -> bool:
        assert process.poll() is None, "it ended by itself"
        return await chunks_of(target) >= 3

    try:
        await until(far_enough, patience=60)
    finally:
        process.kill()
        process.wait()


async def chunks_of(conn: Any) -> int:
    if not await conn.fetchval("select to_regclass('rota_etl_marks') is not null"):
        return 0
    return await conn.fetchval("select coalesce(max(chunks), 0) from rota_etl_marks") or 0
