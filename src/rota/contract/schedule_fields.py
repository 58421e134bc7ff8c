"""The fields of a schedule: types, bounds, defaults and descriptions. Room: contract.

schedule.py reads and writes documents by these structs.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct

from rota.contract.documents import ALLOWED, FALLBACK, describe_type, fields_by_name
from rota.contract.times import Duration, Instant
from rota.contract.trigger import TYPE_ALLOWED, EventType, TriggerDocument
from rota.core.time import durations, moments, zones
from rota.core.time.cron import DayMatch
from rota.core.time.policies import CATCHUP_MAX, CatchUp, OnBlackout
from rota.core.time.tick import DstGap, DstOverlap

# Rules that may stand together, each once or as a list, and rules that stand alone.
UNITED_RULES: Final = ("cron", "rrule", "every", "at")
SINGLE_RULES: Final = ("after", "fixed_delay", "immediate", "event", "on_demand")
RULES: Final = (*UNITED_RULES, *SINGLE_RULES)
RULES_MAX: Final = 32
# The hardest rule that is accepted takes some 15 ms to search.
RRULES_MAX: Final = 4
RULE_CHARACTERS_MAX: Final = 8192
CALENDARS_MAX: Final = 16
WINDOW_RUNS_MAX: Final = 1_000_000_000
PACE_ALLOWED: Final = "runs per time such as 10/min, 1/s or 100/PT15M"
RULE_LENGTH: Final = f"of 1 to {RULE_CHARACTERS_MAX} characters"
RULE_TEXT_ALLOWED: Final = f"a text {RULE_LENGTH}"
CALENDARS_ALLOWED: Final = f"the name of a calendar, or a list of at most {CALENDARS_MAX} names"

RuleText = Annotated[
    str,
    Meta(min_length=1, max_length=RULE_CHARACTERS_MAX, extra={ALLOWED: RULE_TEXT_ALLOWED}),
]
CalendarName = Annotated[str, Meta(min_length=1, extra={ALLOWED: "the name of a calendar"})]
RuleList = Meta(min_length=1, max_length=RULES_MAX)
LIST_ALLOWED: Final = f"or a list of 1 to {RULES_MAX}"


class EveryDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A fixed rate, start to start: anchor + n · interval."""

    interval: Annotated[Duration, Meta(description="The distance of two ticks, at least 1 second.")]
    anchor: Annotated[
        Instant | None,
        Meta(
            description="The instant that ticks are counted from. "
            "Default: the start of `window`, or the second in which the schedule is saved."
        ),
    ] = None


class FixedDelayDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A fixed delay after the end of the last run."""

    delay: Annotated[
        Duration, Meta(description="The time from the end of a run to the next, at least 1 second.")
    ]
    anchor: Annotated[
        Instant | None,
        Meta(
            description="The instant that stands for the end of a run before the first. "
            "Default: the start of `window`, or the second in which the schedule is saved."
        ),
    ] = None


class DstDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What happens to local times when clocks change."""

    gap: Annotated[
        DstGap | None,
        Meta(
            description="A local time that the clock jumps over: `run_after` runs it at the first "
            "instant after the jump, `shift` the same minutes later, `skip` not at all. "
            "Default: run_after."
        ),
    ] = None
    overlap: Annotated[
        DstOverlap | None,
        Meta(description="Which of two equal local times runs. Default: first."),
    ] = None


class JitterDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A delay that spreads ticks which would otherwise start at one instant."""

    window: Annotated[
        Duration,
        Meta(description="The offset of a tick is below this, from 1 second to 1 day."),
    ]
    stable: Annotated[
        bool | None, Meta(description="Use one offset for all ticks of the job. Default: false.")
    ] = None


class WindowDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """When a schedule is valid, and how many runs it makes."""

    start: Annotated[
        Instant | None, Meta(description="The first instant of a tick. Default: no start.")
    ] = None
    end: Annotated[
        Instant | None, Meta(description="The instant before which ticks lie. Default: no end.")
    ] = None
    max_runs: Annotated[
        Annotated[int, Meta(ge=1, le=WINDOW_RUNS_MAX)] | None,
        Meta(description="The schedule ends after so many runs. Default: no limit."),
    ] = None


CatchUpChoice = Annotated[CatchUp, Meta(extra=FALLBACK)]


class MisfireDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What happens to ticks that did not run in time."""

    on_outage: Annotated[
        CatchUpChoice | None,
        Meta(description="Ticks that no scheduler decided in time. Default: once."),
    ] = None
    on_resume: Annotated[
        CatchUpChoice | None,
        Meta(description="Ticks that were due while the job was paused. Default: skip."),
    ] = None
    on_edit: Annotated[
        CatchUpChoice | None,
        Meta(
            description="Ticks that the new schedule would have had since the last decided tick. "
            "Default: skip."
        ),
    ] = None
    start_deadline: Annotated[
        Duration | None,
        Meta(
            description="A tick that is later than this never runs; at least 30 seconds. "
            "Default: no deadline."
        ),
    ] = None
    max_catchup: Annotated[
        Annotated[int, Meta(ge=1, le=CATCHUP_MAX)] | None,
        Meta(description="With `all`: the newest so many ticks run. Default: 100."),
    ] = None
    pace: Annotated[
        Annotated[str, Meta(max_length=64, examples=["10/min"])] | None,
        Meta(
            description="The rate at which missed ticks are run: `10/min`, `1/s`, `100/PT15M`. "
            "Default: all at once.",
            extra={ALLOWED: PACE_ALLOWED},
        ),
    ] = None
    late_after: Annotated[
        Duration | None,
        Meta(
            description="A tick that is at most this late is on time, from 1 second to 1 day. "
            "Default: 1 minute."
        ),
    ] = None


class ScheduleDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """When a job runs. One rule is required; `cron`, `rrule`, `every` and `at` may stand together
    and mean their union, the other rules stand alone.
    """

    cron: Annotated[
        RuleText | Annotated[list[RuleText], RuleList] | None,
        Meta(
            description="Cron expressions (docs/reference/cron.md), `@every 90s` or `@at` with an "
            "instant. Default: another rule.",
            extra={ALLOWED: f"a cron expression such as 30 2 * * *, {RULE_LENGTH}, {LIST_ALLOWED}"},
        ),
    ] = None
    rrule: Annotated[
        RuleText | Annotated[list[RuleText], Meta(min_length=1, max_length=RRULES_MAX)] | None,
        Meta(
            description="Recurrence rules of RFC 5545. Default: another rule.",
            extra={
                ALLOWED: f"a rule such as FREQ=MONTHLY;BYDAY=-1FR, {RULE_LENGTH}, "
                f"or a list of 1 to {RRULES_MAX}"
            },
        ),
    ] = None
    every: Annotated[
        Duration | EveryDocument | Annotated[list[Duration | EveryDocument], RuleList] | None,
        Meta(
            description="A fixed rate, start to start; a text is `interval`. "
            "Default: another rule.",
            extra={ALLOWED: f"{durations.WANTED}, an object with interval, anchor, {LIST_ALLOWED}"},
        ),
    ] = None
    at: Annotated[
        Instant | Annotated[list[Instant], RuleList] | None,
        Meta(
            description="Once, at an instant; or at each of a list. Default: another rule.",
            extra={ALLOWED: f"{moments.WANTED}, {LIST_ALLOWED}"},
        ),
    ] = None
    after: Annotated[
        Duration | None,
        Meta(
            description="Once, that long after the schedule is saved; stored as `at`. "
            "Default: another rule."
        ),
    ] = None
    fixed_delay: Annotated[
        Duration | FixedDelayDocument | None,
        Meta(
            description="That long after the last run ended; a text is `delay`. "
            "Default: another rule."
        ),
    ] = None
    immediate: Annotated[
        bool | None, Meta(description="Once, right away. Default: another rule.")
    ] = None
    event: Annotated[
        EventType | TriggerDocument | None,
        Meta(
            description="When events arrive; a text is `type`. Default: another rule.",
            extra={ALLOWED: f"{TYPE_ALLOWED}; or {describe_type(TriggerDocument)}"},
        ),
    ] = None
    on_demand: Annotated[
        bool | None, Meta(description="Only when a person or program asks. Default: another rule.")
    ] = None
    timezone: Annotated[
        Annotated[str, Meta(min_length=1, max_length=zones.NAME_LIMIT)] | None,
        Meta(
            description="The IANA name of the zone that local times are in. "
            "Default: the zone inside a rule, or UTC.",
            extra={ALLOWED: "a text: an IANA zone name such as Europe/Berlin"},
        ),
    ] = None
    day_match: Annotated[
        DayMatch | None,
        Meta(
            description="Whether `any` or `all` of a cron expression's day of the month and day "
            "of the week must match, if it gives both. Default: any."
        ),
    ] = None
    dst: Annotated[
        DstDocument | None,
        Meta(description="What happens when clocks change. Default: run_after, first."),
    ] = None
    calendars: Annotated[
        CalendarName | Annotated[list[CalendarName], Meta(max_length=CALENDARS_MAX)] | None,
        Meta(
            description="Names of calendars in whose blackouts nothing starts. Default: none.",
            extra={ALLOWED: CALENDARS_ALLOWED},
        ),
    ] = None
    on_blackout: Annotated[
        OnBlackout | None,
        Meta(
            description="A tick in a blackout does not run (`skip`), runs after it (`defer`) or "
            "before it (`advance`). Default: skip."
        ),
    ] = None
    jitter: Annotated[
        Duration | JitterDocument | None,
        Meta(
            description="Delays each tick by an offset that spreads jobs; a text is `window`. "
            "Default: no delay."
        ),
    ] = None
    window: Annotated[
        WindowDocument | None,
        Meta(description="When the schedule is valid. Default: always."),
    ] = None
    misfire: Annotated[
        MisfireDocument | None,
        Meta(
            description="What happens to ticks that did not run in time. "
            "Default: after an outage the latest runs, once."
        ),
    ] = None


OPTIONS: Final = tuple(name for name in fields_by_name(ScheduleDocument) if name not in RULES)
