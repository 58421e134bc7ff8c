"""Overview and series of a tenant's runs: exact while they are few, sampled beyond (I2, O5)."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.support.world import World

from rota.core.errors import InvalidInput
from rota.core.limits import GateLimits
from rota.core.states import RunState
from rota.engine.observability import statistics
from rota.engine.observability.statistics import (
    SeriesSpan,
    build_slices,
    read_overview,
    read_series,
)
from rota.store import gates, metrics_queries

S = RunState
MINUTE = timedelta(minutes=1)
MADE = (
    "insert into rota.runs (id, job_id, scheduled_at, due_at, created_at, started_at, finished_at,"
    " tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority,"
    " attempt) values ($1, $1, $2, $2, $2, $3, $4, $5, 1, 1, 1, 1, $6, $7, $8, 5, $9)"
)
MADE_MANY = (
    "insert into rota.runs (id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id,"
    " queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority)"
    " select r.id, r.id, r.at, r.at, r.at, r.at, 1, 1, 1, 1, 1, 'succeeded', 'running', 'tick', 5"
    " from unnest($1::uuid[], $2::timestamptz[]) as r (id, at)"
)


async def ended(world: World, state: RunState = S.SUCCEEDED, **given: Any) -> None:
    """A finished run that was due `ago`, started `wait` later and took `took`."""
    run: dict[str, Any] = {"ago": MINUTE, "wait": 0.0, "took": 1.0, "tenant": 1, "attempt": 1}
    run |= {"trigger": "tick"} | given
    due = world.now - run["ago"]
    started = None if run["wait"] is None else due + timedelta(seconds=run["wait"])
    finished = (started or due) + timedelta(seconds=run["took"])
    left = None if state in {S.MISSED, S.SKIPPED} else "running"
    now, world.now = world.now, due
    run_id, world.now = world.new_id(), now
    await world.conn.execute(
        MADE,
        run_id,
        due,
        started,
        finished,
        run["tenant"],
        state.value,
        left,
        run["trigger"],
        run["attempt"],
    )


async def many(world: World, dues: list[datetime]) -> None:
    now, ids = world.now, []
    for due in dues:
        world.now = due
        ids.append(world.new_id())
    world.now = now
    await world.conn.execute(MADE_MANY, ids, dues)


async def test_an_empty_tenant_has_nothing_to_show_and_no_rate(world: World) -> None:
    shown = await read_overview(world.conn, tenant_id=1, since=world.now - timedelta(days=1))

    assert shown.ended == {}
    assert shown.failure_rate is None
    assert shown.times.sampled == 0
    assert shown.times.lag_p50 is None
    assert shown.runs_per_second == 0
    assert (shown.waiting, shown.oldest_wait, shown.late_ticks) == (0, None, 0)


async def test_ends_are_counted_by_state_in_the_window_and_of_the_tenant_only(
    world: World,
) -> None:
    for state in (S.SUCCEEDED, S.SUCCEEDED, S.SUCCEEDED, S.DEAD, S.MISSED):
        await ended(world, state, wait=None if state is S.MISSED else 0)
    await ended(world, S.DEAD, tenant=2)
    await ended(world, S.DEAD, ago=timedelta(hours=2))

    shown = await read_overview(world.conn, tenant_id=1, since=world.now - timedelta(hours=1))

    assert shown.ended == {S.SUCCEEDED: 3, S.DEAD: 1, S.MISSED: 1}
    assert shown.failure_rate == 0.25
    assert not shown.is_estimate


async def test_waits_are_of_first_attempts_and_durations_of_the_last(world: World) -> None:
    for wait in range(1, 101):
        await ended(world, wait=wait, took=2 * wait)
    await ended(world, wait=5000, took=0, attempt=2)
    await ended(world, wait=5000, took=0, trigger="replay")

    times = (await read_overview(world.conn, tenant_id=1, since=world.now - 2 * MINUTE)).times

    assert times.sampled == 102
    assert times.lag_p50 == timedelta(seconds=50.5)
    assert times.lag_p99 == timedelta(seconds=99.01)
    assert times.duration_p99 is not None
    assert times.duration_p99 < timedelta(seconds=201)


async def test_the_pace_is_that_of_the_last_seconds(world: World) -> None:
    for _ in range(20):
        await ended(world, ago=timedelta(seconds=5), took=1)
    await ended(world, ago=MINUTE, took=1)

    shown = await read_overview(world.conn, tenant_id=1, since=world.now - timedelta(hours=1))

    assert shown.runs_per_second == 2.0


async def test_a_pace_beyond_the_sample_is_measured_over_a_shorter_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "PACE_SAMPLE_MAX", 10)
    for tenth in range(100):
        await ended(world, ago=timedelta(seconds=tenth / 10 + 0.1), took=0)

    shown = await read_overview(world.conn, tenant_id=1, since=world.now - timedelta(hours=1))

    assert shown.runs_per_second == pytest.approx(10.0)


async def test_what_waits_is_shown_by_queue_with_the_oldest(world: World) -> None:
    gate = await gates.put_gate(world.conn, 1, "key:k", GateLimits(max_running=1))
    await world.runs(2, priority=9)
    await world.run(gates=(gate,))
    await world.run(due_at=world.now + timedelta(hours=1))
    await world.advance(seconds=30)
    await world.runs(2)
    await world.run(tenant_id=2)

    shown = await read_overview(world.conn, tenant_id=1, since=world.now)

    assert [(each.queue, each.ready, each.is_paused) for each in shown.queues] == [
        ("default", 5, False)
    ]
    assert shown.oldest_wait == timedelta(seconds=30)


async def test_late_ticks_are_those_that_should_have_been_decided(world: World) -> None:
    await world.job()
    await world.job(fire_at=world.now + timedelta(hours=1))
    await world.job(tenant_id=2)
    await world.advance(seconds=7)
    await world.job()

    shown = await read_overview(world.conn, tenant_id=1, since=world.now)

    assert shown.late_ticks == 1
    assert shown.latest_by == timedelta(seconds=7)


@pytest.mark.parametrize("ago", [timedelta(days=32), timedelta(seconds=-1)])
async def test_a_window_that_cannot_be_shown_is_refused(world: World, ago: timedelta) -> None:
    with pytest.raises(InvalidInput, match="within the last 31 days"):
        await read_overview(world.conn, tenant_id=1, since=world.now - ago)


async def test_the_last_hour_has_a_bucket_for_each_minute(world: World) -> None:
    await world.advance(seconds=30)
    await ended(world, ago=timedelta(seconds=10), wait=2, took=4)
    await ended(world, S.DEAD, ago=timedelta(seconds=40), wait=4)
    await ended(world, ago=timedelta(seconds=50), wait=6)
    await ended(world, ago=timedelta(hours=1))
    await ended(world, ago=timedelta(seconds=10), tenant=2)

    found = await read_series(world.conn, tenant_id=1, span=SeriesSpan.HOUR)

    assert len(found.buckets) == 60
    assert found.width == MINUTE
    *_, before, last = found.buckets
    assert last.start == world.now - timedelta(seconds=30)
    assert last.ended == {S.SUCCEEDED: 1}
    assert (last.mean_lag, last.mean_duration) == (timedelta(seconds=2), timedelta(seconds=4))
    assert before.ended == {S.SUCCEEDED: 1, S.DEAD: 1}
    assert (before.mean_lag, before.longest_lag) == (timedelta(seconds=5), timedelta(seconds=6))
    assert before.failure_rate == 0.5
    assert sum(bucket.number for bucket in found.buckets) == 3


async def test_the_wait_of_half_and_of_99_in_100_is_told_for_each_bucket(world: World) -> None:
    """Over all states, to a twentieth, and never longer than the longest there was."""
    for wait in range(1, 101):
        await ended(world, S.DEAD if wait % 2 else S.SUCCEEDED, wait=wait / 10)
    await ended(world, S.SKIPPED, wait=None)
    await ended(world, wait=5000, attempt=2)
    await ended(world, ago=2 * MINUTE, wait=0.0)

    *_, quick, slow, empty = (
        await read_series(world.conn, tenant_id=1, span=SeriesSpan.HOUR)
    ).buckets

    assert slow.lag_p50 is not None
    assert slow.lag_p99 is not None
    assert slow.lag_p50.total_seconds() == pytest.approx(5, rel=0.05)
    assert slow.lag_p99.total_seconds() == pytest.approx(9.9, rel=0.05)
    assert slow.lag_p99 <= timedelta(seconds=10)
    assert (quick.lag_p50, quick.lag_p99) == (timedelta(0), timedelta(0))
    assert (empty.lag_p50, empty.lag_p99) == (None, None)


async def test_waits_that_are_sampled_add_up_over_all_that_was_looked_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "EXACT_WINDOW_RUNS_MAX", 10)
    waits = (1, 1, 1, 1, 1, 1, 1, 1, 50, 100)
    for second in range(180):
        await ended(world, ago=timedelta(seconds=second), wait=waits[second % len(waits)])

    found = await read_series(world.conn, tenant_id=1, span=SeriesSpan.HOUR)

    assert found.is_estimate
    halves = [each.lag_p50.total_seconds() for each in found.buckets if each.lag_p50]
    assert halves == [pytest.approx(1, rel=0.05)] * len(halves)
    assert len(halves) >= 3


@pytest.mark.parametrize(("span", "number"), [(SeriesSpan.DAY, 24), (SeriesSpan.MONTH, 30)])
async def test_longer_spans_have_wider_buckets(world: World, span: SeriesSpan, number: int) -> None:
    await ended(world, ago=span.value[0])

    found = await read_series(world.conn, tenant_id=1, span=span)

    assert len(found.buckets) == number
    assert [bucket.number for bucket in found.buckets[-2:]] == [1, 0]


async def test_a_window_with_too_many_runs_is_sampled_and_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spread evenly, and all at second 0 of their minute: neither misleads by a tenth."""
    monkeypatch.setattr(statistics, "EXACT_WINDOW_RUNS_MAX", 100)
    start = world.now - timedelta(hours=1)
    await many(world, [start + timedelta(seconds=n) for n in range(3600)])

    even = await read_overview(world.conn, tenant_id=1, since=start)
    await many(world, [start + MINUTE * (n % 60) for n in range(3600)])
    uneven = await read_overview(world.conn, tenant_id=1, since=start)

    assert even.is_estimate
    assert even.ended[S.SUCCEEDED] == pytest.approx(3600, rel=0.1)
    assert uneven.ended[S.SUCCEEDED] == pytest.approx(7200, rel=0.1)


