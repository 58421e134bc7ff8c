"""What happened, as values: the only thing that the checker looks at.

Three independent witnesses: the sink (what handlers did), the client's log (what was asked and
what was answered) and the tables as they are at the end. `Plan` is what the client asked for and
therefore may expect. Times called `at` are monotonic nanoseconds; datetimes are wall time, which
on one machine is the database's too.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple, TypeVar
from uuid import UUID

from tests.support.sink import Mark

Value = TypeVar("Value")
WAITING = frozenset({"blocked", "queued", "retrying"})
# A tick that never became a run: one row may stand for many ticks.
RECORDS = frozenset({"skipped", "missed", "coalesced"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A run as the tables have it at the end; `first` and `last` are those of a record."""

    id: UUID
    job_id: UUID
    state: str
    scheduled_at: datetime
    due_at: datetime
    attempt: int = 0
    failures: int = 0
    losses: int = 0
    trigger: str = "tick"
    left_state: str | None = None
    created_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    first: datetime | None = None
    last: datetime | None = None
    is_live: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """An attempt that did not end its run; `delay` is the back-off that its worker asked for."""

    run_id: UUID
    attempt: int
    outcome: str
    started_at: datetime
    finished_at: datetime
    delay: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Something a client asked for. `info` means that the answer was lost: it may have happened."""

    verb: str
    thing: UUID
    invoked: int
    returned: int
    invoked_wall: datetime
    returned_wall: datetime
    outcome: str
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a job promises. Its ticks are a grid (see ticks.py); those after `must_from` must have
    been decided, none may be before `may_from`. `most` limits the runs of its `key`.
    """

    job_id: UUID
    kind: str = "quick"
    cron_step: int | None = None
    anchor: datetime | None = None
    every: timedelta | None = None
    may_from: datetime | None = None
    must_from: datetime | None = None
    overlap: str = "allow"
    guarantee: str = "at_least_once"
    retries: int = 3
    least_delay: timedelta = timedelta(0)
    key: str | None = None
    most: int | None = None
    has_effects: bool = False


class StepRow(NamedTuple):
    """The run of a step, as the tables have it at the end."""

    graph_run_id: UUID
    step: int
    state: str
    created_at: datetime
    finished_at: datetime | None


class Grant(NamedTuple):
    """Something held for a while: a run by a session, a shard by a scheduler.

    `token` is the attempt or the epoch. `at` is when the answer was there; until `until` the holder
    was certainly entitled, by what the database had told it.
    """

    thing: str
    token: int
    at: int
    until: int


class Use(NamedTuple):
    """A change that was accepted under a grant; `sent` is when the request left."""

    thing: str
    token: int
    sent: int


class Span(NamedTuple):
    """One attempt at the sink. A killed one has no end; `is_zombie` means that Rota gave it up."""

    run_id: UUID
    job_id: UUID
    attempt: int
    start: int
    end: int
    is_zombie: bool


@dataclass(kw_only=True)
class History:
    marks: list[Mark] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    plans: dict[UUID, Plan] = field(default_factory=dict)
    grants: list[Grant] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    effects: list[UUID] = field(default_factory=list)
    # Steps of graph runs, the boards of these, and what each step needs: all are of one graph.
    steps: list[StepRow] = field(default_factory=list)
    boards: dict[UUID, str] = field(default_factory=dict)
    needs: tuple[tuple[int, ...], ...] = ()
    # The state of each job, and the tick that its cursor decides next.
    job_states: dict[UUID, str] = field(default_factory=dict)
    cursors: dict[UUID, datetime] = field(default_factory=dict)
    # Ticks up to here must be decided at the end; after `calm_from` nothing was disturbed.
    ended: datetime | None = None
    calm_from: datetime | None = None
    most_losses: int = 3

    @cached_property
    def final(self) -> dict[UUID, Row]:
        return {row.id: row for row in self.rows}

    @cached_property
    def starts(self) -> list[Mark]:
        return sorted(mark for mark in self.marks if mark.event == "start")

    @cached_property
    def starts_of(self) -> dict[UUID, list[Mark]]:
        return grouped((mark.run_id, mark) for mark in self.starts)

    @cached_property
    def tries_of(self) -> dict[UUID, list[Try]]:
        ordered = sorted(self.tries, key=lambda each: each.attempt)
        return grouped((each.run_id, each) for each in ordered)

    @cached_property
    def spans(self) -> list[Span]:
        """Attempts as intervals, in the order of their starts."""
        ends = {(m.run_id, m.attempt): m.at for m in self.marks if m.event == "end"}
        # Without an end it lasted at least until it began.
        return [
            Span(
                run_id=mark.run_id,
                job_id=mark.job_id,
                attempt=mark.attempt,
                start=mark.at,
                end=ends.get((mark.run_id, mark.attempt), mark.at),
                is_zombie=(mark.run_id, mark.attempt) in self.given_up,
            )
            for mark in self.starts
        ]

    @cached_property
    def given_up(self) -> set[tuple[UUID, int]]:
        """Attempts that Rota took from their worker: lost, or ended over the worker's head."""
        lost = {(each.run_id, each.attempt) for each in self.tries if each.outcome == "lost"}
        over = {
            (row.id, row.attempt)
            for row in self.rows
            if row.state in {"lost", "quarantined", "cancelled", "expired"}
        }
        return lost | over


def grouped(pairs: Iterable[tuple[UUID, Value]]) -> dict[UUID, list[Value]]:
    groups: dict[UUID, list[Value]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
