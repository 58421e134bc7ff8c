"""Rates of the hot statements on the embedded database with full durability: `make bench-store`.

    python -m tests.bench.store [--only drain|waiting|fire|snapshot] [--quick] [--json]

The targets stand beside the figures. The machine should be otherwise idle; each figure is the
median of several rounds, and the ratios are of one run.
"""

import argparse
import asyncio
import contextlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

from rota.runtime.garbage_collection import relax_collector
from rota.store.embedded import Embedded, start
from rota.store.partitions import create_ahead
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.schema_migration import migrate
from tests.bench import loads
from tests.bench.drive import CLAIM, Drain, Firings, drain

Figures = dict[str, Any]


class Bench:
    def __init__(self, embedded: Embedded, *, quick: bool) -> None:
        self.access = DatabaseAccess(
            url=embedded.url, name="bench", statement_timeout=timedelta(hours=1)
        )
        self.quick = quick
        self.rounds = 1 if quick else 3
        self.figures: Figures = {}

    async def prepare(self) -> None:
        async with open_connection(self.access) as conn:
            await migrate(conn)
            await create_ahead(conn, today=datetime.now(UTC).date(), ahead=1)

    async def drain(self) -> None:
        """Claim and finish a backlog, fairly over 1 and over 1,000 tenants."""
        runs = 60_000 if self.quick else 200_000
        for tenants in (1, 1000):
            rates = []
            for _ in range(self.rounds):
                async with self.loaded() as conn:
                    await loads.fill_queue(conn, runs=runs, tenants=tenants)
                rates.append(await drain(self.access, most=runs))
            self.say(f"drain_{tenants}_tenants", median(rates), "runs/s", "40,000")

    async def waiting(self) -> None:
        """How long a claim takes with few and with many runs waiting, in turns: few, many …"""
        many = 200_000 if self.quick else 1_000_000
        taken = 10_000
        few_times: list[float] = []
        many_times: list[float] = []
        for _ in range(3 if self.quick else 5):
            for waiting, times in ((taken, few_times), (many, many_times)):
                async with self.loaded() as conn:
                    await loads.fill_queue(conn, runs=waiting, tenants=1)
                worker = Drain(self.access, most=taken)
                await worker.run(asyncio.Barrier(1))
                # The first is the empty one that prepares the statement.
                times.extend(worker.claim_times[1:])
        few, lots = CLAIM / median(few_times), CLAIM / median(many_times)
        self.say(f"claim_{taken}_waiting", few, "runs/s", "")
        self.say(f"claim_{many}_waiting", lots, "runs/s", "")
        self.say("claim_ratio", lots / few, "", "0.80")

    async def fire(self) -> None:
        """Fire ticks with few and with many jobs on schedule."""
        fires = 50_000 if self.quick else 400_000
        sizes = (10_000, 200_000) if self.quick else (10_000, 1_000_000, 10_000_000)
        rates: dict[int, float] = {}
        for jobs in sizes:
            async with self.loaded() as conn:
                await loads.fill_schedule(conn, jobs=jobs)
                owner = uuid4()
                epochs = await loads.take_all_shards(conn, owner)
            firings = Firings(self.access, epochs, owner, period=timedelta(hours=1))
            # Until most pages have been written since the checkpoint: a server that is up.
            await firings.run(fires=fires // 2)
            rates[jobs] = median([await firings.run(fires=fires // 3) for _ in range(3)])
            self.say(f"fire_{jobs}_jobs", rates[jobs], "fires/s", "25,000")
        self.say("fire_ratio", rates[sizes[-1]] / rates[sizes[0]], "", "0.70")

    async def snapshot(self) -> None:
        """Drain a backlog while a foreign transaction keeps vacuum from removing anything."""
        before, held = (5.0, 10.0) if self.quick else (15.0, 60.0)
        async with self.loaded() as conn:
            await loads.fill_queue(conn, runs=800_000 if self.quick else 4_500_000, tenants=1)
        free = await drain(self.access, seconds=before)
        patient = DatabaseAccess(url=self.access.url, idle_in_transaction_timeout=timedelta(0))
        async with open_connection(patient) as foreign:
            await foreign.execute("begin isolation level repeatable read")
            await foreign.fetchval("select count(*) from rota.shards")
            holding = await drain(self.access, seconds=held)
            await foreign.execute("rollback")
        self.say("snapshot_free", free, "runs/s", "")
        self.say(f"snapshot_held_{held:.0f}s", holding, "runs/s", "")
        self.say("snapshot_ratio", holding / free, "", "0.50")

    @contextlib.asynccontextmanager
    async def loaded(self) -> AsyncIterator[Any]:
        async with open_connection(self.access) as conn:
            await loads.clear(conn)
            yield conn

    def say(self, name: str, figure: float, unit: str, target: str) -> None:
        self.figures[name] = round(figure, 2 if figure < 10 else 0)
        shown = f"{figure:,.2f}" if figure < 10 else f"{figure:,.0f}"
        print(f"{name:<26}{shown:>12} {unit:<8} {target and 'at least ' + target}", flush=True)


async def run(options: argparse.Namespace, embedded: Embedded) -> Figures:
    bench = Bench(embedded, quick=options.quick)
    await bench.prepare()
    for part in options.only or ("drain", "waiting", "fire", "snapshot"):
        await getattr(bench, part)()
    return bench.figures


def speed() -> float:
    """How fast the machine is at this moment: shared ones differ by a factor of two in an hour."""
    started = time.perf_counter()
    total = 0
    for number in range(5_000_000):
        total += number
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", action="append", choices=("drain", "waiting", "fire", "snapshot"))
    parser.add_argument("--quick", action="store_true", help="small tables, one round")
    parser.add_argument("--json", action="store_true", help="print the figures as one object, too")
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"adding five million integers takes {speed():.2f} s here, just now")
    relax_collector()
    with tempfile.TemporaryDirectory(prefix="rota-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with start(Path(folder) / "home") as embedded:
            print(f"PostgreSQL {embedded.version}, fsync and synchronous_commit on", flush=True)
            figures = asyncio.run(run(options, embedded))
    if options.json:
        json.dump(figures, sys.stdout)


if __name__ == "__main__":
    main()