@pytest.mark.parametrize("stride", [7, 61, 601])
def test_the_seconds_that_are_looked_at_wander_through_the_minute(stride: int) -> None:
    start = datetime.fromisoformat("2026-07-01T00:00:00+00:00")

    found = build_slices(start, start + timedelta(days=30), stride=stride)

    seconds = [each.low.second for each in found]
    counts = [seconds.count(second) for second in range(60)]
    assert max(counts) - min(counts) <= 1
    assert {each.high - each.low for each in found} == {timedelta(seconds=1)}


async def test_a_run_is_counted_when_it_ended_however_long_ago_it_was_due(world: World) -> None:
    """I2: a backfill, a replay and a long run are in the minute in which they ended."""
    day = timedelta(days=1)
    for ago, trigger in ((3 * day, "backfill"), (40 * day, "replay"), (2 * day, "tick")):
        await ended(world, ago=ago, wait=ago.total_seconds() - 90, took=0, trigger=trigger)
    await ended(world, ago=timedelta(minutes=50), wait=0, took=50 * 60 - 90)

    hour = await read_series(world.conn, tenant_id=1, span=SeriesSpan.HOUR)
    month = await read_series(world.conn, tenant_id=1, span=SeriesSpan.MONTH)
    shown = await read_overview(world.conn, tenant_id=1, since=world.now - timedelta(hours=1))

    assert [place for place, each in enumerate(hour.buckets) if each.number] == [57]
    assert hour.buckets[57].ended == {S.SUCCEEDED: 4}
    assert [each.number for each in month.buckets] == [0] * 29 + [4]
    assert shown.ended == {S.SUCCEEDED: 4}


