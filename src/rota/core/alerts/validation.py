"""Checks expectations against the schedule of their job, with an example that shows what is wrong.

Searches count their steps (core/time/budget.py). A search that runs out of steps finds nothing
wrong in the part that it did not see.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from rota.core.alerts.conditions import (
    AtRisk,
    Condition,
    FinishBy,
    MaxDuration,
    MissedTickCount,
    StartWithin,
    SucceedEvery,
)
from rota.core.alerts.deadlines import compute_finish_deadline
from rota.core.errors import InvalidInput, SearchTooLong
from rota.core.time import durations
from rota.core.time.budget import SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.interval import EveryAfterEnd
from rota.core.time.planning import NO_CALENDARS, find_last, plan_next_tick
from rota.core.time.schedule import Schedule

# The steps of all checks of one job: about 40 ms.
CHECK_STEPS_MAX: Final = 4_000
# The ticks whose deadlines are checked.
DEADLINE_TICKS_MAX: Final = 256
# Gaps are sought in this range: it contains a change of the clock in both directions, the end of
# each month and the holidays of a year.
GAP_HORIZON: Final = timedelta(days=400)
# A deadline that is further away than this and on another day is probably a mistake.
LONG_DEADLINE: Final = timedelta(hours=12)
TICK_CONDITIONS: Final = (StartWithin, FinishBy, AtRisk, SucceedEvery, MissedTickCount)

NextTick = Callable[[datetime], datetime | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TickGap:
    """The time between two neighbouring ticks."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        return self.end - self.start


