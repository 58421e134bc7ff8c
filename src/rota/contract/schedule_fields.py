"""Defines the fields of a schedule: types, bounds, defaults and descriptions.

schedule.py reads and writes documents by these structs.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct

from rota.contract.documents import ALLOWED_KEY, FALLBACK_META, describe_type, fields_by_name
from rota.contract.times import Duration, Instant
from rota.contract.trigger import TYPE_ALLOWED, EventType, TriggerDocument
from rota.core.time import durations, moments, zones
from rota.core.time.cron import DayMatch
from rota.core.time.policies import CATCHUP_RUNS_MAX, CatchUp, OnBlackout
from rota.core.time.tick import DstGap, DstOverlap

# Rules that can be combined, each once or as a list, and rules that cannot.
COMBINABLE_RULES: Final = ("cron", "rrule", "every", "at")
SINGLE_RULES: Final = ("after", "fixed_delay", "immediate", "event", "on_demand")
RULE_FIELDS: Final = (*COMBINABLE_RULES, *SINGLE_RULES)
RULES_MAX: Final = 32
# Searching the slowest rule that is accepted takes about 15 ms.
RRULES_MAX: Final = 4
RULE_CHARACTERS_MAX: Final = 8192
CALENDARS_MAX: Final = 16
WINDOW_RUNS_MAX: Final = 1_000_000_000
PACE_ALLOWED: Final = "a rate such as 10/min, 1/s or 100/PT15M"
RULE_LENGTH: Final = f"of 1 to {RULE_CHARACTERS_MAX} characters"
RULE_TEXT_ALLOWED: Final = f"text {RULE_LENGTH}"
CALENDARS_ALLOWED: Final = f"the name of a calendar, or a list of at most {CALENDARS_MAX} names"

RuleText = Annotated[
    str,
    Meta(min_length=1, max_length=RULE_CHARACTERS_MAX, extra={ALLOWED_KEY: RULE_TEXT_ALLOWED}),
]
CalendarName = Annotated[str, Meta(min_length=1, extra={ALLOWED_KEY: "the name of a calendar"})]
RuleList = Meta(min_length=1, max_length=RULES_MAX)
LIST_ALLOWED: Final = f"or a list of 1 to {RULES_MAX}"


class EveryDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Fires at a fixed rate, start to start: at anchor + n · interval."""

    interval: Annotated[Duration, Meta(description="Time between two ticks, at least 1 second.")]
    anchor: Annotated[
        Instant | None,
        Meta(
            description="Instant from which ticks are counted. "
            "Default: the start of `window`, or the second in which the schedule is saved."
        ),
    ] = None


class FixedDelayDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Fires a fixed delay after the end of the previous run."""

    delay: Annotated[
        Duration, Meta(description="Time from the end of a run to the next one, at least 1 second.")
    ]
    anchor: Annotated[
        Instant | None,
        Meta(
            description="Instant from which the first delay is counted. "
            "Default: the start of `window`, or the second in which the schedule is saved."
        ),
    ] = None


class DstDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How local times are handled when the clock changes for daylight saving."""

    gap: Annotated[
        DstGap | None,
        Meta(
            description="A local time that the clock skips: `run_after` runs it at the first "
            "instant after the gap, `shift` runs it later by the length of the gap, `skip` does "
            "not run it. Default: run_after."
        ),
    ] = None
    overlap: Annotated[
        DstOverlap | None,
        Meta(description="Which tick runs when a local time occurs twice. Default: first."),
    ] = None


class JitterDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Delays ticks, so that jobs with the same schedule do not all start at one instant."""

    window: Annotated[
        Duration,
        Meta(description="Upper bound of the delay of a tick, from 1 second to 1 day."),
    ]
    stable: Annotated[
        bool | None,
        Meta(description="Use the same delay for all ticks of the job. Default: false."),
    ] = None


class WindowDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Limits when a schedule is active, and how many runs it creates."""

    start: Annotated[
        Instant | None, Meta(description="No tick before this instant. Default: no start.")
    ] = None
    end: Annotated[
        Instant | None, Meta(description="No tick at or after this instant. Default: no end.")
    ] = None
    max_runs: Annotated[
        Annotated[int, Meta(ge=1, le=WINDOW_RUNS_MAX)] | None,
        Meta(description="The schedule ends after this many runs. Default: no limit."),
    ] = None


CatchUpChoice = Annotated[CatchUp, Meta(extra=FALLBACK_META)]


class MisfireDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How missed ticks are caught up."""

    on_outage: Annotated[
        CatchUpChoice | None,
        Meta(
            description="Ticks that no scheduler fired in time, for example during an outage. "
            "Default: once."
        ),
    ] = None
    on_resume: Annotated[
        CatchUpChoice | None,
        Meta(description="Ticks missed while the job was paused. Default: skip."),
    ] = None
    on_edit: Annotated[
        CatchUpChoice | None,
        Meta(
            description="After an edit: ticks of the new schedule between the last decided tick "
            "and now. Default: skip."
        ),
    ] = None
    start_deadline: Annotated[
        Duration | None,
        Meta(
            description="A tick that is later than this is not run; at least 30 seconds. "
            "Default: no deadline."
        ),
    ] = None
    max_catchup: Annotated[
        Annotated[int, Meta(ge=1, le=CATCHUP_RUNS_MAX)] | None,
        Meta(description="With `all`: run at most this many ticks, the newest. Default: 100."),
    ] = None
    pace: Annotated[
        Annotated[str, Meta(max_length=64, examples=["10/min"])] | None,
        Meta(
            description="Rate at which missed ticks are run, such as `10/min`, `1/s` or "
            "`100/PT15M`. Default: no limit.",
            extra={ALLOWED_KEY: PACE_ALLOWED},
        ),
    ] = None
    late_after: Annotated[
        Duration | None,
        Meta(
            description="A tick that is at most this late counts as on time, from 1 second to "
            "1 day. Default: 1 minute."
        ),
    ] = None


class ScheduleDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """When a job runs. At least one rule is required. `cron`, `rrule`, `every` and `at` can be
    combined: the job runs at the times of all of them. The other rules cannot be combined.
    """

    cron: Annotated[
        RuleText | Annotated[list[RuleText], RuleList] | None,
        Meta(
            description="Cron expression or list of them (docs/reference/cron.md), `@every 90s`, "
            "or `@at` with an instant. Default: none.",
            extra={
                ALLOWED_KEY: f"a cron expression such as 30 2 * * *, {RULE_LENGTH}, {LIST_ALLOWED}"
            },
        ),
    ] = None
    rrule: Annotated[
        RuleText | Annotated[list[RuleText], Meta(min_length=1, max_length=RRULES_MAX)] | None,
        Meta(
            description="Recurrence rule of RFC 5545, or a list of them. Default: none.",
            extra={
                ALLOWED_KEY: f"a rule such as FREQ=MONTHLY;BYDAY=-1FR, {RULE_LENGTH}, "
                f"or a list of 1 to {RRULES_MAX}"
            },
        ),
    ] = None
    every: Annotated[
        Duration | EveryDocument | Annotated[list[Duration | EveryDocument], RuleList] | None,
        Meta(
            description="Fixed rate, start to start; a string is `interval`. Default: none.",
            extra={
                ALLOWED_KEY: f"{durations.DURATION_FORMAT}, an object with interval, anchor, "
                f"{LIST_ALLOWED}"
            },
        ),
    ] = None
    at: Annotated[
        Instant | Annotated[list[Instant], RuleList] | None,
        Meta(
            description="Once, at this instant, or at each instant of a list. Default: none.",
            extra={ALLOWED_KEY: f"{moments.INSTANT_FORMAT}, {LIST_ALLOWED}"},
        ),
    ] = None
    after: Annotated[
        Duration | None,
        Meta(
            description="Once, this long after the schedule is saved; stored as `at`. "
            "Default: none."
        ),
    ] = None
    fixed_delay: Annotated[
        Duration | FixedDelayDocument | None,
        Meta(
            description="Fixed delay after the previous run finished; a string is `delay`. "
            "Default: none."
        ),
    ] = None
    immediate: Annotated[bool | None, Meta(description="Once, immediately. Default: none.")] = None
    event: Annotated[
        EventType | TriggerDocument | None,
        Meta(
            description="When events arrive; a string is `type`. Default: none.",
            extra={ALLOWED_KEY: f"{TYPE_ALLOWED}; or {describe_type(TriggerDocument)}"},
        ),
    ] = None
    on_demand: Annotated[
        bool | None, Meta(description="Only when triggered by a user or a program. Default: none.")
    ] = None
    timezone: Annotated[
        Annotated[str, Meta(min_length=1, max_length=zones.ZONE_NAME_CHARACTERS_MAX)] | None,
        Meta(
            description="IANA time zone of local times. "
            "Default: the zone inside a rule, otherwise UTC.",
            extra={ALLOWED_KEY: "an IANA zone name such as Europe/Berlin"},
        ),
    ] = None
    day_match: Annotated[
        DayMatch | None,
        Meta(
            description="If a cron expression has both a day of the month and a day of the week: "
            "whether `any` or `all` of them must match. Default: any."
        ),
    ] = None
    dst: Annotated[
        DstDocument | None,
        Meta(
            description="How daylight-saving changes are handled. "
            "Default: gap run_after, overlap first."
        ),
    ] = None
    calendars: Annotated[
        CalendarName | Annotated[list[CalendarName], Meta(max_length=CALENDARS_MAX)] | None,
        Meta(
            description="Names of calendars whose windows are blackouts. Default: none.",
            extra={ALLOWED_KEY: CALENDARS_ALLOWED},
        ),
    ] = None
    on_blackout: Annotated[
        OnBlackout | None,
        Meta(
            description="What to do with a tick in a blackout: do not run it (`skip`), run it "
            "after the blackout (`defer`) or before it (`advance`). Default: skip."
        ),
    ] = None
    jitter: Annotated[
        Duration | JitterDocument | None,
        Meta(
            description="Random delay of each tick, to spread load; a string is `window`. "
            "Default: no delay."
        ),
    ] = None
    window: Annotated[
        WindowDocument | None,
        Meta(description="When the schedule is active. Default: always."),
    ] = None
    misfire: Annotated[
        MisfireDocument | None,
        Meta(
            description="How missed ticks are caught up. "
            "Default: one run after an outage, none after a pause or an edit."
        ),
    ] = None


OPTION_FIELDS: Final = tuple(
    name for name in fields_by_name(ScheduleDocument) if name not in RULE_FIELDS
)
