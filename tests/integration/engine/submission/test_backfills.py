"""Backfills of any length: made little by little, once each, and watched (S13)."""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.support.past import HOUR, Past, hours
from tests.support.world import NOON, World

from rota.core.backfills import BackfillOrder, BackfillSelection, BackfillState, compute_live_limit
from rota.core.errors import Conflict, InvalidInput, NotFound
from rota.core.ids import derive_tick_run_id
from rota.core.overlap import Overlap
from rota.core.policy import Policy
from rota.core.quotas import Quotas
from rota.core.states import RunState
from rota.engine.submission.backfills.advancer import BackfillAdvancer, advance_oldest
from rota.engine.submission.backfills.requests import (
    BackfillCounts,
    BackfillRequest,
    compute_progress,
    measure_progress,
    start_backfill,
)
from rota.engine.submission.job_changes import delete_job
from rota.engine.submission.requeue import retry_run
from rota.store import backfills, tenants
from rota.store.pool import DatabaseAccess, open_connection

DEAD, MISSED = RunState.DEAD, RunState.MISSED


@pytest.fixture
async def past(world: World) -> Past:
    return await Past.begin(world)


async def test_every_tick_of_the_range_runs_once_and_the_backfill_says_so(past: Past) -> None:
    id_ = await past.backfill()

    await past.work()

    row = await past.row(id_)
    assert await past.made() == hours(6, 1)
    assert row.state is BackfillState.FINISHED
    assert (row.ticks, row.made, row.succeeded, row.failed, row.cancelled) == (6, 6, 6, 0, 0)
    assert row.ended_at is not None
    assert await past.world.count("backfill_runs") == 0


async def test_a_tick_without_a_run_gets_the_one_that_the_scheduler_would_have_made(
    past: Past,
) -> None:
    id_ = await past.backfill(priority=3)

    await past.look()

    rows = await past.world.conn.fetch(
        "select id, priority, trigger, due_at from rota.live_runs order by id"
    )
    assert [row[0] for row in rows] == [derive_tick_run_id(past.job_id, at) for at in hours(6, 1)]
    assert {tuple(row)[1:] for row in rows} == {(3, "backfill", past.world.now)}
    assert await backfills.find_by_run(past.world.conn, rows[0][0], tenant_id=1) == id_
    assert await backfills.find_by_run(past.world.conn, rows[0][0], tenant_id=2) is None


async def test_a_dry_run_counts_by_what_became_of_the_ticks_and_writes_nothing(
    past: Past,
) -> None:
    await past.record(MISSED, RunState.SKIPPED)
    first = await past.backfill(since=NOON - 6 * HOUR, until=NOON - 3 * HOUR)
    await past.look()
    (one, two) = await past.claim(2)
    await past.finish([one])
    await past.finish([two], DEAD)
    tables = ("backfills", "gates", "live_runs", "runs")
    before = [await past.world.count(table) for table in tables]

    counted = {only: (await past.ask(dry_run=True, only=only)).counts for only in BackfillSelection}

    assert [await past.world.count(table) for table in tables] == before
    assert counted[BackfillSelection.MISSING]._replace(takes=None) == BackfillCounts(
        ticks=6, ran=1, alive=1, failed=1, missing=3, new=3, undecided=0, is_guess=False, takes=None
    )
    assert {only: each.new for only, each in counted.items()} == {
        BackfillSelection.MISSING: 3,
        BackfillSelection.FAILED: 1,
        BackfillSelection.ALL: 5,
    }
    assert (await past.row(first)).state is BackfillState.RUNNING


async def test_how_long_it_takes_follows_from_the_newest_runs_and_how_many_run_at_once(
    past: Past,
) -> None:
    assert (await past.ask(dry_run=True)).counts.takes is None
    await past.backfill(hours=2)
    await past.look()
    claimed = await past.claim()
    await past.world.advance(seconds=30)
    await past.finish(claimed)
    await past.work()

    alone, together = [
        (await past.ask(dry_run=True, only=BackfillSelection.ALL, at_once=n)).counts.takes
        for n in (1, 4)
    ]

    assert alone == timedelta(seconds=6 * 30)
    assert together == timedelta(seconds=2 * 30)


