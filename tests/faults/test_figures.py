"""The fault table counts what it says: each kind of damage is found in a history that has it, and
none in one that has not. A table that cannot turn red proves nothing.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from tests.chaos.history import History, Plan, Row
from tests.faults.client import Acknowledged
from tests.faults.figures import (
    Figures,
    count_discarded,
    count_overlaps,
    count_successors,
    count_tick_faults,
    list_lives,
    measure_gap,
)
from tests.faults.rules import Rules, find_violations
from tests.support.sink import Mark

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
JOB, RUN = UUID(int=1), UUID(int=100)
SECOND = timedelta(seconds=1)


def mark(event: str, at: int, *, attempt: int = 1, run: UUID = RUN) -> Mark:
    return Mark(
        at=at,
        wall=NOON,
        event=event,
        run_id=run,
        job_id=JOB,
        attempt=attempt,
        scheduled_at=NOON,
        kind="faults.slow",
        pid=1,
    )


def row(number: int, *, state: str = "succeeded", tick: int = 0) -> Row:
    return Row(
        id=UUID(int=RUN.int + number),
        job_id=JOB,
        state=state,
        scheduled_at=NOON + tick * SECOND,
        due_at=NOON,
    )


def ticking() -> Plan:
    return Plan(job_id=JOB, anchor=NOON, every=SECOND, may_from=NOON, must_from=NOON)


def test_an_attempt_that_was_under_way_when_the_next_began_is_a_restart() -> None:
    cut = [mark("start", 1), mark("cut", 5), mark("end", 5), mark("start", 7, attempt=2)]
    done = [mark("start", 1), mark("done", 5), mark("end", 5), mark("start", 7, attempt=2)]

    assert count_successors(list_lives(cut), set()) == {"restarted": 1, "repeated": 0}
    assert count_successors(list_lives(done), set()) == {"restarted": 0, "repeated": 1}


def test_an_attempt_that_was_stopped_because_its_job_forbids_overlap_is_no_restart() -> None:
    cut = [mark("start", 1), mark("cut", 5), mark("end", 5), mark("start", 7, attempt=2)]

    assert count_successors(list_lives(cut), {JOB}) == {"restarted": 0, "repeated": 0}


def test_an_attempt_that_is_heard_of_after_its_successor_began_overlaps() -> None:
    marks = [mark("start", 1), mark("start", 7, attempt=2), mark("beat", 9)]
    history = History(marks=marks, plans={JOB: Plan(job_id=JOB)})

    guarded = count_overlaps(history, list_lives(marks), {JOB})
    other = count_overlaps(history, list_lives(marks), set())

    assert guarded["overlaps_at_most_once"] == 1
    assert (other["overlaps_at_most_once"], other["overlaps_other"]) == (0, 1)


def test_runs_at_the_same_time_of_a_job_that_forbids_it_overlap() -> None:
    marks = [mark("start", 1), mark("beat", 5), mark("start", 4, run=UUID(int=200))]
    plans = {JOB: Plan(job_id=JOB, overlap="skip")}

    counts = count_overlaps(History(marks=marks, plans=plans), list_lives(marks), set())

    assert counts["overlaps_exclusive"] == 1


def test_a_lost_run_counts_as_discarded_only_if_its_handler_came_to_its_end() -> None:
    history = History(rows=[row(0, state="lost"), row(1, state="lost")])
    lives = list_lives([mark("start", 1), mark("done", 2)])

    counts = count_discarded(history, lives, {JOB})

    assert counts == {"at_most_once_lost": 2, "at_most_once_discarded": 1}


def test_ticks_without_a_run_and_with_two_are_counted() -> None:
    rows = [row(0, tick=1), row(1, tick=3), row(2, tick=3)]
    history = History(rows=rows, plans={JOB: ticking()}, ended=NOON + 3 * SECOND)

    assert count_tick_faults(history) == (1, 1)


def test_the_longest_gap_since_the_strike_tells_when_submissions_were_back() -> None:
    times = [0.0, 1.0, 1.5, 9.0, 9.1]
    acknowledged = [Acknowledged(job_id=JOB, body={}, at=at) for at in times]

    assert measure_gap(acknowledged, struck_at=1.2) == (7.8, 7.5)
    assert measure_gap(acknowledged[:3], struck_at=1.2) == (0.0, 0.5)


def figures(**changes: object) -> Figures:
    usual = dict.fromkeys(Figures.__dataclass_fields__, 0) | {
        "acknowledged": 10,
        "exits": [],
        "answers": {"201": 10, "503": 2},
        "violated": {},
        "extra": {},
    }
    return Figures(**usual | changes)  # type: ignore[arg-type]


def test_a_trial_without_damage_has_no_violations() -> None:
    assert list(find_violations(figures(), Rules(outage=True))) == []


@pytest.mark.parametrize(
    "change",
    [
        {"acknowledged": 0},
        {"lost": 1},
        {"tick_holes": 1},
        {"tick_doubles": 1},
        {"at_most_once_twice": 1},
        {"at_most_once_discarded": 1},
        {"restarted": 1},
        {"overlaps_at_most_once": 1},
        {"overlaps_exclusive": 1},
        {"without_retry_after": 1},
        {"answers": {"429": 1}},
        {"answers": {"500": 1}},
        {"exits": [("worker-0", 1, 5.0)]},
        {"violated": {"I6": "I6 conserved VIOLATED"}},
        {"extra": {"violations": ["/readyz answered 200"]}},
    ],
    ids=str,
)
def test_each_kind_of_damage_is_a_violation(change: dict[str, object]) -> None:
    assert len(list(find_violations(figures(**change), Rules(outage=True)))) == 1


def test_what_only_an_outage_forbids_is_allowed_where_a_worker_is_cut_off() -> None:
    cut = Rules(may_end=frozenset({"worker-1"}))
    found = figures(restarted=1, at_most_once_discarded=1, exits=[("worker-1", 1, 5.0)])

    assert list(find_violations(found, cut)) == []
