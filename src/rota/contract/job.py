"""Every field of a job, written once: name, type, bounds, default and description. Room: contract.

`JobFields` has them all. What else is true of a field stands in the `extra` of its `Meta` (`fact`):
whether it is part of the policy, its name as an option of the command line, the name in core. The
request bodies, OpenAPI, the client, YAML keys, options, comparison, export, the answer of the API
and the column lists of SQL are derived from here and from the defaults of `JobSpec`.
CONTRIBUTING.md says how to add a field.
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

from rota.contract.bodies import GraphObject, ScheduleObject
from rota.contract.documents import fields_by_name, find_description, find_extra
from rota.contract.limits import LimitDraft
from rota.contract.pieces import Duration, Json, Labels, Moment, Name, Priority, Word
from rota.contract.retries import RetriesDraft, RetriesMax
from rota.contract.unique import UniqueDraft
from rota.core.policy import LONGEST_GRACE, LONGEST_TIMEOUT, SHORTEST_LIMIT
from rota.core.submission import MOST_DESCRIPTION, MOST_LABELS, MOST_LIMITS

ScheduleType = Literal[
    "IMMEDIATE", "FUTURE", "DELAYED", "CRON", "RRULE", "INTERVAL", "EVENT", "ON_DEMAND", "MIXED"
]
OverlapName = Literal[
    "skip", "queue_one", "queue_all", "cancel_running", "terminate_running", "allow"
]
PausedQueueName = Literal["skip", "accumulate"]
GuaranteeName = Literal["at_least_once", "at_most_once", "exactly_once"]


def fact(**known: object) -> dict[str, object]:
    """Say what else is true of a field.

    `policy`: it is part of the job's policy. `when`: it says when the job runs. `short_for`: it is
    another spelling of that field and is not stored. `option`: its name on the command line, None
    if it has no option there. `shown`: its type in answers, where it cannot be derived. `detail`:
    the SQL type of its column, if that holds the value as it was given and decides nothing;
    statements list such columns by themselves. `shortest`, `longest`: the bounds of a duration.
    """
    return known


class JobFields(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a new job and a change of one have in common. A field that is left out has its default,
    or stays as it is.
    """

    name: Annotated[
        Name | UnsetType,
        Meta(
            description="Unique in the tenant among jobs that are not deleted.",
            extra=fact(option=None),
        ),
    ] = UNSET
    kind: Annotated[
        Word | UnsetType, Meta(description="The handler that executes it. Default: the name.")
    ] = UNSET
    job_type: (
        Annotated[
            Word,
            Meta(
                description="Another name for `kind`, which also knows the names of other "
                "schedulers, such as `HTTP_REQUEST`. Default: `kind`.",
                extra=fact(short_for="kind", option=None),
            ),
        ]
        | UnsetType
    ) = UNSET
    schedule: Annotated[
        ScheduleObject | UnsetType,
        Meta(
            description="As in docs/reference/schedules.md. Default: run at once.",
            extra=fact(when=True, option=None, shown=dict[str, Json] | None),
        ),
    ] = UNSET
    schedule_type: Annotated[
        ScheduleType | UnsetType,
        Meta(
            description="What the schedule is; refused if the schedule is another. "
            "Default: derived from the schedule.",
            extra=fact(when=True, short_for="schedule", option=None),
        ),
    ] = UNSET
    schedule_time: (
        Annotated[
            Moment,
            Meta(
                description="Run once, at this time. Short for `schedule.at`. Default: none.",
                extra=fact(when=True, short_for="schedule", option=None),
            ),
        ]
        | UnsetType
    ) = UNSET
    cron_expression: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256)] | UnsetType,
        Meta(
            description="Run by this expression. Short for `schedule.cron`. Default: none.",
            extra=fact(when=True, short_for="schedule", option=None),
        ),
    ] = UNSET
    timezone: Annotated[
        Annotated[str, Meta(min_length=1, max_length=64)] | UnsetType,
        Meta(
            description="An IANA name for the flat fields. Default: UTC.",
            extra=fact(when=True, short_for="schedule", option=None),
        ),
    ] = UNSET
    payload: Annotated[
        Json | UnsetType, Meta(description="What the handler is given. Default: null.")
    ] = UNSET
    graph: Annotated[
        GraphObject | UnsetType | None,
        Meta(
            description="With the kind `graph`: its steps, as in docs/howto/graphs.md. "
            "Default: null.",
            extra=fact(
                shown=Annotated[
                    dict[str, Json] | None,
                    Meta(description="The steps of a graph; null for another kind, and in lists."),
                ]
            ),
        ),
    ] = UNSET
    max_retries: Annotated[
        RetriesMax | UnsetType,
        Meta(
            description="Attempts after the first one. Short for `retries.max`. Default: 3.",
            extra=fact(short_for="retries", option=None),
        ),
    ] = UNSET
    retries: Annotated[
        RetriesMax | RetriesDraft | UnsetType,
        Meta(
            description="A number of attempts after the first one, or how often and how soon a "
            "failed run is tried again. Default: 3.",
            extra=fact(policy=True, shown=dict[str, Json]),
        ),
    ] = UNSET
    timeout: (
        Annotated[
            Duration | None,
            Meta(
                description="The longest an attempt may take, at most 24 hours. `none`, or null in "
                "JSON, is no limit. Default: 15 minutes.",
                extra=fact(
                    policy=True,
                    option="max_time",
                    shortest=SHORTEST_LIMIT,
                    longest=LONGEST_TIMEOUT,
                ),
            ),
        ]
        | UnsetType
    ) = UNSET
    deadline: (
        Annotated[
            Duration | None,
            Meta(
                description="How long after its due time a run may go on. `none`, or null in JSON, "
                "is no limit. Default: no limit.",
                extra=fact(policy=True, shortest=SHORTEST_LIMIT),
            ),
        ]
        | UnsetType
    ) = UNSET
    grace: (
        Annotated[
            Duration,
            Meta(
                description="From asking an attempt to stop to ending it by force, at most 10 "
                "minutes. Default: 10 s.",
                extra=fact(policy=True, option=None, longest=LONGEST_GRACE),
            ),
        ]
        | UnsetType
    ) = UNSET
    guarantee: Annotated[
        GuaranteeName | UnsetType,
        Meta(
            description="What happens if a worker is lost. `exactly_once` needs a handler that "
            "completes its run in `ctx.transaction()`; other kinds refuse it. "
            "Default: `at_least_once`.",
            extra=fact(policy=True),
        ),
    ] = UNSET
    target: (
        Annotated[
            Annotated[str, Meta(min_length=1, max_length=253)] | None,
            Meta(
                description="What its attempts depend on. While it does not answer, runs wait "
                "instead of using up their retries. `none`, or null in JSON, restores the default. "
                "Default: the host or the connection of kinds that have one.",
                extra=fact(
                    policy=True,
                    shown=Annotated[
                        str | None,
                        Meta(description="What it says to depend on; null if it says nothing."),
                    ],
                ),
            ),
        ]
        | UnsetType
    ) = UNSET
    queue: Annotated[
        Word | UnsetType, Meta(description="The workers that serve it. Default: `default`.")
    ] = UNSET
    priority: Annotated[
        Priority | UnsetType,
        Meta(
            description="From 0, which goes first, to 9, or high, medium, normal, low. Default: 5.",
            extra=fact(shown=int),
        ),
    ] = UNSET
    overlap: Annotated[
        OverlapName | UnsetType,
        Meta(
            description="What happens when it is due while a run of it is alive. Default: `skip`."
        ),
    ] = UNSET
    keep_first: Annotated[
        bool | UnsetType,
        Meta(
            description="With `queue_one`: the run that waits stays, the new one is skipped. "
            "Default: false.",
            extra=fact(option=None),
        ),
    ] = UNSET
    when_queue_paused: Annotated[
        PausedQueueName | UnsetType,
        Meta(description="What happens when it is due while its queue is paused. Default: `skip`."),
    ] = UNSET
    limits: Annotated[
        Annotated[list[LimitDraft], Meta(max_length=MOST_LIMITS)] | UnsetType,
        Meta(
            description="Limits that its runs share with others of the same key. Default: none.",
            extra=fact(option=None, shown=list[dict[str, Json]]),
        ),
    ] = UNSET
    labels: Annotated[
        Annotated[Labels, Meta(max_length=MOST_LABELS)] | UnsetType,
        Meta(
            description="Names and values of your own, to find it by. Default: none.",
            extra=fact(option="label", shown=dict[str, str]),
        ),
    ] = UNSET
    user_id: Annotated[
        Name | UnsetType | None,
        Meta(description="Whose job it is, for your own bookkeeping. Default: null."),
    ] = UNSET
    description: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MOST_DESCRIPTION)] | UnsetType | None,
        Meta(
            description="What the job is for, in your words; at most 1,000 characters. "
            "Default: null.",
            extra=fact(detail="text"),
        ),
    ] = UNSET


