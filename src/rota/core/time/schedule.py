"""Defines a schedule (rules with their zone, bounds and policies) and finds its nominal ticks.

planning.py applies blackouts, jitter and the run cap; contract/schedule.py reads and writes
documents. Nothing here reads a clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import assert_never
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidSchedule
from rota.core.time import cron, moments, rrule, zones
from rota.core.time.budget import SearchBudget
from rota.core.time.cron import Cron, uses_hash
from rota.core.time.interval import Every, EveryAfterEnd
from rota.core.time.jitter import TickJitter
from rota.core.time.policies import MisfirePolicy, OnBlackout, Window
from rota.core.time.rrule import Rrule
from rota.core.time.tick import DstGap, DstOverlap, Tick
from rota.core.time.trigger import Trigger

# The resolution of a datetime: "at or after t" is "after t - 1 µs".
MICROSECOND = timedelta(microseconds=1)
# Eight years include a 29 February even around 2100, which is not a leap year.
SEARCH_HORIZON = timedelta(days=8 * 366)


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """One tick at an instant (S2, and S3 after its delay is added to the creation time)."""

    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Immediate:
    """No ticks: the single run is inserted together with the job (S1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnEvent:
    """No ticks: matching events create runs (S7)."""

    trigger: Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDemand:
    """No ticks: callers create runs on demand (S8)."""


TimeRule = Cron | Rrule | Every | Once
Rule = TimeRule | EveryAfterEnd | Immediate | OnEvent | OnDemand
TICKLESS_RULES = (Immediate, OnEvent, OnDemand)
UNBOUNDED_WINDOW = Window()
DEFAULT_MISFIRE = MisfirePolicy()


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a job runs.

    `seed` is the job's permanent identity (tenant and name, or its id): it determines the values of
    a cron `H` and the jitter offsets. `unread` holds stored fields that only newer code knows
    (core/stored_documents.py). `zone` and `simple` are derived from the other fields.
    """

    rules: tuple[Rule, ...]
    timezone: str = "UTC"
    gap: DstGap = DstGap.RUN_AFTER
    overlap: DstOverlap = DstOverlap.FIRST
    window: Window = UNBOUNDED_WINDOW
    jitter: TickJitter | None = None
    calendars: tuple[str, ...] = ()
    on_blackout: OnBlackout = OnBlackout.SKIP
    misfire: MisfirePolicy = DEFAULT_MISFIRE
    seed: str = ""
    unread: Mapping[str, object] = field(default_factory=dict, hash=False, repr=False)
    zone: ZoneInfo = field(init=False, compare=False, repr=False)
    simple_cron: Cron | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        plain = self.window == UNBOUNDED_WINDOW and self.jitter is None and not self.calendars
        only = self.rules[0] if plain and len(self.rules) == 1 else None
        object.__setattr__(self, "zone", zones.get_zone(self.timezone))
        object.__setattr__(self, "simple_cron", only if isinstance(only, Cron) else None)

    @property
    def has_ticks(self) -> bool:
        return not isinstance(self.rules[0], TICKLESS_RULES)

    @property
    def is_quick(self) -> bool:
        """Whether a search takes microseconds: one rule, no RRULE, no calendars."""
        return len(self.rules) == 1 and not self.calendars and not isinstance(self.rules[0], Rrule)

    @property
    def trigger(self) -> Trigger | None:
        """The events that start the job, if any."""
        first = self.rules[0]
        return first.trigger if isinstance(first, OnEvent) else None

    @property
    def follows_end(self) -> bool:
        """Whether the next tick depends on when the last run ended (S6)."""
        return isinstance(self.rules[0], EveryAfterEnd)

    @property
    def depends_on_seed(self) -> bool:
        """Whether the ticks depend on the job: its jitter, or an `H` in a cron expression."""
        return self.jitter is not None or any(
            isinstance(rule, Cron) and uses_hash(rule.text) for rule in self.rules
        )

    @property
    def interval_like(self) -> bool:
        """Whether it follows elapsed time, so that clock changes do not move its ticks."""
        return not any(
            isinstance(rule, Cron | Rrule) and not rule.interval_like for rule in self.rules
        )


class NominalTicks:
    """Searches the combined ticks of a schedule's rules, before calendars apply.

    It caches the last tick of each rule, so a search that skips many ticks evaluates only the rules
    whose tick it has passed. Only a fixed delay uses `last_end` and `fired`.
    """

    __slots__ = ("_answers", "_budget", "_fired", "_last_end", "_schedule")

    def __init__(
        self,
        schedule: Schedule,
        *,
        last_end: datetime | None = None,
        fired: int = 0,
        budget: SearchBudget | None = None,
    ) -> None:
        self._schedule = schedule
        self._last_end = last_end
        self._fired = fired
        self._budget = budget
        # Per rule: the instant of the last search, and the first tick after it.
        self._answers: list[tuple[datetime, Tick | None] | None] = [None] * len(schedule.rules)

    def next_after(self, after: datetime) -> Tick | None:
        """Return the first tick of any rule with `at` > `after`, inside the window."""
        window = self._schedule.window
        if window.start is not None and after < window.start:
            after = window.start - MICROSECOND
        best: Tick | None = None
        for place in range(len(self._answers)):
            tick = self._tick_of(place, after)
            if tick is not None and (best is None or tick.at < best.at):
                best = tick
        return _checked(best, after, window)

    def _tick_of(self, place: int, after: datetime) -> Tick | None:
        answer, rule = self._answers[place], self._schedule.rules[place]
        if answer is not None and not isinstance(rule, EveryAfterEnd):
            searched_after, tick = answer
            if searched_after <= after and (tick is None or after < tick.at):
                return tick
        tick = _next_of(
            self._schedule,
            rule,
            after,
            last_end=self._last_end,
            fired=self._fired,
            budget=self._budget,
        )
        self._answers[place] = (after, tick)
        return tick


def next_nominal_tick(
    schedule: Schedule,
    after: datetime,
    *,
    last_end: datetime | None = None,
    fired: int = 0,
    budget: SearchBudget | None = None,
) -> Tick | None:
    """Return the first tick of any rule with `at` > `after` in the window, before calendars."""
    window = schedule.window
    if window.start is not None and after < window.start:
        after = window.start - MICROSECOND
    best: Tick | None = None
    for rule in schedule.rules:
        tick = _next_of(schedule, rule, after, last_end=last_end, fired=fired, budget=budget)
        if tick is not None and (best is None or tick.at < best.at):
            best = tick
    return _checked(best, after, window)


def _checked(best: Tick | None, after: datetime, window: Window) -> Tick | None:
    if best is None or (window.end is not None and best.at >= window.end):
        return None
    if best.at <= after:
        # If a tick repeated, the scheduler would fire it forever; fail here instead.
        wanted = f"expected a tick later than {moments.to_rfc3339(after)}"
        raise InvalidSchedule(field="schedule", value=best.at, wanted=wanted)
    return best


def _next_of(
    schedule: Schedule,
    rule: Rule,
    after: datetime,
    *,
    last_end: datetime | None,
    fired: int,
    budget: SearchBudget | None = None,
) -> Tick | None:
    if budget is not None:
        budget.spend()
    match rule:
        case Cron():
            return cron.find_next_tick(
                rule, schedule.zone, after, gap=schedule.gap, overlap=schedule.overlap
            )
        case Rrule():
            return rrule.find_next_tick(
                rule,
                schedule.zone,
                after,
                gap=schedule.gap,
                overlap=schedule.overlap,
                budget=budget,
            )
        case Every():
            at: datetime | None = rule.next_at(after)
        case EveryAfterEnd():
            at = rule.next_at(after, last_end=last_end, fired=fired)
        case Once():
            at = rule.at if rule.at > after else None
        case Immediate() | OnEvent() | OnDemand():
            at = None
        case _:
            assert_never(rule)
    return None if at is None else elapsed_tick(at, schedule.zone)


def elapsed_tick(at: datetime, zone: ZoneInfo) -> Tick:
    """Return the tick of a rule that works with instants; `local` is the wall-clock time then."""
    return Tick(at=at.astimezone(UTC), local=at.astimezone(zone).replace(tzinfo=None))


def check_schedule(schedule: Schedule, now: datetime) -> Schedule:
    """Reject a schedule with a rule that would never fire, before it is saved."""
    window = schedule.window
    if window.end is not None and window.end <= now:
        raise InvalidSchedule("window.end", moments.to_rfc3339(window.end), "must be in the future")
    if not schedule.has_ticks:
        return schedule
    since = now if window.start is None else max(now, window.start - MICROSECOND)
    budget = SearchBudget()
    for rule in schedule.rules:
        tick = _next_of(schedule, rule, since, last_end=None, fired=0, budget=budget)
        if tick is None or tick.at - now > SEARCH_HORIZON:
            wanted = "no tick within 8 years, so the schedule would never fire"
            raise InvalidSchedule(*_field_and_value(rule), wanted)
        if window.end is not None and tick.at >= window.end:
            wanted = f"expected a tick before the window's end, {moments.to_rfc3339(window.end)}"
            raise InvalidSchedule(*_field_and_value(rule), wanted)
    return schedule


def _field_and_value(rule: Rule) -> tuple[str, object]:
    """Return the field and the value that an error names."""
    match rule:
        case Cron():
            return "cron", rule.text
        case Rrule():
            return "rrule", rule.text
        case Once():
            return "at", moments.to_rfc3339(rule.at)
        case Every():
            return "every", str(rule.interval)
        case _:
            return "schedule", type(rule).__name__
