"""Backfill: runs for ticks of the past, once each, few at a time (S13)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from tests.support.world import NOON, World

from rota.core.backfills import BackfillSelection
from rota.core.errors import InvalidInput, NotFound
from rota.core.ids import derive_tick_run_id
from rota.core.overlap import Overlap
from rota.core.policy import Policy
from rota.core.states import RunState
from rota.core.submissions import JobSpec
from rota.engine.submission.immediate_backfill import BackfillRange, BackfillSummary, backfill_now
from rota.engine.submission.job_submission import define_jobs
from rota.store import jobs
from rota.store.jobs import SkippedRun

HOUR = timedelta(hours=1)
MORNING = BackfillRange(since=NOON - 6 * HOUR, until=NOON)


async def a_job(world: World, **given: object) -> UUID:
    wanted: dict[str, object] = {"schedule": {"cron": "0 * * * *"}, **given}
    spec = JobSpec(name="report", kind="noop", **wanted)  # type: ignore[arg-type]
    (made,) = await define_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    return made.job_id


async def fill(
    world: World, job_id: UUID, wanted: BackfillRange = MORNING, *, dry_run: bool = False
) -> BackfillSummary:
    return await backfill_now(
        world.conn, wanted, tenant_id=1, job_id=job_id, now=world.now, dry_run=dry_run
    )


async def ticks(world: World) -> list[datetime]:
    rows = await world.conn.fetch(
        "select scheduled_at from rota.live_runs where trigger = 'backfill' order by 1"
    )
    return [row[0] for row in rows]


async def test_every_tick_of_the_range_gets_the_run_the_scheduler_would_have_made(
    world: World,
) -> None:
    job_id = await a_job(world, priority=1)

    done = await fill(world, job_id)

    expected = [NOON - n * HOUR for n in range(6, 0, -1)]
    assert (done.ticks, done.exist, done.missing, done.new, done.undecided) == (6, 0, 6, 6, 0)
    assert list(done.run_ids) == [derive_tick_run_id(job_id, at) for at in expected]
    assert await ticks(world) == expected
    row = await world.conn.fetchrow("select distinct priority, due_at, state from rota.live_runs")
    assert row is not None
    assert tuple(row) == (9, world.now, "queued")


async def test_asking_again_makes_nothing_new(world: World) -> None:
    job_id = await a_job(world)
    await fill(world, job_id)

    again = await fill(world, job_id, replace(MORNING, since=NOON - 8 * HOUR))

    assert (again.ticks, again.exist, again.new, len(again.run_ids)) == (8, 6, 2, 2)
    assert await world.count("live_runs") == 8


async def test_a_dry_run_counts_and_changes_nothing(world: World) -> None:
    job_id = await a_job(world)

    said = await fill(world, job_id, dry_run=True)

    assert said == BackfillSummary(ticks=6, exist=0, missing=6, new=6, undecided=0)
    assert await world.count("live_runs") == 0
    assert await world.count("gates") == 0


async def test_ticks_on_record_as_not_run_are_missing_and_keep_their_record(
    world: World,
) -> None:
    """A missed, skipped or coalesced tick takes its id; what ran is not run again."""
    job_id = await a_job(world)
    job = await jobs.lock_job(world.conn, job_id)
    told = [RunState.MISSED, RunState.SKIPPED, RunState.COALESCED]
    records = [
        SkippedRun(derive_tick_run_id(job_id, NOON - n * HOUR), NOON - n * HOUR, state, "{}")
        for n, state in enumerate(told, start=1)
    ]
    await jobs.record_skipped(world.conn, job, records)

    done = await fill(world, job_id)
    again = await fill(world, job_id)

    assert (done.exist, done.new, len(done.run_ids)) == (0, 6, 6)
    assert (again.exist, again.new) == (6, 0)
    assert not set(done.run_ids) & {record.id for record in records}
    assert [(await world.get(record.id)).state for record in records] == told
    assert len(await ticks(world)) == 6


async def test_all_runs_them_again_once_for_each_name(world: World) -> None:
    job_id = await a_job(world)
    await fill(world, job_id)
    everything = replace(MORNING, only=BackfillSelection.ALL)

    second = await fill(world, job_id, everything)
    repeated = await fill(world, job_id, everything)
    third = await fill(world, job_id, replace(everything, name="after the fix"))

    assert (second.exist, second.missing, second.new) == (6, 0, 6)
    assert (repeated.new, third.new) == (0, 6)
    assert await world.count("live_runs") == 18


async def test_the_hours_of_a_day_on_which_clocks_change_are_as_many_as_it_has(
    world: World,
) -> None:
    schedule = {"cron": "30 * * * *", "timezone": "Europe/Berlin"}
    job_id = await a_job(world, schedule=schedule)
    # 29 March 2026 in Berlin, where it has 23 hours.
    day = BackfillRange(
        since=datetime(2026, 3, 28, 23, tzinfo=UTC), until=datetime(2026, 3, 29, 22, tzinfo=UTC)
    )

    done = await fill(world, job_id, day)

    assert done.new == 23


async def test_a_daily_tick_keeps_its_local_time_over_a_change_of_clocks(world: World) -> None:
    schedule = {"cron": "0 9 * * *", "timezone": "Europe/Berlin"}
    job_id = await a_job(world, schedule=schedule)

    await fill(
        world,
        job_id,
        BackfillRange(
            since=datetime(2026, 3, 28, tzinfo=UTC), until=datetime(2026, 3, 30, tzinfo=UTC)
        ),
    )

    assert await ticks(world) == [
        datetime(2026, 3, 28, 8, tzinfo=UTC),
        datetime(2026, 3, 29, 7, tzinfo=UTC),
    ]


async def test_the_range_has_its_first_instant_and_not_its_last(world: World) -> None:
    job_id = await a_job(world)

    await fill(world, job_id, BackfillRange(since=NOON - 2 * HOUR, until=NOON - HOUR))

    assert await ticks(world) == [NOON - 2 * HOUR]


async def test_what_the_scheduler_has_yet_to_decide_is_left_to_it(world: World) -> None:
    job_id = await a_job(world)
    await world.advance(hours=3)

    done = await fill(world, job_id, BackfillRange(since=NOON - HOUR, until=world.now))

    # 11:00 and 12:00 lie before the cursor, which is at 13:00.
    assert (done.ticks, done.new, done.undecided) == (2, 2, 2)
    assert await ticks(world) == [NOON - HOUR, NOON]


async def test_more_than_asked_for_is_refused_with_the_number(world: World) -> None:
    job_id = await a_job(world)
    narrow = replace(MORNING, most=5)

    for dry_run in (True, False):
        with pytest.raises(InvalidInput, match=r"'6 runs' is invalid: .*at most 5 runs"):
            await fill(world, job_id, narrow, dry_run=dry_run)

    assert await world.count("live_runs") == 0


async def test_a_range_that_would_take_long_to_count_is_refused(world: World) -> None:
    job_id = await a_job(world, schedule={"cron": "* * * * * *"})

    with pytest.raises(InvalidInput, match="more than 20000 ticks"):
        await fill(world, job_id)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"until": NOON - 6 * HOUR}, "until"),
        ({"until": NOON + HOUR}, "until"),
        ({"since": datetime(2026, 7, 1)}, "since"),  # noqa: DTZ001 — the mistake
        ({"most": 0}, "most"),
        ({"most": 10_001}, "most"),
        ({"only": "some"}, "only"),
        ({"priority": 10}, "priority"),
        ({"name": ""}, "name"),
        ({"at_once": 0}, "limits.max"),
    ],
)
async def test_a_wrong_range_says_where(
    world: World, change: dict[str, object], field: str
) -> None:
    job_id = await a_job(world)

    with pytest.raises(InvalidInput) as refused:
        await fill(world, job_id, replace(MORNING, **change))  # type: ignore[arg-type]

    assert refused.value.field == field
    assert await world.count("live_runs") == 0


@pytest.mark.parametrize("schedule", [None, {"fixed_delay": "1h"}, {"immediate": True}])
async def test_a_job_without_known_ticks_cannot_be_backfilled(
    world: World, schedule: object
) -> None:
    job_id = await a_job(world, schedule=schedule)

    with pytest.raises(InvalidInput, match="ticks at known times"):
        await fill(world, job_id)


async def test_the_job_of_another_tenant_is_not_found(world: World) -> None:
    job_id = await a_job(world)

    with pytest.raises(NotFound):
        await backfill_now(world.conn, MORNING, tenant_id=2, job_id=job_id, now=world.now)
    with pytest.raises(NotFound):
        await backfill_now(world.conn, MORNING, tenant_id=1, job_id=world.new_id(), now=world.now)


async def test_a_backfill_ignores_the_overlap_policy_and_has_a_gate_of_its_own(
    world: World,
) -> None:
    job_id = await a_job(world, overlap=Overlap.QUEUE_ONE)

    done = await fill(world, job_id, replace(MORNING, at_once=2))

    gates = await world.conn.fetch(
        "select distinct g.key, g.most from rota.live_runs as l"
        " join rota.gates as g on g.id = any(l.gates)"
    )
    assert len(done.run_ids) == 6
    assert [tuple(gate) for gate in gates] == [(f"backfill:{job_id}", 2)]


async def test_a_deadline_counts_from_the_asking(world: World) -> None:
    job_id = await a_job(world, policy=Policy(deadline=HOUR))

    await fill(world, job_id)

    deadline = await world.conn.fetchval("select distinct deadline_at from rota.live_runs")
    assert deadline == world.now + HOUR


async def test_the_cap_on_runs_is_about_the_scheduler(world: World) -> None:
    schedule = {"cron": "0 * * * *", "window": {"max_runs": 2}}
    job_id = await a_job(world, schedule=schedule)

    done = await fill(world, job_id)

    assert done.new == 6