class JobDraft(JobFields, kw_only=True, forbid_unknown_fields=True):
    """A job that is to be made. Without a kind its name is its kind; without a name it gets one."""

    unique: Annotated[
        UniqueDraft | UnsetType,
        Meta(description="Of equal submissions only one becomes a run. Default: no such rule."),
    ] = UNSET


class JobEdit(JobFields, kw_only=True, forbid_unknown_fields=True):
    """Only what is to be different."""


class JobField(NamedTuple):
    """A field of a job, with what is true of it."""

    name: str
    type: Any
    description: str
    is_policy: bool
    is_schedule: bool
    # The field that it is another spelling of; such a field is not stored.
    short_for: str | None
    # The name of its option on the command line; None if it has none.
    option: str | None
    # Its type in answers, and whether its column is JSON.
    shown_type: Any
    is_json: bool
    # The SQL type of its column, if statements list it by themselves.
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
    """Return the type of a field in answers: without bounds, null where the field may be null.

    A choice is text: a process of a newer release may have stored a value that is not known here.
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _show_type(inner[0])
    if origin in {Union, UnionType}:
        return Union[*(_show_type(each) for each in inner if each is not UnsetType)]
    return str if origin is Literal else annotation


FIELDS: Final[Mapping[str, JobField]] = MappingProxyType(
    {name: _describe_field(name, each.type) for name, each in fields_by_name(JobFields).items()}
)
# Those that a job has, in the order in which they are shown; the others are spellings of them.
STORED_FIELDS: Final = tuple(name for name, field in FIELDS.items() if field.short_for is None)
DETAIL_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {name: field.detail for name, field in FIELDS.items() if field.detail is not None}
)
POLICY_FIELDS: Final[tuple[str, ...]] = tuple(
    name for name, field in FIELDS.items() if field.is_policy
)


class JobIdentity(Struct, kw_only=True, frozen=True):
    """What comes first in an answer about a job."""

    job_id: str


if TYPE_CHECKING:

    class JobValues(JobIdentity, kw_only=True, frozen=True):
        def __getattr__(self, name: str) -> Any: ...

else:
    JobValues = defstruct(
        "JobValues",
        [(name, FIELDS[name].shown_type) for name in STORED_FIELDS],
        bases=(JobIdentity,),
        kw_only=True,
        frozen=True,
    )
JobValues.__doc__ = "A job in an answer: every field of the contract."
