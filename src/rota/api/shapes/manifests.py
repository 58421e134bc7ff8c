"""Jobs as code as JSON: what a file declares, and what it would change. Room: api/shapes."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.api.shapes.pieces import Duration, Name
from rota.contract.bodies import CalendarObject
from rota.contract.job import JobFields

Project = Annotated[str, Meta(min_length=1, max_length=64)]


class DeclaredJob(JobFields, kw_only=True, forbid_unknown_fields=True):
    """A job as a file declares it: a field that is left out has its default. Without a schedule it
    runs on demand. A limit is lifted by `none`; null is what an empty field of YAML is.
    """

    name: Annotated[Name, Meta(description="What it is known by; a new name is a new job.")]
    paused: Annotated[
        bool | UnsetType,
        Meta(description="Whether it is held; left as somebody put it unless it is said."),
    ] = UNSET
    timeout: (
        Annotated[
            Duration,
            Meta(
                description="The longest an attempt may take, at most 24 hours; `none` is no "
                "limit. Default: 15 minutes."
            ),
        ]
        | UnsetType
    ) = UNSET
    deadline: (
        Annotated[
            Duration,
            Meta(
                description="How long after its due time a run may go on; `none` is no limit. "
                "Default: `none`."
            ),
        ]
        | UnsetType
    ) = UNSET


class DeclaredCalendar(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[Name, Meta(description="What schedules name it by.")]
    calendar: Annotated[
        CalendarObject, Meta(description="A calendar in the form of docs/reference/schedules.md.")
    ]


class ManifestDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """All jobs of a project."""

    project: Annotated[
        Project, Meta(description="Whose jobs these are; kept in their label `rota.project`.")
    ]
    jobs: Annotated[
        Annotated[list[DeclaredJob], Meta(max_length=1000)],
        Meta(description="All that the project is to have."),
    ]
    calendars: Annotated[
        Annotated[list[DeclaredCalendar], Meta(max_length=100)],
        Meta(description="Calendars of the tenant, made or replaced; none is ever deleted."),
    ] = []


class ApplyDraft(ManifestDraft, kw_only=True, forbid_unknown_fields=True):
    prune: Annotated[
        bool, Meta(description="Delete the jobs of the project that are not declared.")
    ] = False
    seen: Annotated[
        Annotated[dict[str, int], Meta(max_length=100_000)] | None,
        Meta(description="`seen` of the plan: refused if a job has another version by now."),
    ] = None
    seen_calendars: Annotated[
        Annotated[dict[str, int], Meta(max_length=1000)] | None,
        Meta(description="The same for calendars."),
    ] = None


class FieldChange(Struct, kw_only=True, frozen=True):
    field: str
    before: Any
    after: Any


class TouchedView(Struct, kw_only=True, frozen=True):
    """Who changed it by hand, and when."""

    by: str
    at: str
    action: str


class ChangeView(Struct, kw_only=True, frozen=True):
    """One job that is not as declared. `next_before` and `next_after` are when its next runs start;
    `note` says why they are not known.
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
    touched: TouchedView | None


class CalendarChangeView(Struct, kw_only=True, frozen=True):
    action: Literal["create", "update"]
    name: str
    version: int
    fields: list[FieldChange]


class PlanView(Struct, kw_only=True, frozen=True):
    """What differs. `touched` are jobs that are as declared, and were changed by hand since."""

    project: str
    changes: list[ChangeView]
    calendars: list[CalendarChangeView]
    unchanged: int
    touched: dict[str, TouchedView]
    seen: dict[str, int]
    seen_calendars: dict[str, int]
    warnings: Annotated[
        list[str], Meta(description="Kinds of these jobs that no worker serves, and what to do.")
    ]