async def test_only_failed_ticks_run_again_under_ids_of_their_own(past: Past) -> None:
    await past.backfill()
    await past.work(lambda run: DEAD if run.scheduled_at in hours(3, 2) else RunState.SUCCEEDED)

    again = await past.backfill(only=BackfillSelection.FAILED)
    await past.work()
    third = await past.ask(dry_run=True, only=BackfillSelection.FAILED)

    assert await past.made() == sorted([*hours(6, 1), *hours(3, 2)])
    assert ((await past.row(again)).made, (await past.row(again)).succeeded) == (2, 2)
    assert (third.counts.new, third.counts.ran) == (0, 6)


async def test_ticks_on_record_as_not_run_keep_their_record(past: Past) -> None:
    records = await past.record(MISSED, RunState.SKIPPED, RunState.COALESCED)

    await past.backfill()
    await past.work()

    assert await past.made() == hours(6, 1)
    states = [(await past.world.get(record)).state for record in records]
    assert states == [MISSED, RunState.SKIPPED, RunState.COALESCED]


async def test_all_runs_every_tick_again_but_those_whose_runs_are_alive(past: Past) -> None:
    await past.backfill()
    await past.work(lambda run: DEAD if run.scheduled_at in hours(6, 5) else RunState.SUCCEEDED)
    for at in hours(6, 5):
        run_id = derive_tick_run_id(past.job_id, at)
        await retry_run(past.world.conn, tenant_id=1, run_id=run_id, by="ann")

    id_ = await past.backfill(only=BackfillSelection.ALL)
    await past.look()

    assert (await past.row(id_)).made == 4
    assert await past.made() == sorted(2 * hours(4, 1))


async def test_all_runs_every_tick_once_more_for_each_backfill(past: Past) -> None:
    for _ in range(3):
        await past.backfill(only=BackfillSelection.ALL)
        await past.work()

    assert await past.made() == sorted(3 * hours(6, 1))


async def test_asking_again_runs_only_what_has_not_run(past: Past) -> None:
    await past.backfill()
    await past.work()

    again = await past.ask(hours=8)
    await past.work()

    assert (again.counts.ticks, again.counts.ran, again.counts.new) == (8, 6, 2)
    assert await past.made() == hours(8, 1)


async def test_runs_have_a_low_priority_unless_another_is_asked_for(world: World) -> None:
    past = await Past.begin(world, priority=1)
    await past.backfill()

    await past.look()

    assert await world.conn.fetchval("select distinct priority from rota.live_runs") == 9


async def test_the_range_has_its_first_instant_and_not_its_last(past: Past) -> None:
    await past.backfill(since=NOON - 2 * HOUR, until=NOON - HOUR)

    await past.work()

    assert await past.made() == [NOON - 2 * HOUR]


async def test_a_backfill_ignores_the_overlap_policy_and_has_a_gate_of_its_own(
    world: World,
) -> None:
    past = await Past.begin(world, overlap=Overlap.QUEUE_ONE)
    id_ = await past.backfill(at_once=2)

    await past.look()

    gates = await world.conn.fetch(
        "select distinct g.key, g.most from rota.live_runs as l"
        " join rota.gates as g on g.id = any(l.gates)"
    )
    assert await world.count("live_runs") == 6
    assert [tuple(gate) for gate in gates] == [(f"backfill:{id_}", 2)]


async def test_the_cap_on_runs_is_about_the_scheduler(world: World) -> None:
    past = await Past.begin(world, schedule={"cron": "0 * * * *", "window": {"max_runs": 2}})

    asked = await past.ask()
    await past.work()

    assert asked.counts.new == 6
    assert await past.made() == hours(6, 1)


