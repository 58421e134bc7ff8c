"""Real `rota scheduler` processes, killed and stopped: every tick has its run (O3, P7, E1)."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import asyncpg
import pytest
from tests.support.databases import create
from tests.support.shop import until
from tests.support.wheels import make_wheel

from rota.contract.schedule import read_schedule, write_schedule
from rota.core.ids import build_id
from rota.core.time import zones
from rota.store import interning, jobs
from rota.store.driver import Connection
from rota.store.embedded import start
from rota.store.jobs import NewJob
from rota.store.schema_migration import migrate

JOBS = 40
EARLY = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = timedelta(seconds=3)
SETTINGS = {
    "ROTA_SCHEDULER__LEASE": "3s",
    "ROTA_SCHEDULER__RENEW_EVERY": "1s",
    "ROTA_SCHEDULER__STOP_AFTER": "2s",
}


@pytest.fixture
async def durable(tmp_path: Path) -> AsyncIterator[str]:
    """The URL of a server that may hold data; the processes refuse any other."""
    with await asyncio.to_thread(start, tmp_path / "home") as embedded:
        yield await create(embedded.url, "schedulers")


@contextmanager
def scheduler(
    url: str, folder: Path, *, wheel: Path | None = None
) -> "Iterator[subprocess.Popen[str]]":
    """A scheduler process, with another tzdata than the installed one if it is given."""
    paths = {} if wheel is None else {"PYTHONPATH": str(wheel)}
    process = subprocess.Popen(
        [sys.executable, "-m", "rota", "scheduler"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "ROTA_DATABASE_URL": url, **SETTINGS, **paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said == "scheduler ready\n", said
        yield process
    finally:
        process.kill()
        process.communicate()


async def plant(conn: Connection) -> None:
    """Jobs that run every second from now on."""
    schedule = read_schedule({"cron": "* * * * * *"}, now=datetime(2026, 1, 1, tzinfo=UTC))
    body = json.dumps(write_schedule(schedule), sort_keys=True)
    now: datetime = await conn.fetchval("select now()")
    first = now.replace(microsecond=0) + timedelta(seconds=1)
    new = NewJob(
        id=build_id(now, bytes(10)),
        tenant_id=1,
        name="",
        kind_id=await interning.intern_kind(conn, "noop"),
        queue_id=await interning.intern_queue(conn, "default"),
        policy_id=await interning.intern_policy(conn, "{}"),
        schedule=body,
        schedule_id=await interning.intern_schedule(conn, body),
        overlap="allow",
        tick_at=first,
        fire_at=first,
    )
    made = [
        replace(new, id=build_id(now, number.to_bytes(10, "big")), name=f"every second {number}")
        for number in range(JOBS)
    ]
    await jobs.insert_jobs(conn, made)


async def shares(conn: Connection) -> list[int]:
    rows = await conn.fetch(
        "select count(*) from rota.shards where expires_at > now() group by owner order by 1"
    )
    return [row[0] for row in rows]


async def holes(conn: Connection) -> int:
    """Seconds, from a job's first run to its last, that have no run of it."""
    return int(
        await conn.fetchval(
            "select coalesce(sum(extract(epoch from last - first) + 1 - runs), 0) from ("
            " select job_id, min(scheduled_at) as first, max(scheduled_at) as last,"
            " count(*) as runs from rota.live_runs group by job_id) as told"
        )
    )


async def test_when_one_of_two_is_killed_the_other_goes_on_within_the_lease(
    durable: str, tmp_path: Path
) -> None:
    conn = await asyncpg.connect(durable)
    await migrate(conn)
    await plant(conn)
    with scheduler(durable, tmp_path) as doomed, scheduler(durable, tmp_path):
        await until(lambda: answer(conn, [64, 64]))

        doomed.kill()
        killed_at: datetime = await conn.fetchval("select clock_timestamp()")
        await until(lambda: answer(conn, [128]))
        moved_at: datetime = await conn.fetchval("select clock_timestamp()")
        await until(lambda: reached(conn, moved_at + timedelta(seconds=2)))

    assert moved_at - killed_at < LEASE + timedelta(seconds=1)
    assert await holes(conn) == 0
    latest = await conn.fetchval("select max(created_at - due_at) from rota.live_runs")
    assert latest < LEASE + timedelta(seconds=2)
    await conn.close()


