"""A schedule: the rules that make ticks, with their zone, bounds and policies.

Room: core/time. The value, and the nominal ticks that its rules make together. Blackouts, jitter
and the run cap come on top in planning.py; text and JSON are plain.py. Nothing here reads a clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import assert_never
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidSchedule
from rota.core.time import cron, moments, rrule, zones
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
    def trigger(self) -> Trigger | None:
        """The events that it waits for, if it does."""
        first = self.rules[0]
        return first.trigger if isinstance(first, OnEvent) else None

    @property
    def follows_end(self) -> bool:
        """Whether the next tick depends on when the last run ended (S6)."""
        return isinstance(self.rules[0], EveryAfterEnd)

    @property
    def interval_like(self) -> bool:
        """Whether it follows elapsed time, so that a change of clocks moves nothing."""
        return not any(
            isinstance(rule, Cron | Rrule) and not rule.interval_like for rule in self.rules
        )


def nominal(
    schedule: Schedule, after: datetime, *, last_end: datetime | None = None, fired: int = 0
) -> Tick | None:
    """The first tick of any rule with `at` > `after`, inside the window, before calendars."""
    window = schedule.window
    if window.start is not None and after < window.start:
        after = window.start - STEP
    best: Tick | None = None
    for rule in schedule.rules:
        tick = _next_of(schedule, rule, after, last_end=last_end, fired=fired)
        if tick is not None and (best is None or tick.at < best.at):
            best = tick
    if best is None or (window.end is not None and best.at >= window.end):
        return None
    if best.at <= after:
        # A scheduler that gets the same answer twice fires for ever; it must stop here instead.
        wanted = f"a tick later than {moments.rfc3339(after)}"
        raise InvalidSchedule(field="schedule", value=best.at, wanted=wanted)
    return best


def _next_of(
    schedule: Schedule, rule: Rule, after: datetime, *, last_end: datetime | None, fired: int
) -> Tick | None:
    match rule:
        case Cron():
            return cron.next_tick(
                rule, schedule.zone, after, gap=schedule.gap, overlap=schedule.overlap
            )
        case Rrule():
            return rrule.next_tick(
                rule, schedule.zone, after, gap=schedule.gap, overlap=schedule.overlap
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
    for rule in schedule.rules:
        tick = _next_of(schedule, rule, since, last_end=None, fired=0)
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