async def test_late_endings_are_sampled_as_the_others_are(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "EXACT_WINDOW_RUNS_MAX", 100)
    start = world.now - timedelta(hours=1)
    await many(world, [start + timedelta(seconds=n) for n in range(3600)])
    await world.conn.execute(
        "update rota.runs set scheduled_at = scheduled_at - interval '2 days',"
        " created_at = created_at - interval '2 days'"
    )

    shown = await read_overview(world.conn, tenant_id=1, since=start)

    assert shown.is_estimate
    assert shown.ended[S.SUCCEEDED] == pytest.approx(3600, rel=0.1)


@pytest.mark.parametrize("trigger", ["backfill", "replay", "manual", "graph"])
async def test_only_ticks_and_submissions_have_a_lag(world: World, trigger: str) -> None:
    """O5: a backfill of last week is not seven days late."""
    await ended(world, wait=0.25, took=1)
    await ended(world, wait=50, took=1, trigger=trigger)
    await ended(world, wait=50, took=1, attempt=2)

    shown = await read_overview(world.conn, tenant_id=1, since=world.now - timedelta(hours=1))
    buckets = (await read_series(world.conn, tenant_id=1, span=SeriesSpan.HOUR)).buckets
    recent = await metrics_queries.read_recent(world.conn, since=shown.since)

    quarter = timedelta(seconds=0.25)
    assert (shown.times.lag_p50, shown.times.lag_p99) == (quarter, quarter)
    assert {each.longest_lag for each in buckets} == {None, quarter}
    assert [each.number for each in recent] == [3]


async def test_lag_begins_when_a_run_could_start(world: World) -> None:
    """A submission for a time in the past could not start before it was made."""
    due = world.now - timedelta(minutes=30)
    await ended(world, ago=timedelta(minutes=30), wait=1200.5, trigger="api")
    await world.conn.execute("update rota.runs set created_at = $1", due + timedelta(minutes=20))

    shown = await read_overview(world.conn, tenant_id=1, since=world.now - timedelta(hours=1))

    assert shown.times.lag_p99 == timedelta(seconds=0.5)
