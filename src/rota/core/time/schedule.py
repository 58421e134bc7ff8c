"""A schedule: the rules that make ticks, with their zone, bounds and policies.

Room: core/time. The value, and the nominal ticks that its rules make together. Blackouts, jitter
and the run cap come on top in planning.py; documents are contract/schedule.py. Nothing here reads a
clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import assert_never
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidSchedule
from rota.core.time import cron, moments, rrule, zones
from rota.core.time.budget import SearchBudget
from rota.core.time.cron import Cron
from rota.core.time.interval import Every, EveryAfterEnd
from rota.core.time.jitter import Jitter
from rota.core.time.policies import Misfire, OnBlackout, Window
from rota.core.time.rrule import Rrule
from rota.core.time.tick import DstGap, DstOverlap, Tick
from rota.core.time.trigger import Trigger

# The smallest step of a datetime: "from this instant on" is "after the one before".
STEP = timedelta(microseconds=1)
# Eight years hold a 29 February even around 2100, which is not a leap year.
HORIZON = timedelta(days=8 * 366)


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """One tick, at an instant (S2; S3 once its delay is added to the time of creation)."""

    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Immediate:
    """No ticks: the only run is written together with the job (S1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnEvent:
    """No ticks: a run is made when events arrive that it waits for (S7)."""

    trigger: Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDemand:
    """No ticks: a run is made when somebody asks for it (S8)."""


TimeRule = Cron | Rrule | Every | Once
Rule = TimeRule | EveryAfterEnd | Immediate | OnEvent | OnDemand
TICKLESS = (Immediate, OnEvent, OnDemand)
ALWAYS = Window()
USUAL = Misfire()


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """`seed` is what the job is called for ever (tenant and name, or its id): it decides the
    values of a cron `H` and the offsets of the jitter. `unread` has the stored fields that only
    newer code knows (core/documents.py). `zone` and `simple` follow from the rest.
    """

    rules: tuple[Rule, ...]
    timezone: str = "UTC"
    gap: DstGap = DstGap.RUN_AFTER
    overlap: DstOverlap = DstOverlap.FIRST
    window: Window = ALWAYS
    jitter: Jitter | None = None
    calendars: tuple[str, ...] = ()
    on_blackout: OnBlackout = OnBlackout.SKIP
    misfire: Misfire = USUAL
    seed: str = ""
    unread: Mapping[str, object] = field(default_factory=dict, hash=False, repr=False)
    zone: ZoneInfo = field(init=False, compare=False, repr=False)
    simple: Cron | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        plain = self.window == ALWAYS and self.jitter is None and not self.calendars
        only = self.rules[0] if plain and len(self.rules) == 1 else None
        object.__setattr__(self, "zone", zones.zone(self.timezone))
        object.__setattr__(self, "simple", only if isinstance(only, Cron) else None)

    @property
    def has_ticks(self) -> bool:
        return not isinstance(self.rules[0], TICKLESS)

    @property
    def is_quick(self) -> bool:
        """Whether a search for ticks takes microseconds: one rule, not an RRULE, no calendars."""
        return len(self.rules) == 1 and not self.calendars and not isinstance(self.rules[0], Rrule)

    @property
    def trigger(self) -> Trigger | None:
        """The events that it waits for, if it does."""
        first = self.rules[0]
        return first.trigger if isinstance(first, OnEvent) else None

    @property
    def follows_end(self) -> bool:
        """Whether the next tick depends on when the last run ended (S6)."""
        return isinstance(self.rules[0], EveryAfterEnd)

    @property
    def depends_on_seed(self) -> bool:
        """Whether two jobs with this schedule may have different ticks.

        An `h` in a cron expression is an `H`, or part of a name such as THU: then the answer is
        wrong on the safe side. The same test keeps the readings of cron apart (cron/syntax.py).
        """
        return self.jitter is not None or any(
            isinstance(rule, Cron) and "h" in rule.text.lower() for rule in self.rules
        )

    @property
    def interval_like(self) -> bool:
        """Whether it follows elapsed time, so that a change of clocks moves nothing."""
        return not any(
            isinstance(rule, Cron | Rrule) and not rule.interval_like for rule in self.rules
        )


class NominalTicks:
    """The ticks that the rules of a schedule make together, before calendars.

    It remembers the last answer of each rule, so a search that passes over many ticks asks only the
    rules whose tick it has passed. `last_end` and `fired` matter to a fixed delay only.
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
        # Of each rule: after which instant it was asked, and its first tick after that.
        self._answers: list[tuple[datetime, Tick | None] | None] = [None] * len(schedule.rules)

    def after(self, after: datetime) -> Tick | None:
        """The first tick of any rule with `at` > `after`, inside the window."""
        window = self._schedule.window
        if window.start is not None and after < window.start:
            after = window.start - STEP
        best: Tick | None = None
        for place in range(len(self._answers)):
            tick = self._tick_of(place, after)
            if tick is not None and (best is None or tick.at < best.at):
                best = tick
        return _checked(best, after, window)

    def _tick_of(self, place: int, after: datetime) -> Tick | None:
        answer, rule = self._answers[place], self._schedule.rules[place]
        if answer is not None and not isinstance(rule, EveryAfterEnd):
            asked, tick = answer
            if asked <= after and (tick is None or after < tick.at):
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


def nominal(
    schedule: Schedule,
    after: datetime,
    *,
    last_end: datetime | None = None,
    fired: int = 0,
    budget: SearchBudget | None = None,
) -> Tick | None:
    """The first tick of any rule with `at` > `after`, inside the window, before calendars."""
    window = schedule.window
    if window.start is not None and after < window.start:
        after = window.start - STEP
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
        # A scheduler that gets the same answer twice fires for ever; it must stop here instead.
        wanted = f"a tick later than {moments.rfc3339(after)}"
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
            return cron.next_tick(
                rule, schedule.zone, after, gap=schedule.gap, overlap=schedule.overlap
            )
        case Rrule():
            return rrule.next_tick(
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
    """The tick of a rule that knows only instants; the local time is what the wall then shows."""
    return Tick(at=at.astimezone(UTC), local=at.astimezone(zone).replace(tzinfo=None))


def check(schedule: Schedule, now: datetime) -> Schedule:
    """Refuse, before it is saved, a schedule with a rule that would never fire."""
    window = schedule.window
    if window.end is not None and window.end <= now:
        raise InvalidSchedule("window.end", moments.rfc3339(window.end), "an end in the future")
    if not schedule.has_ticks:
        return schedule
    since = now if window.start is None else max(now, window.start - STEP)
    budget = SearchBudget()
    for rule in schedule.rules:
        tick = _next_of(schedule, rule, since, last_end=None, fired=0, budget=budget)
        if tick is None or tick.at - now > HORIZON:
            raise InvalidSchedule(*_said(rule), "a tick in the next 8 years; it would never fire")
        if window.end is not None and tick.at >= window.end:
            wanted = f"a tick before the window's end, {moments.rfc3339(window.end)}"
            raise InvalidSchedule(*_said(rule), wanted)
    return schedule


def _said(rule: Rule) -> tuple[str, object]:
    """The field and the value to name in an error."""
    match rule:
        case Cron():
            return "cron", rule.text
        case Rrule():
            return "rrule", rule.text
        case Once():
            return "at", moments.rfc3339(rule.at)
        case Every():
            return "every", str(rule.interval)
        case _:
            return "schedule", type(rule).__name__
