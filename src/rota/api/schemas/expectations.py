"""Schemas of expectations (rules), the expectations of a job, routes and rehearsals."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from rota.api.schemas.field_types import Duration, Json, Name
from rota.contract.expectations import (
    CLEAR_MAX,
    ROUTE_STEPS_MAX,
    RULES_PER_TENANT_MAX,
    RouteStepDraft,
    RuleCondition,
    RuleDraft,
    SeverityName,
    SubjectMatch,
)


class ExpectationEdit(Struct, kw_only=True, forbid_unknown_fields=True):
    """A change of a rule: only the fields to change. Null restores the default."""

    name: Annotated[Name | UnsetType, Meta(description="New name. Default: unchanged.")] = UNSET
    when: Annotated[
        RuleCondition | UnsetType,
        Meta(description="The condition; exactly one field. Default: unchanged."),
    ] = UNSET
    match: Annotated[
        SubjectMatch | UnsetType,
        Meta(description="What the rule applies to. Default: unchanged."),
    ] = UNSET
    to: Annotated[
        Name | UnsetType | None,
        Meta(description="Name of a route or a channel. Default: unchanged."),
    ] = UNSET
    severity: Annotated[
        SeverityName | UnsetType | None,
        Meta(description="How urgent an incident is. Default: unchanged."),
    ] = UNSET
    hold_for: Annotated[
        Duration | UnsetType | None,
        Meta(
            description="How long a violation must last before an incident opens. "
            "Default: unchanged."
        ),
    ] = field(name="for", default=UNSET)
    clear: Annotated[
        Annotated[int, Meta(ge=1, le=CLEAR_MAX)] | UnsetType | None,
        Meta(
            description="How many times in a row the condition must be met before the incident "
            "ends. Default: unchanged."
        ),
    ] = UNSET
    recovery: Annotated[
        bool | UnsetType | None,
        Meta(description="Whether a message is sent when the incident ends. Default: unchanged."),
    ] = UNSET
    enabled: Annotated[
        bool | UnsetType, Meta(description="Whether the rule is checked. Default: unchanged.")
    ] = UNSET


class ExpectationView(Struct, kw_only=True, frozen=True):
    """A rule. Durations are in ISO 8601."""

    expectation_id: str
    name: str
    match: dict[str, Json]
    when: dict[str, Json]
    to: Annotated[str | None, Meta(description="Route or channel; null: the default channels.")]
    severity: str
    hold_for: str = field(name="for")
    clear: int
    recovery: bool
    enabled: bool
    project: Annotated[
        str | None,
        Meta(description="Project whose rota.yaml declares the rule; null: created by the API."),
    ]
    version: int
    created_at: str
    updated_at: str
    warnings: Annotated[
        list[str],
        Meta(description="What is probably a mistake. Empty in lists."),
    ] = []


class JobExpectationView(Struct, kw_only=True, frozen=True):
    """An expectation of a job: its own, a rule that matches it, or a default of Rota."""

    expectation_id: str
    name: str
    origin: Literal["job", "rule", "default"]
    condition: Annotated[str, Meta(description="Code of the condition, such as `finish_by`.")]
    when: dict[str, Json]
    to: str | None
    severity: str
    state: Annotated[
        str,
        Meta(
            description="`ok`, `pending` (violated, not yet for long enough), `firing`, or "
            "`unknown` while Rota cannot judge it."
        ),
    ]
    since: str | None
    next_check_at: Annotated[
        str | None,
        Meta(description="Next check; null if the condition is checked when a run ends."),
    ]
    incident_id: Annotated[str | None, Meta(description="Its open incident.")]


class JobExpectations(Struct, kw_only=True, frozen=True):
    data: list[JobExpectationView]


class RouteDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A route: which channels get the messages of an incident, and when."""

    steps: Annotated[
        Annotated[list[RouteStepDraft], Meta(min_length=1, max_length=ROUTE_STEPS_MAX)],
        Meta(description="Steps in order."),
    ]


class RouteView(Struct, kw_only=True, frozen=True):
    name: str
    steps: list[dict[str, Json]]
    project: Annotated[
        str | None,
        Meta(description="Project whose rota.yaml declares the route; null: created by the API."),
    ]
    version: int
    created_at: str
    updated_at: str


class RehearsalDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which rules to replay over the history of runs."""

    rules: Annotated[
        Annotated[list[RuleDraft], Meta(max_length=RULES_PER_TENANT_MAX)] | None,
        Meta(description="Rules to replay. Default: the stored rules."),
    ] = None
    routes: Annotated[
        dict[Name, list[RouteStepDraft]],
        Meta(description="Routes that replace stored ones of the same name. Default: none."),
    ] = {}
    include_jobs: Annotated[
        bool,
        Meta(description="Replay the `expect` of jobs too. Default: true."),
    ] = True
    since: Annotated[
        Duration,
        Meta(description="How far to go back, at most 90 days. Default: 30 days."),
    ] = "30d"


class RehearsedRule(Struct, kw_only=True, frozen=True):
    """What one rule, or one condition of a job, would have done."""

    name: str
    origin: Literal["job", "rule"]
    condition: str
    incidents: Annotated[int, Meta(description="Incidents that it would have opened.")]
    messages: Annotated[int, Meta(description="Messages to all channels of its route.")]
    subjects: Annotated[int, Meta(description="Jobs, steps, tasks or queues with an incident.")]
    first_at: str | None
    last_at: str | None
    example: Annotated[str | None, Meta(description="Title of the last incident.")]
    skipped: Annotated[
        str | None,
        Meta(description="Why the rule was not replayed; null if it was."),
    ]


class Rehearsal(Struct, kw_only=True, frozen=True):
    """What rules would have done over a part of the history."""

    since: Annotated[str, Meta(description="Start of the history that was read.")]
    until: str
    runs: Annotated[int, Meta(description="Ended runs that were read.")]
    is_complete: Annotated[
        bool,
        Meta(description="False if there were more runs than one rehearsal reads."),
    ]
    incidents: int
    messages: int
    rules: list[RehearsedRule]
