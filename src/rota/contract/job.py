"""Defines every field of a job once: name, type, bounds, default and description.

`JobFields` has all of them. The `extra` of a field's `Meta` (`fact`) has its other properties:
whether it is part of the policy, and the name of its CLI option. Request bodies, OpenAPI, the
client, YAML keys, CLI options, comparison, export, API responses and SQL column lists are derived
from this module and from the defaults of `JobSpec`. CONTRIBUTING.md explains how to add a field.
"""

from collections.abc import Mapping
from types import MappingProxyType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
)

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from rota.contract.document_fields import GraphObject, ScheduleObject
from rota.contract.documents import fields_by_name, find_description, find_extra
from rota.contract.expectations import AlertDraft, ExpectDraft
from rota.contract.field_types import Duration, Json, Labels, Moment, Name, Priority, Word
from rota.contract.limits import LimitDraft
from rota.contract.retries import RetriesDraft, RetriesMax
from rota.contract.unique import UniqueDraft
from rota.core.policy import GRACE_MAX, TIME_LIMIT_MIN, TIMEOUT_MAX
from rota.core.submissions import DESCRIPTION_CHARACTERS_MAX, LABELS_MAX, LIMITS_MAX

ScheduleType = Literal[
    "IMMEDIATE", "FUTURE", "DELAYED", "CRON", "RRULE", "INTERVAL", "EVENT", "ON_DEMAND", "MIXED"
]
OverlapName = Literal[
    "skip", "queue_one", "queue_all", "cancel_running", "terminate_running", "allow"
]
PausedQueueName = Literal["skip", "accumulate"]
GuaranteeName = Literal["at_least_once", "at_most_once", "exactly_once"]


def field_properties(**properties: object) -> dict[str, object]:
    """Return further properties of a field, for the `extra` of its `Meta`.

    `policy`: it is part of the job's policy. `when`: it is part of the schedule. `short_for`: it is
    another spelling of that field and is not stored. `option`: its name on the command line, None
    if it has no option. `shown`: its type in responses, where it cannot be derived. `detail`: the
    SQL type of its column, if Rota only stores and returns the value; statements include such
    columns automatically. `shortest`, `longest`: the bounds of a duration.
    """
    return properties


