"""The checker finds what it is for: for each invariant, one history that keeps it and some that
break it. Without this, a chaos run without findings would prove nothing (E1, E3, E4, E11).
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from tests.chaos.checker import INVARIANTS, judge
from tests.chaos.client_checks import zombies
from tests.chaos.history import Grant, History, Operation, Plan, Row, StepRow, Try, Use
from tests.support.sink import Mark

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
JOB = UUID(int=1)
RUN = UUID(int=100)
MILLI = 1_000_000


def wall(second: float) -> datetime:
    return NOON + second * SECOND


def at(second: float) -> int:
    return round(second * 1000) * MILLI


def row(number: int = 0, **given: object) -> Row:
    """The run of the tick at second `number`, which succeeded at its first attempt."""
    usual = Row(
        id=UUID(int=RUN.int + number),
        job_id=JOB,
        state="succeeded",
        scheduled_at=wall(number),
        due_at=wall(number),
        created_at=wall(number + 0.01),
        started_at=wall(number + 0.1),
        finished_at=wall(number + 0.5),
        left_state="running",
        attempt=1,
    )
    return replace(usual, **given)  # type: ignore[arg-type]


def mark(event: str, second: float, *, run: int = 0, attempt: int = 1) -> Mark:
    return Mark(
        at=at(second),
        wall=wall(second),
        event=event,
        run_id=UUID(int=RUN.int + run),
        job_id=JOB,
        attempt=attempt,
        scheduled_at=wall(run),
        kind="quick",
        pid=1,
    )


def ran(begin: float, end: float, *, run: int = 0, attempt: int = 1) -> list[Mark]:
    return [
        mark("start", begin, run=run, attempt=attempt),
        mark("end", end, run=run, attempt=attempt),
    ]


def operation(verb: str, begin: float, end: float, **given: object) -> Operation:
    usual = Operation(
        verb=verb,
        thing=RUN,
        invoked=at(begin),
        returned=at(end),
        invoked_wall=wall(begin),
        returned_wall=wall(end),
        outcome="ok",
    )
    return replace(usual, **given)  # type: ignore[arg-type]


def attempt(number: int, begin: float, end: float, outcome: str = "failed", **more: object) -> Try:
    usual = Try(
        run_id=RUN, attempt=number, outcome=outcome, started_at=wall(begin), finished_at=wall(end)
    )
    return replace(usual, **more)  # type: ignore[arg-type]


def plan(**given: object) -> Plan:
    usual = Plan(job_id=JOB, cron_step=1, may_from=wall(-0.5), must_from=wall(-0.4))
    return replace(usual, **given)  # type: ignore[arg-type]


def three_ticks(**given: object) -> History:
    """Three ticks of a job, each of which ran once."""
    usual: dict[str, object] = {
        "rows": [row(0), row(1), row(2)],
        "marks": [m for n in range(3) for m in ran(n + 0.1, n + 0.5, run=n)],
        "plans": {JOB: plan()},
        "job_states": {JOB: "active"},
        "ended": wall(2.9),
        "calm_from": wall(0),
    }
    return History(**(usual | given))  # type: ignore[arg-type]


def retried(**given: object) -> History:
    """One run that failed once and succeeded at its second attempt, a second later."""
    usual: dict[str, object] = {
        "rows": [row(0, attempt=2, failures=1, started_at=wall(1.6), finished_at=wall(2))],
        "tries": [attempt(1, 0.1, 0.5, delay=SECOND)],
        "marks": [*ran(0.1, 0.5), *ran(1.6, 2, attempt=2)],
        "plans": {JOB: plan(cron_step=None, retries=3, least_delay=SECOND)},
    }
    return History(**(usual | given))  # type: ignore[arg-type]


def cancelled(**given: object) -> History:
    usual: dict[str, object] = {
        "rows": [row(0, state="cancelled", left_state="queued", attempt=0, started_at=None)],
        "operations": [operation("cancel", 0.01, 0.05, answer="cancelled")],
    }
    return History(**(usual | given))  # type: ignore[arg-type]


def paused(resumed: float, created: float) -> History:
    return three_ticks(
        rows=[row(0), row(1, created_at=wall(created))],
        marks=ran(0.1, 0.5),
        ended=wall(1.9),
        operations=[
            operation("pause", 0.6, 0.7, thing=JOB),
            operation("resume", resumed, resumed + 0.1, thing=JOB),
        ],
    )


def joined(*steps: StepRow, board: str = "sss", **more: object) -> History:
    """A graph run in which a third step waits for the first two, beside the three ticks."""
    usual = (step(0), step(1), step(2, began=0.6, ended=0.9))
    return three_ticks(
        steps=list(steps or usual),
        boards={RUN: board},
        needs=((), (), (0, 1)),
        **more,
    )


def step(number: int, *, began: float = 0.1, ended: float | None = 0.5, **more: str) -> StepRow:
    finished = None if ended is None else wall(ended)
    return StepRow(RUN, number, more.get("state", "succeeded"), wall(began), finished)


GOOD: dict[str, Callable[[], History]] = {
    "a join that waited for both": joined,
    "three ticks that ran": three_ticks,
    "a retry after its back-off": retried,
    "a cancelled run that never ran": cancelled,
    "a cancel that was asked for while its worker began": lambda: cancelled(
        rows=[row(0, state="cancelled", left_state="cancelling", started_at=wall(0.02))],
        operations=[operation("cancel", 0.03, 0.05, answer="cancelling")],
        marks=ran(0.06, 0.2),
    ),
    "a cancel of a run that was claimed ahead of its time": lambda: cancelled(
        rows=[row(0, state="cancelled", left_state="cancelling", started_at=wall(0.058))],
        operations=[operation("cancel", 0.03, 0.05, answer="cancelling")],
        marks=ran(0.06, 0.2),
    ),
    "a cancel whose answer was lost": lambda: three_ticks(
        operations=[operation("cancel", 0.01, 0.05, outcome="info")]
    ),
    "missed ticks on record": lambda: three_ticks(
        rows=[row(0), row(2, state="missed", attempt=0, first=wall(1), last=wall(2))],
        marks=ran(0.1, 0.5),
    ),
    "a tick in a pause": lambda: paused(1.5, 1.6),
    "a zombie beside its successor": lambda: retried(
        tries=[attempt(1, 0.1, 0.5, "lost")],
        marks=[*ran(0.1, 1.8), *ran(1.6, 2, attempt=2)],
        plans={JOB: plan(cron_step=None, overlap="skip")},
    ),
    "an effect of a success": lambda: three_ticks(
        plans={JOB: plan(has_effects=True)},
        effects=[UUID(int=RUN.int + n) for n in range(3)],
    ),
    "leases one after the other": lambda: three_ticks(
        grants=[Grant("run 1", 1, at(0), at(1)), Grant("run 1", 2, at(1.1), at(2))],
        uses=[Use("run 1", 1, at(1.05)), Use("run 1", 2, at(1.2))],
    ),
    "ticks in order": lambda: three_ticks(plans={JOB: plan(overlap="queue_all")}),
    "a limit of two with two": lambda: three_ticks(
        marks=[*ran(0.1, 1.5), *ran(1.1, 2.5, run=1), *ran(2.5, 2.6, run=2)],
        plans={JOB: plan(key="k", most=2)},
    ),
    "a start and an end that were acknowledged": lambda: three_ticks(
        operations=[operation("create", -1, -0.9, thing=JOB), operation("submit", 0, 0.1)]
    ),
}

BAD: dict[str, tuple[str, Callable[[], History]]] = {
    "an acknowledged job that is gone": (
        "I1",
        lambda: three_ticks(operations=[operation("create", -1, -0.9, thing=UUID(int=9))]),
    ),
    "an acknowledged run that is gone": (
        "I1",
        lambda: three_ticks(operations=[operation("submit", 0, 0.1, thing=UUID(int=9))]),
    ),
    "an acknowledged pause that is forgotten": (
        "I1",
        lambda: three_ticks(operations=[operation("pause", 2.7, 2.8, thing=JOB)]),
    ),
    "two runs of one tick": (
        "I2",
        lambda: three_ticks(rows=[row(0), row(1), row(2), row(1, id=UUID(int=7))]),
    ),
    "a tick that is nowhere": ("I3", lambda: three_ticks(rows=[row(0), row(2)], marks=[])),
    "a tick that is not in the schedule": (
        "I3",
        lambda: three_ticks(rows=[row(0), row(1), row(2), row(3, scheduled_at=wall(1.5))]),
    ),
    "a start before the time": ("I4", lambda: three_ticks(marks=ran(-0.001, 0.5))),
    "a late start in calm times": ("I5", lambda: three_ticks(marks=ran(5.2, 5.5))),
    "a run that never ended": (
        "I6",
        lambda: three_ticks(rows=[row(0), row(1), row(2, state="queued", is_live=True)]),
    ),
    "an attempt of a run that is in no table": (
        "I6",
        lambda: three_ticks(marks=ran(0.1, 0.5, run=50)),
    ),
    "a run that is alive and finished": (
        "I7",
        lambda: three_ticks(rows=[row(0), row(1), row(2), row(2, is_live=True)]),
    ),
    "an attempt after the end": ("I7", lambda: three_ticks(marks=ran(2.6, 2.7, attempt=2))),
    "an attempt that started twice": (
        "I8",
        lambda: three_ticks(marks=[*ran(0.1, 0.2), *ran(0.3, 0.4)]),
    ),
    "an attempt that left no trace": ("I8", lambda: retried(tries=[])),
    "attempts at the sink that go back": (
        "I9",
        lambda: retried(marks=[*ran(0.1, 0.5, attempt=2), *ran(1.6, 2, attempt=1)]),
    ),
    "a result that was accepted after its fence had moved": (
        "I9",
        lambda: three_ticks(
            grants=[Grant("run 1", 1, at(0), at(1)), Grant("run 1", 2, at(1.1), at(2))],
            uses=[Use("run 1", 1, at(1.2))],
        ),
    ),
    "a lease that was granted while another held it": (
        "I10",
        lambda: three_ticks(
            grants=[Grant("run 1", 1, at(0), at(1)), Grant("run 1", 2, at(0.9), at(2))]
        ),
    ),
    "one epoch for two owners": (
        "I10",
        lambda: three_ticks(
            grants=[Grant("shard 1", 1, at(0), at(1)), Grant("shard 1", 1, at(1.5), at(2))]
        ),
    ),
    "attempts that overlap in the tables": (
        "I10",
        lambda: retried(tries=[attempt(1, 0.1, 0.5), attempt(2, 0.3, 0.6)]),
    ),
    "runs of one job together": (
        "I11",
        lambda: three_ticks(
            marks=[*ran(0.1, 1.5), *ran(1.1, 1.6, run=1)], plans={JOB: plan(overlap="skip")}
        ),
    ),
    "three where two are allowed": (
        "I11",
        lambda: three_ticks(
            marks=[*ran(0.1, 2.5), *ran(1.1, 2.5, run=1), *ran(2.1, 2.5, run=2)],
            plans={JOB: plan(key="k", most=2)},
        ),
    ),
    "ticks out of order": (
        "I12",
        lambda: three_ticks(
            marks=[*ran(2.1, 2.2, run=2), *ran(2.3, 2.4, run=1)],
            plans={JOB: plan(overlap="queue_all")},
        ),
    ),
    "a claim after an acknowledged cancel": (
        "I14",
        lambda: cancelled(
            marks=ran(0.07, 0.2),
            rows=[row(0, state="cancelled", left_state="cancelling", started_at=wall(0.065))],
            operations=[operation("cancel", 0.03, 0.05, answer="cancelling")],
        ),
    ),
    "a start after an acknowledged cancel": ("I14", lambda: cancelled(marks=ran(0.06, 0.2))),
    "a retry after an acknowledged cancel": (
        "I14",
        lambda: retried(operations=[operation("cancel", 0.2, 0.3, answer="cancelling")]),
    ),
    "a tick that fired in a pause": ("I14", lambda: paused(1.5, 1.1)),
    "a second start of an at-most-once run": (
        "I15",
        lambda: retried(plans={JOB: plan(cron_step=None, guarantee="at_most_once")}),
    ),
    "a success without its effect": (
        "I16",
        lambda: three_ticks(plans={JOB: plan(has_effects=True)}),
    ),
    "two effects of one run": (
        "I16",
        lambda: three_ticks(
            plans={JOB: plan(has_effects=True)},
            effects=[UUID(int=RUN.int + n) for n in (0, 0, 1, 2)],
        ),
    ),
    "an effect of a run that failed": (
        "I16",
        lambda: three_ticks(
            rows=[row(0, state="dead"), row(1), row(2)],
            plans={JOB: plan(has_effects=True)},
            effects=[UUID(int=RUN.int + n) for n in range(3)],
        ),
    ),
    "more failures than retries allow": (
        "I17",
        lambda: retried(rows=[row(0, attempt=2, failures=5, started_at=wall(1.6))]),
    ),
    "a step that began before its parent had ended": (
        "I13",
        lambda: joined(step(0), step(1, ended=0.7), step(2, began=0.6, ended=0.9)),
    ),
    "a step that began without its parent": (
        "I13",
        lambda: joined(step(0), step(2, began=0.6, ended=0.9)),
    ),
    "a step that was made twice": (
        "I13",
        lambda: joined(step(0), step(1), *[step(2, began=0.6, ended=0.9)] * 2),
    ),
    "a join that was forgotten": ("I13", lambda: joined(step(0), step(1), board="ssw")),
    "a board that says otherwise": ("I13", lambda: joined(board="sfs")),
    "a graph run that never ended": (
        "I13",
        lambda: joined(rows=[row(0, state="blocked", is_live=True), row(1), row(2)]),
    ),
    "a fourth loss": ("I17", lambda: three_ticks(rows=[row(0, losses=4), row(1), row(2)])),
    "a retry before its back-off": (
        "I17",
        lambda: retried(rows=[row(0, attempt=2, failures=1, started_at=wall(1.2))]),
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_history_that_keeps_every_promise_is_not_accused(name: str) -> None:
    verdict = judge(GOOD[name]())

    assert verdict.violated == frozenset(), str(verdict)


@pytest.mark.parametrize("name", BAD)
def test_a_broken_promise_is_found_and_named(name: str) -> None:
    invariant, history = BAD[name]

    verdict = judge(history())

    assert invariant in verdict.violated, str(verdict)


def test_every_invariant_has_a_history_that_breaks_it() -> None:
    broken = {invariant for invariant, _ in BAD.values()}

    assert broken == INVARIANTS.keys()


def test_a_zombie_is_counted_not_accused() -> None:
    history = GOOD["a zombie beside its successor"]()

    assert zombies(history) == 1
    assert zombies(three_ticks()) == 0


def test_the_verdict_is_one_line_for_each_invariant_with_the_first_example() -> None:
    _, history = BAD["a tick that is nowhere"]

    first, *lines = str(judge(history())).splitlines()

    assert first == "checked 2 runs, 2 ticks, 0 starts, 0 zombie attempts"
    assert len(lines) == len(INVARIANTS)
    assert sum("VIOLATED" in line for line in lines) == 1
    assert "the tick 2026-07-01 12:00:01+00:00 is neither a run nor on record" in lines[2]