class ConditionChecker:
    """Checks the conditions of one job. `schedule` is None if the job runs on demand only."""

    def __init__(
        self,
        schedule: Schedule | None,
        now: datetime,
        *,
        calendars: Mapping[str, Calendar] = NO_CALENDARS,
        timeout: timedelta | None = None,
        budget: SearchBudget | None = None,
    ) -> None:
        self._schedule = schedule
        self._now = now
        self._calendars = calendars
        self._timeout = timeout
        self._budget = SearchBudget(CHECK_STEPS_MAX) if budget is None else budget

    def check(self, conditions: Iterable[Condition], *, is_rule: bool = False) -> list[str]:
        """Raise `InvalidInput` for a condition that cannot be met or never applies; return warnings
        about those that are probably mistakes. The error names the field without `expect`. With
        `is_rule`, the job itself may have the `finish_by` that `at_risk` needs.
        """
        given = list(conditions)
        warnings: list[str] = []
        for condition in given:
            if isinstance(condition, TICK_CONDITIONS):
                self._require_ticks(condition)
            if isinstance(condition, AtRisk) and not is_rule and not _has_deadline(given):
                wanted = 'requires `finish_by`, such as finish_by: "06:00"; add it, or omit at_risk'
                raise InvalidInput("at_risk", True, wanted)
            if isinstance(condition, SucceedEvery):
                warnings += self._check_succeed_every(condition)
            if isinstance(condition, FinishBy):
                warnings += self._check_finish_by(condition)
            if isinstance(condition, MaxDuration):
                warnings += self._check_max_duration(condition)
        return warnings

    def _require_ticks(self, condition: Condition) -> None:
        if self._schedule is None or not self._schedule.has_ticks:
            wanted = (
                "requires a schedule with ticks (cron, rrule, every, fixed_delay or at), and the "
                "job has none; add a schedule, or use max_duration, failures or dead_letters"
            )
            raise InvalidInput(condition.code, _show_value(condition), wanted)

    def _check_succeed_every(self, condition: SucceedEvery) -> list[str]:
        equal = self._find_first_gap(condition.every)
        gap = self.find_longest_gap(longer_than=condition.every)
        shown = durations.to_words(condition.every)
        if gap is not None:
            example = self._describe_gap(gap)
            wanted = (
                f"the schedule has a longer gap: {example}; must be longer than that, with time "
                "for the run to finish"
            )
            raise InvalidInput(condition.code, shown, wanted)
        if equal is not None:
            example = self._describe_gap(equal)
            return [f"succeed_every: {example}, so the run has no time to finish; allow more"]
        return []

    def find_longest_gap(self, *, longer_than: timedelta) -> TickGap | None:
        """Return the longest gap between two ticks that is longer than this; None if there is
        none in the part of the schedule that the budget allows to see.
        """
        longest: TickGap | None = None
        first = None if self._schedule is None else self._schedule.rules[0]
        if isinstance(first, EveryAfterEnd):
            if first.delay > longer_than:
                return TickGap(start=self._now, end=self._now + first.delay)
            return None
        try:
            for gap in self._iterate_gaps(longer_than):
                longest = gap
        except SearchTooLong:
            pass
        return longest

    def _iterate_gaps(self, limit: timedelta) -> Iterator[TickGap]:
        """Yield gaps that are longer than `limit`, each longer than the one before.

        Skips the ticks between a tick and the last one that follows within `limit`: no gap between
        them is longer.
        """
        end = self._now + GAP_HORIZON
        tick = self._find_next(self._now)
        while tick is not None and tick < end:
            probe = self._find_next(tick + limit / 2)
            if probe is not None and probe <= tick + limit:
                tick = probe
                continue
            following = self._find_next(tick)
            if following is None:
                return
            if following - tick > limit:
                yield TickGap(start=tick, end=following)
                limit, tick = following - tick, following
            else:
                tick = self._find_last_until(following, tick + limit)

    def _find_last_until(self, first: datetime, end: datetime) -> datetime:
        return find_last(
            self._find_next, first, end, at=lambda tick: tick, fits=lambda tick: tick <= end
        )

    def _find_first_gap(self, length: timedelta) -> TickGap | None:
        """Return the first gap if it has exactly this length."""
        try:
            first = self._find_next(self._now)
            second = None if first is None else self._find_next(first)
        except SearchTooLong:
            return None
        if first is None or second is None or second - first != length:
            return None
        return TickGap(start=first, end=second)

    def _check_finish_by(self, condition: FinishBy) -> list[str]:
        if condition.time_of_day is None or self._schedule is None:
            return []
        zone, longest = self._schedule.zone, None
        for tick, following in self._iterate_ticks():
            local = tick.astimezone(zone)
            deadline = compute_finish_deadline(tick, zone, condition)
            by = f"{condition.time_of_day:%H:%M}"
            shown = f"the deadline of the tick at {self._show(tick)} is {self._show(deadline)}"
            if local.time().replace(fold=0) == condition.time_of_day:
                wanted = (
                    f"must be after the tick: {shown}; give a later time, or a duration such as +2h"
                )
                raise InvalidInput(condition.code, by, wanted)
            # A change of the clock moves both by up to an hour.
            is_moved = deadline.astimezone(zone).utcoffset() != local.utcoffset()
            if following is not None and deadline >= following and not is_moved:
                wanted = (
                    f"must be before the next tick: {shown}, but the next tick is at "
                    f"{self._show(following)}; give a duration after the tick, such as +30m"
                )
                raise InvalidInput(condition.code, by, wanted)
            is_next_day = deadline.astimezone(zone).date() != local.date()
            if is_next_day and deadline - tick > LONG_DEADLINE and longest is None:
                after = durations.to_words(deadline - tick)
                longest = (
                    f"finish_by: {shown}, {after} later; give a later time if that is too late"
                )
        return [] if longest is None else [longest]

    def _check_max_duration(self, condition: MaxDuration) -> list[str]:
        limit, timeout = condition.limit, self._timeout
        if limit is None or timeout is None or limit <= timeout:
            return []
        shown, attempt = durations.to_words(limit), durations.to_words(timeout)
        reason = f"an attempt ends after {attempt} (timeout), so only runs with retries exceed it"
        return [f"max_duration: {shown} is too long: {reason}"]

    def _iterate_ticks(self) -> Iterator[tuple[datetime, datetime | None]]:
        """Yield the next ticks, each with the one that follows it."""
        try:
            tick = self._find_next(self._now)
            for _ in range(DEADLINE_TICKS_MAX):
                if tick is None:
                    return
                following = self._find_next(tick)
                yield tick, following
                tick = following
        except SearchTooLong:
            return

    def _find_next(self, after: datetime) -> datetime | None:
        if self._schedule is None:
            return None
        planned = plan_next_tick(
            self._schedule, after, calendars=self._calendars, budget=self._budget
        )
        return None if planned is None else planned.tick.at

    def _describe_gap(self, gap: TickGap) -> str:
        length = durations.to_words(gap.length)
        if self._schedule is not None and isinstance(self._schedule.rules[0], EveryAfterEnd):
            return f"the next run starts {length} after the previous one ended"
        hours = gap.length / timedelta(hours=1)
        shown = f"{hours:g} h" if hours >= 1 and hours == int(hours) else length
        return f"{self._show(gap.start)} to {self._show(gap.end)} is {shown}"

    def _show(self, at: datetime) -> str:
        """Format a time for people, in the zone of the schedule."""
        zone = None if self._schedule is None else self._schedule.zone
        local = at.astimezone(zone)
        seconds = ":%S" if local.second else ""
        return local.strftime(f"%a %Y-%m-%d %H:%M{seconds}")


def _show_value(condition: Condition) -> str:
    match condition:
        case StartWithin():
            return durations.to_words(condition.within)
        case SucceedEvery():
            return durations.to_words(condition.every)
        case FinishBy(after=timedelta() as after):
            return f"+{durations.to_words(after)}"
        case FinishBy():
            return f"{condition.time_of_day:%H:%M}"
        case _:
            return condition.code


def _has_deadline(conditions: Iterable[Condition]) -> bool:
    return any(isinstance(condition, FinishBy) for condition in conditions)
