"""What the simulation knows by itself: what was asked for, acknowledged, started and ended.

Nothing in here was read from Rota's tables, except that a start is noticed there.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.core.outcome import HandedBack, Outcome, Snoozed
from tests.simulation.nodes import Node, WorkerNode
from tests.simulation.plans import Plan, Stretch


class Start(NamedTuple):
    run_id: UUID
    attempt: int
    at: datetime
    gates: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Who did something in a step, and to what. A client names the runs and jobs it acts on."""

    what: str
    node: Node | None = None
    runs: frozenset[UUID] = frozenset()
    jobs: frozenset[UUID] = frozenset()


@dataclass(slots=True, kw_only=True)
class Ledger:
    plans: dict[UUID, Plan] = field(default_factory=dict)
    # The schedules that each job has had, and the ticks they owe.
    owed: dict[UUID, list[Stretch]] = field(default_factory=dict)
    deleted: set[UUID] = field(default_factory=set)
    # Runs that a client asked for; all others are ticks.
    asked: set[UUID] = field(default_factory=set)
    replays: Counter[UUID] = field(default_factory=Counter)
    # Attempts after which a run may start again though it promised to start once.
    harmless: Counter[UUID] = field(default_factory=Counter)
    starts: list[Start] = field(default_factory=list)
    workers: dict[UUID, WorkerNode] = field(default_factory=dict)
    queue_limit: int | None = None
    # When the database was last away.
    outage_ended: datetime | None = None
    is_queue_paused: bool = False

    def note_ending(self, run_id: UUID, outcome: Outcome) -> None:
        if isinstance(outcome, Snoozed) or outcome == HandedBack(has_started=False):
            self.harmless[run_id] += 1

    def starts_of(self, run_id: UUID) -> list[Start]:
        return [start for start in self.starts if start.run_id == run_id]
