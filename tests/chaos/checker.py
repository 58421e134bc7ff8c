"""The verdict over a history: one line for each invariant, with the first counter-example.

The names I1 … I17 are those of the table in docs/guarantees.md. I13 is about job graphs. All
checks are sorts and merges, O(n log n) in the number of events.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.chaos.client_checks import acknowledged_stays, cancelled_stays, no_overlap, zombies
from tests.chaos.graph_checks import steps_in_order
from tests.chaos.history import History
from tests.chaos.run_checks import (
    at_most_once,
    attempt_unique,
    conserved,
    effects_once,
    fences_grow,
    leases_exclusive,
    not_early,
    retries_bounded,
    single_ending,
)
from tests.chaos.tick_checks import in_order, tick_complete, tick_unique, timely

INVARIANTS: dict[str, tuple[str, Callable[[History], Iterator[str]]]] = {
    "I1": ("acknowledged stays", acknowledged_stays),
    "I2": ("tick unique", tick_unique),
    "I3": ("tick complete", tick_complete),
    "I4": ("not early", not_early),
    "I5": ("timely when calm", timely),
    "I6": ("conserved", conserved),
    "I7": ("single ending", single_ending),
    "I8": ("attempt unique", attempt_unique),
    "I9": ("fences grow", fences_grow),
    "I10": ("leases exclusive", leases_exclusive),
    "I11": ("no overlap", no_overlap),
    "I12": ("in order", in_order),
    "I13": ("steps in order", steps_in_order),
    "I14": ("cancelled stays", cancelled_stays),
    "I15": ("at most once", at_most_once),
    "I16": ("effects once", effects_once),
    "I17": ("retries bounded", retries_bounded),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    invariant: str
    name: str
    count: int
    first: str | None

    def __str__(self) -> str:
        said = "ok" if self.first is None else f"VIOLATED {self.count} times, first: {self.first}"
        return f"{self.invariant:<4} {self.name:<20} {said}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    findings: tuple[Finding, ...]
    zombies: int
    runs: int
    ticks: int
    starts: int

    @property
    def violated(self) -> frozenset[str]:
        return frozenset(each.invariant for each in self.findings if each.first is not None)

    def __str__(self) -> str:
        counts = f"{self.runs} runs, {self.ticks} ticks, {self.starts} starts"
        lines = [f"checked {counts}, {self.zombies} zombie attempts", *map(str, self.findings)]
        return "\n".join(lines)


def judge(history: History) -> Verdict:
    """Try every invariant on what happened."""
    return Verdict(
        findings=tuple(find(invariant, history) for invariant in INVARIANTS),
        zombies=zombies(history),
        runs=len(history.rows),
        ticks=sum(row.trigger == "tick" for row in history.rows),
        starts=len(history.starts),
    )


def find(invariant: str, history: History) -> Finding:
    name, check = INVARIANTS[invariant]
    examples = list(check(history))
    return Finding(
        invariant=invariant,
        name=name,
        count=len(examples),
        first=examples[0] if examples else None,
    )