async def test_what_was_cancelled_with_a_backfill_is_missing_for_the_next(past: Past) -> None:
    first = await past.backfill()
    await past.look()
    await past.world.conn.execute("update rota.backfills set state = 'cancelling'")
    await past.look()

    second = await past.backfill()
    await past.work()

    assert ((await past.row(first)).state, (await past.row(first)).cancelled) == (
        BackfillState.CANCELLED,
        6,
    )
    assert (await past.row(second)).succeeded == 6


@pytest.mark.parametrize("order", BackfillOrder)
async def test_runs_start_in_the_order_that_is_asked_for(past: Past, order: BackfillOrder) -> None:
    await past.backfill(order=order, at_once=2)

    await past.work()

    expected = hours(6, 1) if order is BackfillOrder.OLDEST else hours(6, 1)[::-1]
    assert past.started == expected


async def test_no_more_run_at_once_than_are_allowed(past: Past) -> None:
    await past.backfill(at_once=2)
    await past.look()

    running = await past.claim()
    more = await past.claim()
    await past.finish(running[:1])

    assert (len(running), len(more), len(await past.claim())) == (2, 0, 1)


@pytest.mark.parametrize("order", BackfillOrder)
async def test_a_long_range_never_has_more_than_a_window_alive(
    past: Past, order: BackfillOrder
) -> None:
    """S13: ranges of any length. 2,000 ticks, of which at most 100 wait at a time."""
    id_ = await past.backfill(hours=2_000, order=order)
    largest = 0
    while await past.unfinished():
        await past.look()
        largest = max(largest, await past.world.count("live_runs"))
        await past.end_all(RunState.CANCELLED)

    assert largest == compute_live_limit(4) == 100
    assert await past.made() == hours(2_000, 1)
    assert ((await past.row(id_)).made, (await past.row(id_)).cancelled) == (2_000, 2_000)


async def test_a_year_of_minutes_is_guessed_at_once_and_begun(world: World) -> None:
    past = await Past.begin(world, schedule={"cron": "* * * * *"})

    asked = await past.ask(since=NOON - timedelta(days=365))
    await past.look()

    counted = asked.counts
    assert counted.is_guess
    assert counted.ticks == counted.new == pytest.approx(525_600, rel=0.01)
    assert len(await past.made()) == 100
    assert asked.backfill_id is not None
    shown = compute_progress(await past.row(asked.backfill_id))
    assert shown.left == counted.new


async def test_ticks_that_need_nothing_are_passed_over_without_waiting(past: Past) -> None:
    await past.backfill(hours=400, at_once=1_000)
    await past.look()
    await past.end_all(RunState.SUCCEEDED)
    await past.look()

    id_ = await past.backfill(hours=401)
    await past.work()

    row = await past.row(id_)
    assert (row.ticks, row.made, row.succeeded) == (401, 1, 1)


async def test_what_the_scheduler_has_yet_to_decide_is_left_to_it(past: Past) -> None:
    await past.world.advance(hours=3)

    asked = await past.ask(since=NOON - HOUR, until=past.world.now)
    await past.work()

    # 11:00 and 12:00 lie before the cursor, which is at 13:00.
    assert (asked.counts.ticks, asked.counts.undecided) == (2, 2)
    assert await past.made() == [NOON - HOUR, NOON]


async def test_a_job_has_one_backfill_at_a_time(past: Past) -> None:
    first = await past.backfill()

    with pytest.raises(Conflict, match=f"bf_{first.hex} of this job has not finished"):
        await past.backfill(hours=3)
    await past.work()
    second = await past.backfill(hours=3)

    assert await past.unfinished() == second


async def test_the_schedule_is_the_one_it_was_asked_for(past: Past) -> None:
    await past.backfill()
    await past.world.conn.execute(
        """update rota.jobs set schedule = '{"cron": "*/5 * * * *"}', version = version + 1"""
    )

    await past.work()

    assert await past.made() == hours(6, 1)


