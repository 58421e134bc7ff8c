"""Catching up loses no tick and doubles none (S11, S15; failure modes F03, F07)."""

from datetime import timedelta
from itertools import islice, takewhile

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.property.time import shapes

from rota.core.time.misfire import (
    COUNTED_TICKS_MAX,
    MisfireOutcome,
    MisfireReason,
    ScheduleProgress,
    decide_catch_up,
)
from rota.core.time.planning import plan_ticks
from rota.core.time.policies import CatchUp, MisfireCause
from rota.core.time.schedule import SEARCH_HORIZON, next_nominal_tick

quick = settings(max_examples=200, deadline=None, derandomize=True)
policies = st.fixed_dictionaries(
    {
        "on_outage": st.sampled_from(("once", "all", "skip")),
        "on_resume": st.sampled_from(("once", "all", "skip")),
        "start_deadline": st.sampled_from((None, "30s", "10m", "1d")),
        "max_catchup": st.sampled_from((1, 3, 10, 100)),
        "late_after": st.sampled_from(("1s", "60s", "10m")),
    }
)
outages = st.sampled_from(
    [timedelta(seconds=n) for n in (0, 1, 5, 59, 61, 600, 4000, 90_000, 900_000)]
)
causes = st.sampled_from((MisfireCause.OUTAGE, MisfireCause.RESUME))


@quick
@given(shapes.specs, policies, shapes.moments, outages, causes)
def test_every_due_tick_runs_or_is_recorded_exactly_once(spec, policy, cursor, out, cause) -> None:
    made = shapes.made({**spec, "misfire": policy})
    now = cursor + out
    ahead = islice(plan_ticks(made, cursor, cursor + SEARCH_HORIZON), COUNTED_TICKS_MAX)
    due = [p.tick.at for p in takewhile(lambda p: p.due_at <= now, ahead)]
    assume(len(due) < COUNTED_TICKS_MAX)

    decision = decide_catch_up(made, ScheduleProgress(cursor=cursor), now, cause=cause)

    run = [planned.tick.at for planned in decision.runs]
    assert len(run) + sum(row.count for row in decision.records) == len(due)
    assert run == due[len(due) - len(run) :]
    assert len(run) <= made.misfire.max_catchup
    assert decision.cursor == (due[-1] if due else cursor)
    # The rows follow each other: each is a stretch of ticks that do not run, none is in two.
    left = due[: len(due) - len(run)]
    for row in decision.records:
        assert (row.first, row.last) == (left[0], left[row.count - 1])
        left = left[row.count :]
    assert left == []


@quick
@given(shapes.specs, policies, shapes.moments, outages, causes)
def test_deciding_again_at_the_same_time_decides_nothing_more(
    spec, policy, cursor, out, cause
) -> None:
    made = shapes.made({**spec, "misfire": policy})

    first = decide_catch_up(made, ScheduleProgress(cursor=cursor), cursor + out, cause=cause)
    again = decide_catch_up(made, ScheduleProgress(cursor=first.cursor), cursor + out, cause=cause)

    assert (again.runs, again.records, again.cursor) == ((), (), first.cursor)


@quick
@given(shapes.specs, policies, shapes.moments, outages, st.sampled_from(CatchUp))
def test_the_policy_is_kept(spec, policy, cursor, out, choice) -> None:
    made = shapes.made({**spec, "misfire": policy})
    now = cursor + out
    misfire = made.misfire

    outage = decide_catch_up(made, ScheduleProgress(cursor=cursor), now, choice=choice)
    pause = decide_catch_up(
        made, ScheduleProgress(cursor=cursor), now, cause=MisfireCause.RESUME, choice=choice
    )
    edit = decide_catch_up(
        made, ScheduleProgress(cursor=cursor), now, cause=MisfireCause.EDIT, choice=choice
    )

    late = [p for p in outage.runs if now - p.due_at > misfire.late_after]
    assert len(late) <= {CatchUp.SKIP: 0, CatchUp.ONCE: 1, CatchUp.ALL: 1000}[choice]
    assert len(pause.runs) <= {CatchUp.SKIP: 0, CatchUp.ONCE: 1, CatchUp.ALL: 1000}[choice]
    assert len(edit.runs) <= {CatchUp.SKIP: 0, CatchUp.ONCE: 1, CatchUp.ALL: 1000}[choice]
    assert edit.cursor == now
    if misfire.start_deadline is not None:
        for decision in (outage, pause, edit):
            assert all(now - p.due_at <= misfire.start_deadline for p in decision.runs)
    if choice is CatchUp.SKIP:
        assert all(row.outcome is MisfireOutcome.MISSED for row in outage.records)
        assert all(row.outcome is MisfireOutcome.PAUSED for row in pause.records)


@quick
@given(shapes.specs, policies, shapes.calendars, shapes.on_blackout, shapes.near_changes, outages)
def test_blacked_out_ticks_are_counted_apart_and_all_are_accounted_for(
    spec, policy, quiet, choice, cursor, out
) -> None:
    made = shapes.with_calendar({**spec, "misfire": policy}, choice)
    shapes.in_calendar(made, cursor, quiet, 1)

    decision = decide_catch_up(
        made, ScheduleProgress(cursor=cursor), cursor + out, calendars={"quiet": quiet}
    )

    assume(not any(row.at_least for row in decision.records))
    made_ticks = 0
    tick = next_nominal_tick(made, cursor)
    while tick is not None and tick.at <= decision.cursor:
        made_ticks += 1
        tick = next_nominal_tick(made, tick.at)
    assert len(decision.runs) + sum(row.count for row in decision.records) == made_ticks
    blacked = [row for row in decision.records if row.reason is MisfireReason.BLACKOUT]
    assert len(blacked) <= 1
    assert all(row.outcome is MisfireOutcome.SKIPPED for row in blacked)
