"""Defines the documents of expectations: `expect` and `alert` of a job, rules and routes.

expectation_values.py converts them into the values of core/alerts.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from rota.contract.documents import ALLOWED_KEY, FALLBACK_META
from rota.contract.field_types import Duration, Labels, Name
from rota.core.submissions import LABELS_MAX

RULES_PER_TENANT_MAX: Final = 200
ROUTES_PER_TENANT_MAX: Final = 50
ROUTE_STEPS_MAX: Final = 10
CHANNELS_PER_STEP_MAX: Final = 10
STREAK_MAX: Final = 1_000
COUNT_MAX: Final = 100_000
CLEAR_MAX: Final = 100
FINISH_BY_FORMAT: Final = (
    'a time of day such as "06:00" (in quotes in YAML), or a duration after the tick such as '
    '"+3h30m"'
)
SHARE_FORMAT: Final = "a percentage such as 10%, or a number above 0 and at most 1"

SeverityName = Literal["info", "warning", "page"]
Share = Annotated[
    float | Annotated[str, Meta(min_length=2, max_length=16)],
    Meta(extra={ALLOWED_KEY: SHARE_FORMAT}),
]
Pattern = Annotated[str, Meta(min_length=1, max_length=200)]
Count = Annotated[int, Meta(ge=1, le=COUNT_MAX)]


class SubjectMatch(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which subjects a rule or a silence applies to. All given fields must match; without any, all
    jobs match. `*` in a pattern stands for any characters.
    """

    job: Annotated[Pattern | None, Meta(description="Pattern of job names. Default: any.")] = None
    step: Annotated[
        Pattern | None,
        Meta(description="Pattern of step names of graphs. Default: no steps."),
    ] = None
    task: Annotated[
        Pattern | None, Meta(description="Pattern of tasks (the kind of a job). Default: any.")
    ] = None
    queue: Annotated[Pattern | None, Meta(description="Pattern of queue names. Default: any.")] = (
        None
    )
    labels: Annotated[
        Annotated[Labels, Meta(max_length=LABELS_MAX)],
        Meta(description="Labels that the job must have. Default: any."),
    ] = {}


class AtRiskDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Warns before `finish_by` is missed."""

    probability: Annotated[
        Share,
        Meta(
            description="Warn if the probability of finishing in time is below this. Default: 20%."
        ),
    ] = 0.2


class MaxDurationDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A limit that follows the job's own history."""

    times: Annotated[
        Annotated[float, Meta(ge=1, le=100)],
        Meta(description="Multiple of the 95th percentile of its recent successful runs."),
    ]
    at_least: Annotated[
        Duration | None, Meta(description="Never alert below this duration. Default: 1 minute.")
    ] = None


class FailuresDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How many failures are too many: a streak, a rate, or both."""

    streak: Annotated[
        Annotated[int, Meta(ge=1, le=STREAK_MAX)] | None,
        Meta(description="Alert at this many failed runs in a row. Default: no limit."),
    ] = None
    rate: Annotated[
        Share | None,
        Meta(description="Alert at this share of failed runs. Default: no limit."),
    ] = None
    over: Annotated[
        Duration | None, Meta(description="Window of `rate`, at most 30 days. Default: 1 hour.")
    ] = None
    at_least: Annotated[
        Count | None,
        Meta(description="Judge `rate` only if this many runs ended in the window. Default: 20."),
    ] = None


class DeadLettersDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How many new dead letters with the same error are too many."""

    count: Annotated[Count, Meta(description="Number of dead letters. Default: 1.")] = 1
    over: Annotated[
        Duration | None, Meta(description="Within this time, at most 30 days. Default: 1 hour.")
    ] = None


class ExpectDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What must hold for the runs of a job. Each field is a condition of its own."""

    start_within: Annotated[
        Duration | None,
        Meta(description="Each tick's run starts within this time after its tick. Default: none."),
    ] = None
    finish_by: Annotated[
        Annotated[
            str,
            Meta(min_length=2, max_length=64, extra={ALLOWED_KEY: FINISH_BY_FORMAT}),
        ]
        | None,
        Meta(
            description="Each tick's run succeeds by this time of day in the job's zone, the first "
            "one after the tick (`06:00`), or within a duration after the tick (`+3h30m`). "
            "Default: none."
        ),
    ] = None
    at_risk: Annotated[
        bool | AtRiskDraft | None,
        Meta(description="Warn before `finish_by` is missed. Default: false."),
    ] = None
    succeed_every: Annotated[
        Duration | None,
        Meta(
            description="The newest successful tick is at most this old; must not be shorter than "
            "the longest gap between two ticks. Default: none."
        ),
    ] = None
    max_duration: Annotated[
        Duration | MaxDurationDraft | None,
        Meta(
            description="A run lasts at most this long, or a multiple of its own history. "
            "Default: none."
        ),
    ] = None
    failures: Annotated[
        FailuresDraft | None,
        Meta(description="Failures in a row, or share of failures. Default: none."),
    ] = None
    dead_letters: Annotated[
        Count | DeadLettersDraft | None,
        Meta(description="New dead letters with the same error. Default: none."),
    ] = None
    missed_ticks: Annotated[
        Annotated[int, Meta(ge=1, le=STREAK_MAX)] | None,
        Meta(description="Missed ticks in a row. Default: none."),
    ] = None


class RuleCondition(ExpectDraft, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The condition of a rule: exactly one field."""

    no_worker: Annotated[
        Duration | None,
        Meta(
            description="A queue with waiting runs has a worker at the latest after this time. "
            "Default: none."
        ),
    ] = None
    oldest_wait: Annotated[
        Duration | None,
        Meta(description="No run of a queue waits longer than this. Default: none."),
    ] = None
    lag: Annotated[
        Duration | None,
        Meta(
            description="Ticks are fired at most this late. Needs the role platform. Default: none."
        ),
    ] = None


class AlertDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How violations are reported."""

    to: Annotated[
        Name | None,
        Meta(description="Name of a route or a channel. Default: the default channels."),
    ] = None
    severity: Annotated[
        Annotated[SeverityName, Meta(extra=FALLBACK_META)] | None,
        Meta(description="How urgent an incident is; `page` may wake people. Default: `warning`."),
    ] = None
    hold_for: Annotated[
        Duration | None,
        Meta(
            description="How long a violation must last before an incident opens, at most a day. "
            "Default: 0 s."
        ),
    ] = field(name="for", default=None)
    clear: Annotated[
        Annotated[int, Meta(ge=1, le=CLEAR_MAX)] | None,
        Meta(
            description="How many times in a row the condition must be met before the incident "
            "ends. Default: 1."
        ),
    ] = None
    recovery: Annotated[
        bool | None,
        Meta(description="Whether a message is sent when the incident ends. Default: true."),
    ] = None


class RuleDraft(AlertDraft, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A rule: one condition for all subjects that `match` selects, and how it is reported."""

    name: Annotated[Name, Meta(description="Name of the rule; unique in the tenant.")]
    when: Annotated[
        RuleCondition, Meta(description="The condition that must be met; exactly one field.")
    ]
    match: Annotated[
        SubjectMatch, Meta(description="What the rule applies to. Default: every job.")
    ] = field(default_factory=SubjectMatch)
    enabled: Annotated[bool, Meta(description="Whether the rule is checked. Default: true.")] = True


class RouteStepDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One step of a route: channels, and when they get messages."""

    to: Annotated[
        Annotated[list[Name], Meta(min_length=1, max_length=CHANNELS_PER_STEP_MAX)],
        Meta(description="Names of channels."),
    ]
    after: Annotated[
        Duration | None,
        Meta(
            description="How long after the incident opened the step starts, at most 30 days. "
            "Default: 0 s."
        ),
    ] = None
    repeat: Annotated[
        Duration | None,
        Meta(
            description="Repeat the message at this interval while the incident is open and not "
            "acknowledged, from 1 minute to 30 days. Default: no repetition."
        ),
    ] = None
    unless: Annotated[
        Literal["acknowledged"] | None,
        Meta(description="Skip the step for an acknowledged incident. Default: never skip."),
    ] = None
    severity: Annotated[
        SeverityName | None,
        Meta(description="Only incidents that are at least this urgent. Default: all."),
    ] = None
    recovery: Annotated[
        bool | None,
        Meta(description="Whether these channels get recovery messages. Default: true."),
    ] = None
