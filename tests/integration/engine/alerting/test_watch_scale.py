"""Many watched jobs: few statements, by index, in bounded passes."""

import json
import os
from datetime import timedelta

import pytest
from tests.support.watching import WatchDesk
from tests.support.world import NOON, World

from rota.contract.schedule import read_schedule, write_schedule
from rota.core.ids import derive_tick_run_id
from rota.engine.alerting.deadline_checker import CHECKS_PER_PASS_MAX

# All ten thousand in `make test-alerts`.
JOBS = 10_000 if os.environ.get("ROTA_TEST_ALERTS") else 2_000


@pytest.fixture
async def desk(world: World) -> WatchDesk:
    """Hourly jobs that are expected to start and to succeed."""
    desk = await WatchDesk(world, has_defaults=False).begin()
    schedule = write_schedule(read_schedule({"cron": "0 * * * *"}, now=world.now))
    await world.conn.execute(
        """
        insert into rota.jobs (
            id, tenant_id, name, kind_id, queue_id, policy_id, schedule, expect, created_at,
            updated_at
        )
        select gen_random_uuid(), 1, 'job ' || n, $1, $2, $3, $4::jsonb, $5::jsonb, $6, $6
        from generate_series(1, $7::integer) as n
        """,
        world.kind_id,
        world.queue_id,
        world.policy_id,
        json.dumps(schedule),
        json.dumps({"start_within": "PT5M", "succeed_every": "PT2H"}),
        world.now,
        JOBS,
    )
    await world.conn.execute(
        """
        insert into rota.cursors (
            job_id, tick_at, fire_at, version, tenant_id, queue_id, kind_id, policy_id, overlap,
            shard, priority, guarantee
        )
        select j.id, $1, $1, 1, 1, j.queue_id, j.kind_id, j.policy_id, 'skip',
            abs(hashtext(j.id::text)) % 128, 5, 'at_least_once'
        from rota.jobs as j
        """,
        NOON + timedelta(hours=1),
    )
    return desk


async def test_many_healthy_jobs_are_watched_without_an_incident(desk: WatchDesk) -> None:
    world = desk.world
    await desk.sync()
    assert await world.count("watches") == 2 * JOBS
    assert await count_passes(desk) <= JOBS // CHECKS_PER_PASS_MAX + 2

    await world.move_to(NOON + timedelta(hours=1))
    await start_all(world)
    await world.move_to(NOON + timedelta(hours=1, minutes=6))
    await desk.read_events()
    passes = await count_passes(desk)

    assert passes <= JOBS // CHECKS_PER_PASS_MAX + 1
    assert await desk.incidents() == []
    assert set(await desk.watches()) == {("start_within", "ok"), ("succeed_every", "ok")}


async def count_passes(desk: WatchDesk) -> int:
    """Check what is due; return in how many passes."""
    passes = 1
    while await desk.checker.tick() == 0:
        passes += 1
    return passes


async def start_all(world: World) -> None:
    """Fire the due ticks and start their runs a minute later."""
    rows = await world.conn.fetch("select job_id, tick_at from rota.cursors")
    await world.conn.execute(
        """
        insert into rota.live_runs (
            id, job_id, scheduled_at, due_at, ready_at, created_at, started_at,
            tenant_id, queue_id, kind_id, policy_id, job_version, state, trigger, priority,
            attempt, guarantee
        )
        select t.id, t.job_id, t.at, t.at, t.at, t.at, t.at + interval '1 minute',
            1, $4, $5, $6, 1, 'queued', 'tick', 5, 1, 'at_least_once'
        from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as t (id, job_id, at)
        """,
        [derive_tick_run_id(job_id, tick_at) for job_id, tick_at in rows],
        [job_id for job_id, _ in rows],
        [tick_at for _, tick_at in rows],
        world.queue_id,
        world.kind_id,
        world.policy_id,
    )
    await world.conn.execute(
        "update rota.cursors set tick_at = tick_at + interval '1 hour',"
        " fire_at = fire_at + interval '1 hour'"
    )
