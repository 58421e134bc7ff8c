"""What holds for every schedule (S4, S5, S9, S10, S15, S16; failure modes F08, F11)."""

import json
from datetime import timedelta
from heapq import merge
from itertools import islice, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.time import shapes

from rota.contract.schedule import read_saved_schedule, write_schedule
from rota.core.time.planning import plan_next_tick, plan_ticks
from rota.core.time.schedule import SEARCH_HORIZON

COUNT = 12
quick = settings(max_examples=150, deadline=None, derandomize=True)


@quick
@given(shapes.specs, shapes.moments)
def test_ticks_come_after_the_cursor_in_strictly_rising_order(spec, after) -> None:
    made = shapes.made(spec)

    ticks = [p.tick.at for p in islice(plan_ticks(made, after, after + SEARCH_HORIZON), COUNT)]

    assert all(earlier < later for earlier, later in pairwise([after, *ticks]))


@quick
@given(shapes.specs, shapes.moments, st.floats(0, 1))
def test_every_cursor_between_two_ticks_has_the_same_answer(spec, after, part) -> None:
    made = shapes.made(spec)
    first = plan_next_tick(made, after)
    assert first is not None

    between = after + (first.tick.at - after - timedelta(microseconds=1)) * part

    assert plan_next_tick(made, between) == first


@quick
@given(st.lists(shapes.rules, min_size=2, max_size=3), shapes.options, shapes.moments)
def test_a_union_is_the_merge_of_its_members(rules, option, after) -> None:
    option = {**option, "jitter": None}
    members = [shapes.made({**rule, **option}) for rule in rules]
    united = members[0].__class__(
        rules=tuple(rule for member in members for rule in member.rules),
        timezone=members[0].timezone,
        gap=members[0].gap,
        overlap=members[0].overlap,
        seed=members[0].seed,
    )
    end = after + SEARCH_HORIZON
    streams = [(p.tick.at for p in plan_ticks(member, after, end)) for member in members]

    expected = islice(dict.fromkeys(islice(merge(*streams), 4 * COUNT)), COUNT)

    assert [p.tick.at for p in islice(plan_ticks(united, after, end), COUNT)] == list(expected)


@quick
@given(shapes.specs, shapes.calendars, shapes.on_blackout, shapes.moments)
def test_no_run_starts_in_a_blackout(spec, quiet, choice, after) -> None:
    made = shapes.with_calendar(spec, choice)

    planned = shapes.in_calendar(made, after, quiet, COUNT)

    assert all(quiet.find_covering(p.due_at) is None for p in planned)
    assert all(earlier.tick.at < later.tick.at for earlier, later in pairwise(planned))


@quick
@given(shapes.specs, shapes.calendars, shapes.moments, st.floats(0, 1))
def test_a_deferred_run_is_the_same_from_every_cursor_before_it(spec, quiet, after, part) -> None:
    made = shapes.with_calendar(spec, "defer")
    first, *_ = shapes.in_calendar(made, after, quiet, 1)

    between = after + (first.tick.at - after - timedelta(microseconds=1)) * part
    (again,) = shapes.in_calendar(made, between, quiet, 1)

    assert (again.tick, again.due_at) == (first.tick, first.due_at)


@quick
@given(shapes.specs, shapes.moments)
def test_jitter_delays_a_tick_and_never_past_the_next(spec, after) -> None:
    made = shapes.made(spec)

    planned = list(islice(plan_ticks(made, after, after + SEARCH_HORIZON), COUNT))

    assert all(p.tick.at <= p.due_at for p in planned)
    assert all(earlier.due_at < later.tick.at for earlier, later in pairwise(planned))


@quick
@given(shapes.specs)
def test_a_schedule_survives_the_store_and_its_text_is_a_fixed_point(spec) -> None:
    made = shapes.made(spec)

    stored = json.loads(json.dumps(write_schedule(made)))
    loaded = read_saved_schedule(stored, seed=made.seed)

    assert loaded == made
    assert write_schedule(loaded) == stored
