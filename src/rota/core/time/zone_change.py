"""Recomputes the next tick of a job after the rules of its time zone have changed.

A wall-clock tick is identified by its nominal local time. Ticks decided under the old rules stay
decided, and the next tick is the first one with a later local time under the new rules. So
`0 9 * * *` runs once on the day its zone moves: at the new nine o'clock, unless it has already run
at the old one. A rule that follows elapsed time is identified by its instants and continues after
the last decided instant. The caller reads and writes the cursors.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from rota.core.time import planning, zones
from rota.core.time.budget import CATCH_UP_STEPS_MAX, SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.cron import Cron
from rota.core.time.past_ticks import PastTicks
from rota.core.time.planning import PlannedTick
from rota.core.time.policies import Window
from rota.core.time.rrule import Rrule
from rota.core.time.schedule import MICROSECOND, SEARCH_HORIZON, Schedule, next_nominal_tick
from rota.core.time.tick import DstGap, Tick

# No zone moves further than this, so neither does the first tick of a schedule.
JUMP_MAX = timedelta(hours=26)


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneChange:
    """A schedule under the new rules, and the zone with which its next tick was computed. If
    `may_be_new`, a tick that exists under both rules is taken as computed with the new ones.
    """

    schedule: Schedule
    before: ZoneInfo
    calendars: Mapping[str, Calendar]
    may_be_new: bool = False
    budget: SearchBudget = field(
        default_factory=lambda: SearchBudget(CATCH_UP_STEPS_MAX), compare=False
    )

    def next_tick(self, tick_at: datetime, *, fired: int) -> PlannedTick | None:
        """Return the tick that replaces this one; None if this one stays.

        A tick that does not exist under the old rules was computed with the new ones, or by a
        schedule or calendar that has changed since. It stays.
        """
        old = _under(self.schedule, self.before)
        wanted = next_nominal_tick(old, tick_at - MICROSECOND, budget=self.budget)
        if wanted is None or wanted.at != tick_at:
            return None
        if self.may_be_new and _is_tick(self.schedule, tick_at, self.budget):
            return None
        return planning.plan_next_tick(
            self.schedule,
            self._find_decided_end(old, wanted),
            calendars=self.calendars,
            fired=fired,
            budget=self.budget,
        )

    def _find_decided_end(self, old: Schedule, wanted: Tick) -> datetime:
        """Return the instant under the new rules up to which ticks are decided."""
        since = wanted.at - SEARCH_HORIZON
        past = PastTicks(schedule=old, since=since, until=wanted.at, budget=self.budget)
        ticks = past.read_newest(1).ticks
        if not ticks:
            return wanted.at - JUMP_MAX
        last = next_nominal_tick(old, ticks[0] - MICROSECOND, budget=self.budget)
        if last is None or not _is_wall_clock(self.schedule):
            return ticks[0]
        found = zones.resolve_local_time(
            last.local,
            self.schedule.zone,
            gap=DstGap.RUN_AFTER,
            overlap=self.schedule.overlap,
        )
        # If a local time occurs twice and runs both times, the second run may still be due.
        is_twice = last.local.replace(fold=0) == wanted.local.replace(fold=0)
        return found[0 if is_twice else -1].at


def _under(schedule: Schedule, zone: ZoneInfo) -> Schedule:
    """Return the bare schedule, without calendars and jitter, in a zone with other rules."""
    window = Window(start=schedule.window.start, end=schedule.window.end)
    bare = replace(schedule, calendars=(), jitter=None, window=window)
    object.__setattr__(bare, "zone", zone)
    return bare


def _is_tick(schedule: Schedule, at: datetime, budget: SearchBudget) -> bool:
    tick = next_nominal_tick(schedule, at - MICROSECOND, budget=budget)
    return tick is not None and tick.at == at


def _is_wall_clock(schedule: Schedule) -> bool:
    """Return whether all rules follow the wall clock, so local times identify their ticks."""
    return all(isinstance(rule, Cron | Rrule) and not rule.interval_like for rule in schedule.rules)