async def test_a_payload_of_its_own_is_what_its_runs_get(world: World) -> None:
    past = await Past.begin(world, payload={"day": "today"})
    await past.backfill(hours=1, payload={"day": "then"})

    await past.look()
    (claimed,) = await past.claim()

    assert claimed.payload == '{"day": "then"}'


async def test_a_deadline_counts_from_the_making_of_the_run(world: World) -> None:
    past = await Past.begin(world, policy=Policy(deadline=HOUR))
    await past.backfill()

    await past.look()

    deadline = await world.conn.fetchval("select distinct deadline_at from rota.live_runs")
    assert deadline == past.world.now + HOUR


async def test_the_quota_of_its_tenant_is_kept_and_does_not_end_it(past: Past) -> None:
    await tenants.update_tenant(past.world.conn, 1, quotas=Quotas(max_queued=4))
    id_ = await past.backfill(hours=10)

    await past.look()
    waiting = await past.world.count("live_runs")
    await past.look()
    still = await past.world.count("live_runs")
    await past.work()

    assert (waiting, still) == (4, 4)
    assert (await past.row(id_)).succeeded == 10


async def test_a_backfill_whose_job_is_deleted_ends_and_says_why(past: Past) -> None:
    id_ = await past.backfill(hours=500)
    await past.look()
    await delete_job(past.world.conn, past.job_id, by="ann")

    await past.work()

    row = await past.row(id_)
    assert row.state is BackfillState.CANCELLED
    assert row.reason is not None
    assert f"job '{past.job_id}' not found" in row.reason
    assert row.made == row.succeeded + row.cancelled


async def test_two_nodes_that_look_at_once_do_not_do_it_twice(past: Past, database: str) -> None:
    await past.backfill()
    async with (
        open_connection(DatabaseAccess(url=database)) as other,
        past.world.conn.transaction(),
    ):
        mine = await advance_oldest(past.world.conn)
        theirs = await advance_oldest(other)

    assert mine is not None
    assert (mine.new_runs, theirs) == (6, None)


async def test_claimers_are_told_of_new_runs_and_nobody_otherwise(past: Past) -> None:
    told: list[bool] = []

    class Here:
        def acquire(self) -> Any:
            return nullcontext(past.world.conn)

    duty = BackfillAdvancer(source=Here(), on_runs_created=lambda: told.append(True))

    assert await duty.tick() > 0
    await past.backfill()
    assert await duty.tick() == 0
    assert told == [True]
    await past.world.advance(seconds=60)
    assert await duty.tick() == 0
    assert told == [True]


async def test_what_the_database_refuses_is_put_off_and_not_the_end_of_the_node(
    past: Past,
) -> None:
    id_ = await past.backfill()
    await past.world.conn.execute(
        "alter table rota.live_runs add constraint never check (trigger <> 'backfill')"
    )

    await past.look()
    at_once = await advance_oldest(past.world.conn)
    refused = await past.row(id_)
    await past.world.conn.execute("alter table rota.live_runs drop constraint never")
    await past.work()

    assert at_once is None
    assert refused.reason is not None
    assert "refused" in refused.reason
    assert (await past.row(id_)).succeeded == 6


async def test_when_it_will_be_done_follows_from_its_pace_once_it_has_one(past: Past) -> None:
    id_ = await past.backfill(hours=100, at_once=20)
    unknown = await measure_progress(past.world.conn, await past.row(id_), tenant_id=1)
    await past.look()
    await past.finish(await past.claim(20))
    await past.look()

    row = await past.row(id_)
    shown = await measure_progress(past.world.conn, row, tenant_id=1)

    assert (unknown.left, unknown.eta) == (100, None)
    assert (shown.alive, shown.left) == (80, 80)
    busy = row.now - row.created_at
    assert shown.eta == row.now + busy / 20 * 80


