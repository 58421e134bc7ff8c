"""Queues, workers, schedulers and shards as JSON. Room: api/shapes."""

from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.contract.limits import RateDraft

# What workers can be told to serve (config/settings.py).
QUEUE_NAME: Final = "^[a-z0-9][a-z0-9._-]{0,62}$"


class LimitsDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """What all runs of a queue share; null lifts a limit."""

    max: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)] | None,
        Meta(description="How many may run at a time."),
    ] = None
    rate: Annotated[RateDraft | None, Meta(description="How many may start per time.")] = None


class AllTenantsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    all_tenants: Annotated[
        bool | UnsetType,
        Meta(
            description="Whether it is about every tenant; `true` needs a platform key. "
            "Default: true for a platform key, false for other keys."
        ),
    ] = UNSET


class QueueDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A queue of one's own to create."""

    name: Annotated[
        str,
        Meta(
            pattern=QUEUE_NAME,
            description="1 to 63 of a-z, 0-9, dot, dash and underscore, beginning with a letter "
            "or digit.",
        ),
    ]


class QueueView(Struct, kw_only=True, frozen=True):
    """A queue, and what of the caller's tenant is in it. Counts end at 10,000."""

    name: str
    is_paused: bool
    is_paused_for_all: Annotated[
        bool, Meta(description="Whether it was paused for every tenant with a platform key.")
    ]
    paused_at: str | None
    max: Annotated[
        int | None,
        Meta(
            description="How many may run at a time: of the tenant's own runs, or of all tenants' "
            "if it set no limit."
        ),
    ]
    rate: dict[str, Any] | None
    waiting: int
    later: int
    running: int
    oldest_waiting_since: str | None


class Queues(Struct, kw_only=True, frozen=True):
    data: list[QueueView]


class QueueCreated(Struct, kw_only=True, frozen=True):
    name: str


class QueueState(Struct, kw_only=True, frozen=True):
    name: str
    is_paused: bool
    is_for_all: Annotated[
        bool, Meta(description="Whether this holds for every tenant, or for the caller's.")
    ]


class WorkerView(Struct, kw_only=True, frozen=True):
    worker_id: str
    name: str
    is_alive: bool
    is_draining: bool
    slots: int
    running: int
    queues: list[str]
    tenants: Annotated[
        list[str],
        Meta(
            description="Tenants whose runs it takes, `*` for all. A tenant is shown no other name."
        ),
    ]
    kinds: list[str]
    started_at: str
    beat_at: str


class Workers(Struct, kw_only=True, frozen=True):
    data: list[WorkerView]


class WorkerDrained(Struct, kw_only=True, frozen=True):
    worker_id: str
    name: str
    is_draining: bool


class WorkersQuery(AllTenantsQuery, kw_only=True, frozen=True, forbid_unknown_fields=True):
    with_dead: Annotated[bool, Meta(description="Also those that have died or stopped lately.")] = (
        False
    )


class SchedulerView(Struct, kw_only=True, frozen=True):
    scheduler_id: str
    name: str
    is_draining: bool
    started_at: str
    beat_at: str
    shards: list[int]


class Schedulers(Struct, kw_only=True, frozen=True):
    data: list[SchedulerView]


class ShardView(Struct, kw_only=True, frozen=True):
    shard: int
    scheduler: str | None
    epoch: int
    expires_at: str | None


class Shards(Struct, kw_only=True, frozen=True):
    data: list[ShardView]