class JobFields(Struct, kw_only=True, forbid_unknown_fields=True):
    """The fields that a new job and a job update share. In a new job, an omitted field has its
    default; in an update, it keeps its value.
    """

    name: Annotated[
        Name | UnsetType,
        Meta(
            description="Name of the job; unique in the tenant among jobs that are not deleted. "
            "Default: a name that begins with the kind.",
            extra=field_properties(option=None),
        ),
    ] = UNSET
    kind: Annotated[
        Word | UnsetType, Meta(description="Handler that runs the job. Default: the job's name.")
    ] = UNSET
    job_type: (
        Annotated[
            Word,
            Meta(
                description="Alternative to `kind` that also accepts the names of other "
                "schedulers, such as `HTTP_REQUEST`. Default: `kind`.",
                extra=field_properties(short_for="kind", option=None),
            ),
        ]
        | UnsetType
    ) = UNSET
    schedule: Annotated[
        ScheduleObject | UnsetType,
        Meta(
            description="When the job runs (docs/reference/schedules.md). Default: once, "
            "immediately.",
            extra=field_properties(when=True, option=None, shown=dict[str, Json] | None),
        ),
    ] = UNSET
    schedule_type: Annotated[
        ScheduleType | UnsetType,
        Meta(
            description="Type of the schedule; the request is rejected if the schedule has "
            "another type. Default: derived from the schedule.",
            extra=field_properties(when=True, short_for="schedule", option=None),
        ),
    ] = UNSET
    schedule_time: (
        Annotated[
            Moment,
            Meta(
                description="Run once, at this time. Shorthand for `schedule.at`. Default: none.",
                extra=field_properties(when=True, short_for="schedule", option=None),
            ),
        ]
        | UnsetType
    ) = UNSET
    cron_expression: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256)] | UnsetType,
        Meta(
            description="Run at the times of this cron expression. Shorthand for `schedule.cron`. "
            "Default: none.",
            extra=field_properties(when=True, short_for="schedule", option=None),
        ),
    ] = UNSET
    timezone: Annotated[
        Annotated[str, Meta(min_length=1, max_length=64)] | UnsetType,
        Meta(
            description="IANA time zone of `schedule_time` and `cron_expression`. Default: UTC.",
            extra=field_properties(when=True, short_for="schedule", option=None),
        ),
    ] = UNSET
    payload: Annotated[
        Json | UnsetType, Meta(description="Arguments of the handler, any JSON. Default: null.")
    ] = UNSET
    graph: Annotated[
        GraphObject | UnsetType | None,
        Meta(
            description="Steps of a job of kind `graph` (docs/howto/graphs.md). Default: null.",
            extra=field_properties(
                shown=Annotated[
                    dict[str, Json] | None,
                    Meta(description="Steps of the graph; null for other kinds, and in lists."),
                ]
            ),
        ),
    ] = UNSET
    max_retries: Annotated[
        RetriesMax | UnsetType,
        Meta(
            description="Retries after the first attempt. Shorthand for `retries.max`. Default: 3.",
            extra=field_properties(short_for="retries", option=None),
        ),
    ] = UNSET
    retries: Annotated[
        RetriesMax | RetriesDraft | UnsetType,
        Meta(
            description="How a failed run is retried: the number of retries after the first "
            "attempt, or an object with delays. Default: 3.",
            extra=field_properties(policy=True, shown=dict[str, Json]),
        ),
    ] = UNSET
    timeout: (
        Annotated[
            Duration | None,
            Meta(
                description="Time limit of one attempt, at most 24 hours. `none`, or null in JSON, "
                "means no limit. Default: 15 minutes.",
                extra=field_properties(
                    policy=True,
                    shortest=TIME_LIMIT_MIN,
                    longest=TIMEOUT_MAX,
                ),
            ),
        ]
        | UnsetType
    ) = UNSET
    deadline: (
        Annotated[
            Duration | None,
            Meta(
                description="Time limit of the whole run with all its retries, counted from its "
                "due time. `none`, or null in JSON, means no limit. Default: no limit.",
                extra=field_properties(policy=True, shortest=TIME_LIMIT_MIN),
            ),
        ]
        | UnsetType
    ) = UNSET
    grace: (
        Annotated[
            Duration,
            Meta(
                description="Time between asking an attempt to stop and killing it, at most 10 "
                "minutes. Default: 10 s.",
                extra=field_properties(policy=True, option=None, longest=GRACE_MAX),
            ),
        ]
        | UnsetType
    ) = UNSET
    guarantee: Annotated[
        GuaranteeName | UnsetType,
        Meta(
            description="Delivery guarantee if a worker is lost. `exactly_once` needs a handler "
            "that completes its run in `ctx.transaction()`; other kinds reject it. "
            "Default: `at_least_once`.",
            extra=field_properties(policy=True),
        ),
    ] = UNSET
    target: (
        Annotated[
            Annotated[str, Meta(min_length=1, max_length=253)] | None,
            Meta(
                description="Service that the attempts depend on. While it is down, runs wait "
                "instead of using up their retries. `none`, or null in JSON, restores the default. "
                "Default: the host (http) or connection (sql), if the kind has one.",
                extra=field_properties(
                    policy=True,
                    shown=Annotated[
                        str | None,
                        Meta(description="Target set on the job; null if none is set."),
                    ],
                ),
            ),
        ]
        | UnsetType
    ) = UNSET
    queue: Annotated[
        Word | UnsetType, Meta(description="Queue that its runs wait in. Default: `default`.")
    ] = UNSET
    priority: Annotated[
        Priority | UnsetType,
        Meta(
            description="Priority from 0 (first) to 9 (last), or high, medium, normal, low. "
            "Default: 5.",
            extra=field_properties(shown=int),
        ),
    ] = UNSET
    overlap: Annotated[
        OverlapName | UnsetType,
        Meta(
            description="What to do when the job is due and its previous run is still active. "
            "Default: `skip`."
        ),
    ] = UNSET
    keep_first: Annotated[
        bool | UnsetType,
        Meta(
            description="With overlap `queue_one`: keep the waiting run and skip the new one. "
            "Default: false.",
            extra=field_properties(option=None),
        ),
    ] = UNSET
    when_queue_paused: Annotated[
        PausedQueueName | UnsetType,
        Meta(
            description="What to do when the job is due while its queue is paused. Default: `skip`."
        ),
    ] = UNSET
    limits: Annotated[
        Annotated[list[LimitDraft], Meta(max_length=LIMITS_MAX)] | UnsetType,
        Meta(
            description="Concurrency and rate limits, shared by all runs with the same key. "
            "Default: none.",
            extra=field_properties(option=None, shown=list[dict[str, Json]]),
        ),
    ] = UNSET
    labels: Annotated[
        Annotated[Labels, Meta(max_length=LABELS_MAX)] | UnsetType,
        Meta(
            description="Your own names and values, to filter jobs by. Default: none.",
            extra=field_properties(option="label", shown=dict[str, str]),
        ),
    ] = UNSET
    user_id: Annotated[
        Name | UnsetType | None,
        Meta(description="Owner of the job, for your own records. Default: null."),
    ] = UNSET
    description: Annotated[
        Annotated[str, Meta(min_length=1, max_length=DESCRIPTION_CHARACTERS_MAX)]
        | UnsetType
        | None,
        Meta(
            description="What the job does, at most 1,000 characters. Default: null.",
            extra=field_properties(detail="text"),
        ),
    ] = UNSET
    expect: Annotated[
        ExpectDraft | UnsetType | None,
        Meta(
            description="What must hold for its runs; a violation opens an incident "
            "(docs/howto/alerts.md). Default: null.",
            extra=field_properties(detail="jsonb", shown=dict[str, Json] | None),
        ),
    ] = UNSET
    alert: Annotated[
        AlertDraft | UnsetType | None,
        Meta(
            description="How incidents of the job are reported. Default: as a warning, to the "
            "default channels.",
            extra=field_properties(detail="jsonb", shown=dict[str, Json] | None),
        ),
    ] = UNSET


