"""Defines what a pass over due watches works with: the watches and what was read about them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.alerts.evaluation import PlatformLag, TickRun
from rota.core.time.schedule import Schedule
from rota.engine.alerting.tick_planner import CheckedTick
from rota.engine.alerting.watch_definitions import WatchDefinition
from rota.store.watches import DueWatch, ProbedRun, WatchRow

FIRST_ID: Final = UUID(int=0)


@dataclass(slots=True, kw_only=True)
class CheckedWatch:
    """A due watch during a pass. `ticks` are to be judged, `upcoming` is the one after them.
    `stored` is the watch before the pass, `run_ids` are the runs of the ticks.
    """

    row: DueWatch
    definition: WatchDefinition
    watch: WatchRow
    stored: WatchRow
    schedule: Schedule | None = None
    ticks: list[CheckedTick] = field(default_factory=list)
    upcoming: CheckedTick | None = None
    run_ids: Mapping[datetime, UUID] = field(default_factory=dict)
    is_checked: bool = True

    @property
    def job_id(self) -> UUID:
        return self.row.job_id or FIRST_ID

    @property
    def is_only_advanced(self) -> bool:
        """Whether the pass changed nothing but the tick and the next check."""
        was = self.stored
        return was == self.watch._replace(
            next_check_at=was.next_check_at, tick_at=was.tick_at, due_at=was.due_at
        )

    @property
    def follows_end(self) -> bool:
        """Whether the next tick is known only when the run of the last one has ended."""
        return self.schedule is not None and self.schedule.follows_end


@dataclass(slots=True, kw_only=True)
class PassFacts:
    """What a pass has read. The lag is read only if something is late."""

    now: datetime
    runs: Mapping[UUID, ProbedRun] = field(default_factory=dict)
    limits: Mapping[UUID, timedelta | None] = field(default_factory=dict)
    lag: PlatformLag | None = None


def to_tick_run(row: ProbedRun | None) -> TickRun | None:
    """Return a probed run as the value that is judged."""
    if row is None:
        return None
    return TickRun(
        run_id=row.id,
        state=row.state,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        reason=None if row.reason is None else json.loads(row.reason),
    )