async def test_one_that_is_stopped_leaves_in_peace_and_nobody_notices(
    durable: str, tmp_path: Path
) -> None:
    conn = await asyncpg.connect(durable)
    await migrate(conn)
    await plant(conn)
    with scheduler(durable, tmp_path) as leaving, scheduler(durable, tmp_path):
        await until(lambda: answer(conn, [64, 64]))

        leaving.send_signal(signal.SIGTERM)
        _, errors = await asyncio.to_thread(leaving.communicate)
        left_at: datetime = await conn.fetchval("select clock_timestamp()")
        await until(lambda: answer(conn, [128]))
        moved_at: datetime = await conn.fetchval("select clock_timestamp()")
        await until(lambda: reached(conn, moved_at + timedelta(seconds=1)))

    assert leaving.returncode == 0, errors
    assert moved_at - left_at < timedelta(seconds=2)
    assert await holes(conn) == 0
    await conn.close()


async def test_a_database_that_hangs_up_on_everybody_costs_no_tick(
    durable: str, tmp_path: Path
) -> None:
    conn = await asyncpg.connect(durable)
    await migrate(conn)
    await plant(conn)
    with scheduler(durable, tmp_path) as running:
        await until(lambda: reached(conn, datetime(2026, 1, 1, tzinfo=UTC)))

        for _ in range(3):
            hung_up_at: datetime = await conn.fetchval(
                "select clock_timestamp() from (select count(pg_terminate_backend(pid))"
                " from pg_stat_activity where application_name = 'rota scheduler') as ended"
            )
            await until(partial(reached, conn, hung_up_at + timedelta(seconds=1)))

        assert running.poll() is None
    assert await holes(conn) == 0
    await conn.close()


async def test_one_that_starts_with_a_newer_tzdata_moves_the_ticks_to_come(
    durable: str, tmp_path: Path
) -> None:
    """S9: nine o'clock in Oslo, which from now on is twelve hours ahead of UTC."""
    conn = await asyncpg.connect(durable)
    await migrate(conn)
    await plant(conn)
    schedule = read_schedule({"cron": "0 9 * * *", "timezone": "Europe/Oslo"}, now=EARLY)
    body = json.dumps(write_schedule(schedule), sort_keys=True)
    await conn.execute("update rota.jobs set schedule = $1 where name = 'every second 0'", body)
    await conn.execute(
        "update rota.cursors set schedule_id = $1, tick_at = $2, fire_at = $2 where job_id ="
        " (select id from rota.jobs where name = 'every second 0')",
        await interning.intern_schedule(conn, body),
        datetime(2036, 7, 1, 7, tzinfo=UTC),
    )
    wheel = make_wheel(tmp_path / "wheel", version="9999a", rules={"Europe/Oslo": "Etc/GMT-12"})

    async def applied(version: str) -> bool:
        return bool(await conn.fetchval("select version = $1 from rota.tzdata", version))

    with scheduler(durable, tmp_path):
        await until(partial(applied, zones.tzdata_version()))
    with scheduler(durable, tmp_path, wheel=wheel) as newer:
        await until(partial(applied, "9999a"))
        newer.send_signal(signal.SIGTERM)
        _, errors = await asyncio.to_thread(newer.communicate)

    moved = await conn.fetchval("select tick_at from rota.cursors order by tick_at desc limit 1")
    assert moved == datetime(2036, 6, 30, 21, tzinfo=UTC)
    (line,) = [line for line in errors.splitlines() if "zone_rules.changed" in line]
    assert "9999a" in line
    assert zones.tzdata_version() in line
    await conn.close()


async def answer(conn: Connection, wanted: list[int]) -> bool:
    return await shares(conn) == wanted


async def reached(conn: Connection, at: datetime) -> bool:
    """Whether every job has had a run at that time or after."""
    least = await conn.fetchval(
        "select min(last) from (select max(scheduled_at) as last from rota.live_runs"
        " group by job_id) as told having count(*) = $1",
        JOBS,
    )
    return least is not None and least >= at
