"""Schemas of jobs as code: manifests and plans."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.api.schemas.field_types import Duration, Name
from rota.contract.document_fields import CalendarObject
from rota.contract.expectations import (
    ROUTE_STEPS_MAX,
    ROUTES_PER_TENANT_MAX,
    RULES_PER_TENANT_MAX,
    RouteStepDraft,
    RuleDraft,
)
from rota.contract.job import JobFields

Project = Annotated[str, Meta(min_length=1, max_length=64)]


class DeclaredJob(JobFields, kw_only=True, forbid_unknown_fields=True):
    """A job declared in a file. An omitted field has its default. A job without a schedule runs on
    demand. `none` removes a limit; null is an empty YAML field.
    """

    name: Annotated[Name, Meta(description="Identifies the job; a new name creates a new job.")]
    paused: Annotated[
        bool | UnsetType,
        Meta(description="Whether the job is paused. Default: unchanged."),
    ] = UNSET
    timeout: (
        Annotated[
            Duration,
            Meta(
                description="Time limit of one attempt, at most 24 hours; `none` removes it. "
                "Default: 15 minutes."
            ),
        ]
        | UnsetType
    ) = UNSET
    deadline: (
        Annotated[
            Duration,
            Meta(
                description="Time limit of the whole run, from its due time; `none` removes it. "
                "Default: `none`."
            ),
        ]
        | UnsetType
    ) = UNSET


class DeclaredCalendar(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[Name, Meta(description="Name that schedules refer to.")]
    calendar: Annotated[
        CalendarObject, Meta(description="A calendar; see docs/reference/schedules.md.")
    ]


class DeclaredRoute(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[Name, Meta(description="Name that alerts report to.")]
    steps: Annotated[
        Annotated[list[RouteStepDraft], Meta(min_length=1, max_length=ROUTE_STEPS_MAX)],
        Meta(description="Steps in order."),
    ]


class ManifestDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """All jobs of a project."""

    project: Annotated[
        Project, Meta(description="Name of the project, stored in the label `rota.project`.")
    ]
    jobs: Annotated[
        Annotated[list[DeclaredJob], Meta(max_length=1000)],
        Meta(description="All jobs of the project."),
    ]
    calendars: Annotated[
        Annotated[list[DeclaredCalendar], Meta(max_length=100)],
        Meta(description="Calendars to create or replace; none is deleted. Default: none."),
    ] = []
    alerts: Annotated[
        Annotated[list[RuleDraft], Meta(max_length=RULES_PER_TENANT_MAX)],
        Meta(description="All rules of the project. Default: none."),
    ] = []
    routes: Annotated[
        Annotated[list[DeclaredRoute], Meta(max_length=ROUTES_PER_TENANT_MAX)],
        Meta(description="All routes of the project. Default: none."),
    ] = []


class ApplyDraft(ManifestDraft, kw_only=True, forbid_unknown_fields=True):
    prune: Annotated[
        bool,
        Meta(
            description="Delete jobs, rules and routes of the project that are not declared. "
            "Default: `false`."
        ),
    ] = False
    seen: Annotated[
        Annotated[dict[str, int], Meta(max_length=100_000)] | None,
        Meta(
            description="`seen` of the plan; refused if a job has changed since. Default: not "
            "checked."
        ),
    ] = None
    seen_calendars: Annotated[
        Annotated[dict[str, int], Meta(max_length=1000)] | None,
        Meta(
            description="`seen_calendars` of the plan; refused if a calendar has changed since. "
            "Default: not checked."
        ),
    ] = None

    seen_alerts: Annotated[
        Annotated[dict[str, int], Meta(max_length=1000)] | None,
        Meta(
            description="`seen_alerts` of the plan; refused if a rule or a route has changed "
            "since. Default: not checked."
        ),
    ] = None


class FieldChange(Struct, kw_only=True, frozen=True):
    field: str
    before: Any
    after: Any


class ManualChangeView(Struct, kw_only=True, frozen=True):
    """The last change outside the manifest."""

    by: str
    at: str
    action: str


class ChangeView(Struct, kw_only=True, frozen=True):
    """One job that differs from its declaration. `next_before` and `next_after` are its next ticks;
    `note` says why they are unknown.
    """

    action: Literal["create", "update", "prune"]
    name: str
    job_id: str | None
    version: int
    fields: list[FieldChange]
    sentence: str | None
    next_before: list[str]
    next_after: list[str]
    moves: bool
    note: str | None
    touched: ManualChangeView | None


class CalendarChangeView(Struct, kw_only=True, frozen=True):
    action: Literal["create", "update"]
    name: str
    version: int
    fields: list[FieldChange]


class AlertChangeView(Struct, kw_only=True, frozen=True):
    """One rule or route that differs from its declaration."""

    thing: Literal["rule", "route"]
    action: Literal["create", "update", "prune"]
    name: str
    version: int
    fields: list[FieldChange]


class PlanView(Struct, kw_only=True, frozen=True):
    """The differences. `touched` jobs match their declaration but were changed outside it."""

    project: str
    changes: list[ChangeView]
    calendars: list[CalendarChangeView]
    alerts: list[AlertChangeView]
    unchanged: int
    touched: dict[str, ManualChangeView]
    seen: dict[str, int]
    seen_calendars: dict[str, int]
    seen_alerts: dict[str, int]
    warnings: Annotated[list[str], Meta(description="Kinds that no worker serves, and what to do.")]
