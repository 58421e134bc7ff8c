"""How fast lists and look-ups of the API answer with a long history: `make bench-lists` (P6).

    python -m tests.bench.lists [--runs 10000000] [--calls 200]

A real API process on the embedded database, with so many finished runs over 30 days, 200,000 jobs
and 50,000 runs that wait. Every list is asked for many times, with and without filters, its first
page and later ones; the target is a p99 of 100 ms each.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import aiohttp

from rota.store.embedded import start
from rota.store.partitions import create_ahead
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.schema_migration import migrate
from tests.bench import history

TARGET_MS = 100.0
LISTS = {
    "runs": "/v1/runs",
    "runs, all pages on": "/v1/runs?limit=100",
    "runs that succeeded": "/v1/runs?status=succeeded",
    "runs that are dead": "/v1/runs?status=dead",
    "runs that wait": "/v1/runs?status=queued",
    "runs of a job": "/v1/runs?job_id={job}",
    "runs of a kind": "/v1/runs?kind=kind%20{few}",
    "runs of a rare kind": "/v1/runs?kind=rare",
    "runs of a queue": "/v1/runs?queue=queue%20{few}",
    "runs of a day": "/v1/runs?created_after={day}&created_before={next_day}",
    "executions of a worker": "/v1/executions?worker_id={worker}",
    "runs of a job, by its path": "/v1/jobs/{job}/runs",
    "status of a job": "/v1/jobs/{job}/status",
    "a job": "/v1/jobs/{job}",
    "a run": "/v1/runs/{run}",
    "jobs": "/v1/jobs",
    "jobs of a user": "/v1/jobs?user_id=u{few}",
    "jobs by label": "/v1/jobs?label=team:t{few}",
    "jobs by word": "/v1/jobs?q=job%20{many}",
    "jobs that are active": "/v1/jobs?status=active",
    "jobs that wait": "/v1/jobs?status=pending&user_id=u{few}",
    "dead letters": "/v1/dead-letters",
    "dead letters, grouped": "/v1/dead-letters/groups",
    "users": "/v1/users",
    "queues": "/v1/queues",
    "statistics": "/v1/statistics",
    "series of a day": "/v1/statistics/series?span=day",
    "audit": "/v1/audit",
    "metrics": "/metrics",
}


class Places:
    """What stands in the paths, another one each time."""

    def __init__(self, known: history.Known, seed: int = 7) -> None:
        self.known = known
        self.chance = Random(seed)

    def fill(self, path: str) -> str:
        known, chance = self.known, self.chance
        day = known.today - timedelta(days=chance.randrange(1, 29))
        return path.format(
            job=f"job_{chance.choice(known.jobs).hex}",
            run=f"run_{chance.choice(known.runs).hex}",
            worker=f"wrk_{known.worker.hex}",
            few=chance.randrange(10),
            many=chance.randrange(200_000),
            day=f"{day:%Y-%m-%dT00:00:00Z}",
            next_day=f"{day + timedelta(days=1):%Y-%m-%dT00:00:00Z}",
        )


@asynccontextmanager
async def api(folder: Path, url: str) -> AsyncIterator[aiohttp.ClientSession]:
    environment = os.environ | {
        "ROTA_DATABASE_URL": url,
        "ROTA_API__PORT": "17071",
        "ROTA_API__REQUESTS_PER_SECOND": "1000000",
        "ROTA_API__BURST": "1000000",
    }
    program = str(Path(sys.executable).parent / "rota")
    process = await asyncio.create_subprocess_exec(
        program, "api", "--data", str(folder), env=environment, stdout=subprocess.PIPE
    )
    try:
        if process.stdout is not None:
            await process.stdout.readline()  # it says so when it is ready
        headers = {"Authorization": f"Bearer {(folder / 'admin.key').read_text().strip()}"}
        async with aiohttp.ClientSession("http://127.0.0.1:17071", headers=headers) as session:
            yield session
    finally:
        process.terminate()
        await process.wait()


async def measure(session: aiohttp.ClientSession, places: Places, calls: int) -> int:
    print(f"{'list':<30}{'p50 ms':>9}{'p99 ms':>9}{'worst':>9}")
    missed = 0
    for name, path in LISTS.items():
        times = sorted([time_ async for time_ in asked(session, places, path, calls)])
        p99 = times[int(len(times) * 0.99)]
        missed += p99 > TARGET_MS
        mark = "" if p99 <= TARGET_MS else "  above the target"
        print(
            f"{name:<30}{times[len(times) // 2]:>9.1f}{p99:>9.1f}{times[-1]:>9.1f}{mark}",
            flush=True,
        )
    return missed


async def asked(
    session: aiohttp.ClientSession, places: Places, path: str, calls: int
) -> AsyncIterator[float]:
    """Milliseconds of each call. Half of them go on from the page before."""
    following = None
    for number in range(calls + 1):
        url = following if following and number % 2 else places.fill(path)
        started = time.perf_counter()
        async with session.get(url) as answer:
            body = await answer.read()
        took = time.perf_counter() - started
        if answer.status != 200:
            raise SystemExit(f"{url} answers {answer.status}: {body.decode()[:300]}")
        following = next_page(url, body)
        if number:  # the first makes plans and connections
            yield 1000 * took


def next_page(url: str, raw: bytes) -> str | None:
    body = json.loads(raw) if raw.startswith(b"{") else {}
    if not body.get("next_cursor"):
        return None
    plain = url.partition("cursor=")[0].rstrip("?&")
    return f"{plain}{'&' if '?' in plain else '?'}cursor={body['next_cursor']}"


async def run(options: argparse.Namespace, folder: Path, url: str) -> int:
    access = DatabaseAccess(url=url, name="bench", statement_timeout=timedelta(hours=2))
    async with open_connection(access) as conn:
        await migrate(conn)
        today = datetime.now(UTC).date()
        for day in range(30, -1, -1):
            await create_ahead(conn, today=today - timedelta(days=day), ahead=1)
        started = time.perf_counter()
        known = await history.fill(conn, today=today, runs=options.runs)
        print(f"{options.runs:,} runs written in {time.perf_counter() - started:.0f} s", flush=True)
    async with api(folder, url) as session:
        return await measure(session, Places(known), options.calls)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rota-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        with start(folder / "home") as embedded:
            missed = asyncio.run(run(options, folder / "home", embedded.url))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