async def test_a_wrong_request_says_where_and_writes_nothing(past: Past) -> None:
    wrong: list[tuple[str, Any]] = [
        ("until", NOON - 6 * HOUR),
        ("until", NOON + HOUR),
        ("since", datetime(2026, 7, 1)),  # noqa: DTZ001 — the mistake
        ("only", "some"),
        ("order", "random"),
        ("priority", 10),
        ("at_once", 0),
        ("at_once", 1_001),
        ("payload", {"a": float("nan")}),
    ]
    for name, value in wrong:
        with pytest.raises(InvalidInput) as refused:
            await past.ask(**{name: value})
        assert refused.value.field.startswith(name)

    assert await past.world.count("backfills") == 0
    assert await past.world.count("gates") == 0


async def test_a_job_without_known_ticks_cannot_be_backfilled(world: World) -> None:
    schedules = [None, {"fixed_delay": "1h"}, {"immediate": True}, {"on_demand": True}]
    for place, schedule in enumerate(schedules):
        past = await Past.begin(world, name=f"report {place}", schedule=schedule)

        with pytest.raises(InvalidInput, match="ticks at known times"):
            await past.ask()


async def test_the_job_of_another_tenant_is_not_found(past: Past) -> None:
    wanted = BackfillRequest(since=NOON - HOUR, until=NOON)
    world = past.world

    for tenant_id, job_id in ((2, past.job_id), (1, world.new_id())):
        with pytest.raises(NotFound):
            await start_backfill(
                world.conn,
                wanted,
                tenant_id=tenant_id,
                job_id=job_id,
                by="ann",
                now=world.now,
                new_id=world.new_id,
            )


async def test_ended_backfills_are_forgotten_after_a_while_and_others_never(past: Past) -> None:
    keep = timedelta(days=90)
    await past.backfill()
    await past.work()
    going_on = await past.backfill(hours=1, only=BackfillSelection.ALL)

    assert await backfills.delete_ended(past.world.conn, keep=keep, limit=10) == 0
    await past.world.advance(days=91)
    assert await backfills.delete_ended(past.world.conn, keep=keep, limit=10) == 1

    left = await past.world.conn.fetch("select id from rota.backfills")
    assert [row[0] for row in left] == [going_on]


async def test_a_day_on_which_clocks_change_has_as_many_ticks_as_it_has(world: World) -> None:
    past = await Past.begin(world, schedule={"cron": "30 * * * *", "timezone": "Europe/Berlin"})

    # 29 March 2026 in Berlin, where it has 23 hours.
    asked = await past.ask(
        dry_run=True,
        since=datetime(2026, 3, 28, 23, tzinfo=UTC),
        until=datetime(2026, 3, 29, 22, tzinfo=UTC),
    )

    assert asked.counts.new == 23


async def test_a_daily_tick_keeps_its_local_time_over_a_change_of_clocks(world: World) -> None:
    past = await Past.begin(world, schedule={"cron": "0 9 * * *", "timezone": "Europe/Berlin"})
    await past.backfill(
        since=datetime(2026, 3, 28, tzinfo=UTC), until=datetime(2026, 3, 30, tzinfo=UTC)
    )

    await past.work()

    assert await past.made() == [
        datetime(2026, 3, 28, 8, tzinfo=UTC),
        datetime(2026, 3, 29, 7, tzinfo=UTC),
    ]


async def test_a_backfill_that_only_newer_code_can_read_waits_for_it(past: Past) -> None:
    id_ = await past.backfill()
    before = await past.world.conn.fetchval("select schedule from rota.backfills")
    await past.world.conn.execute(
        """update rota.backfills set schedule = schedule || '{"dst": {"gap": "sideways"}}'"""
    )

    await past.look()

    row = await past.row(id_)
    assert (row.state, await past.made()) == (BackfillState.RUNNING, [])
    await past.world.conn.execute("update rota.backfills set schedule = $1", before)
    await past.world.advance(minutes=2)
    await past.work()
    assert (await past.row(id_)).state is BackfillState.FINISHED