class JobDraft(JobFields, kw_only=True, forbid_unknown_fields=True):
    """A new job. `kind` defaults to the name; a job without a name gets a generated one."""

    unique: Annotated[
        UniqueDraft | UnsetType,
        Meta(description="Deduplicates submissions with the same key. Default: no deduplication."),
    ] = UNSET


class JobEdit(JobFields, kw_only=True, forbid_unknown_fields=True):
    """A job update: only the fields to change."""


class JobField(NamedTuple):
    """A field of a job and its properties."""

    name: str
    type: Any
    description: str
    is_policy: bool
    is_schedule: bool
    # The field that it is another spelling of; it is not stored itself.
    short_for: str | None
    # The name of its CLI option; None if it has none.
    option: str | None
    # Its type in responses, and whether its column is JSON.
    shown_type: Any
    is_json: bool
    # The SQL type of its column, if statements include it automatically.
    detail: str | None


def _describe_field(name: str, annotation: Any) -> JobField:
    facts = find_extra(annotation)
    shown = facts.get("shown") or _show_type(annotation)
    return JobField(
        name=name,
        type=annotation,
        description=find_description(annotation),
        is_policy=bool(facts.get("policy")),
        is_schedule=bool(facts.get("when")),
        short_for=facts.get("short_for"),
        option=facts.get("option", name),
        detail=facts.get("detail"),
        shown_type=shown,
        is_json=not {str, int, bool} & {shown, *get_args(shown)} or shown == dict[str, str],
    )


def _show_type(annotation: Any) -> Any:
    """Return the type of a field in responses: without bounds, null where the field may be null.

    A choice becomes text: a process of a newer release may have stored a value that this release
    does not know.
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _show_type(inner[0])
    if origin in {Union, UnionType}:
        return Union[*(_show_type(option) for option in inner if option is not UnsetType)]
    return str if origin is Literal else annotation


JOB_FIELDS: Final[Mapping[str, JobField]] = MappingProxyType(
    {name: _describe_field(name, field.type) for name, field in fields_by_name(JobFields).items()}
)
# The stored fields, in the order of responses; the other fields are spellings of these.
STORED_JOB_FIELDS: Final = tuple(
    name for name, field in JOB_FIELDS.items() if field.short_for is None
)
DETAIL_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {name: field.detail for name, field in JOB_FIELDS.items() if field.detail is not None}
)
POLICY_FIELDS: Final[tuple[str, ...]] = tuple(
    name for name, field in JOB_FIELDS.items() if field.is_policy
)


class JobIdentity(Struct, kw_only=True, frozen=True):
    """The first field of a job in a response."""

    job_id: str


if TYPE_CHECKING:

    class JobValues(JobIdentity, kw_only=True, frozen=True):
        def __getattr__(self, name: str) -> Any: ...

else:
    JobValues = defstruct(
        "JobValues",
        [(name, JOB_FIELDS[name].shown_type) for name in STORED_JOB_FIELDS],
        bases=(JobIdentity,),
        kw_only=True,
        frozen=True,
    )
JobValues.__doc__ = "A job in a response: every field of the contract."
