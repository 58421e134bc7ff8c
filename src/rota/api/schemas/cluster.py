"""Schemas of queues, workers, schedulers and shards."""

from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.contract.limits import RateDraft

# The queue names that a worker accepts (config/settings.py).
QUEUE_NAME_PATTERN: Final = "^[a-z0-9][a-z0-9._-]{0,62}$"


class LimitsDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """Limits that all runs of a queue share; null removes a limit."""

    max: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)] | None,
        Meta(description="Maximum concurrent runs. Default: no limit."),
    ] = None
    rate: Annotated[
        RateDraft | None, Meta(description="Maximum rate of starts. Default: no limit.")
    ] = None


class AllTenantsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    all_tenants: Annotated[
        bool | UnsetType,
        Meta(
            description="Act for all tenants; `true` requires a platform key. "
            "Default: true for a platform key, false for other keys."
        ),
    ] = UNSET


class QueueDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A queue to create for the tenant."""

    name: Annotated[
        str,
        Meta(
            pattern=QUEUE_NAME_PATTERN,
            description="1 to 63 characters of a-z, 0-9, dot, dash and underscore, starting "
            "with a letter or digit.",
        ),
    ]


class QueueView(Struct, kw_only=True, frozen=True):
    """A queue with the runs of the caller's tenant in it. Counts end at 10,000."""

    name: str
    is_paused: bool
    is_paused_for_all: Annotated[
        bool, Meta(description="Whether a platform key paused it for all tenants.")
    ]
    paused_at: str | None
    max: Annotated[
        int | None,
        Meta(
            description="Maximum concurrent runs: the tenant's own limit, or the limit for all "
            "tenants if the tenant set none."
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
        bool, Meta(description="Whether it applies to all tenants, not only the caller's.")
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
        Meta(description="Tenants whose runs it executes, `*` for all. Other tenants are hidden."),
    ]
    kinds: list[str]
    started_at: str
    beat_at: str
    version: Annotated[
        str | None, Meta(description="Version of Rota; null for an earlier release.")
    ]
    observe_url: Annotated[
        str | None,
        Meta(
            description="Where its probes and metrics are; null if the listener is off. Only "
            "platform keys see it."
        ),
    ]


class WorkerList(Struct, kw_only=True, frozen=True):
    data: list[WorkerView]


class WorkerDrained(Struct, kw_only=True, frozen=True):
    worker_id: str
    name: str
    is_draining: bool


class WorkersQuery(AllTenantsQuery, kw_only=True, frozen=True, forbid_unknown_fields=True):
    with_dead: Annotated[
        bool, Meta(description="Include recently stopped workers. Default: `false`.")
    ] = False


class SchedulerView(Struct, kw_only=True, frozen=True):
    scheduler_id: str
    name: str
    is_draining: bool
    started_at: str
    beat_at: str
    shards: list[int]
    version: Annotated[
        str | None, Meta(description="Version of Rota; null for an earlier release.")
    ]
    observe_url: Annotated[
        str | None,
        Meta(
            description="Where its probes and metrics are; null if the listener is off. Only "
            "platform keys see it."
        ),
    ]


class Schedulers(Struct, kw_only=True, frozen=True):
    data: list[SchedulerView]


class ShardView(Struct, kw_only=True, frozen=True):
    shard: int
    scheduler: str | None
    epoch: int
    expires_at: str | None


class Shards(Struct, kw_only=True, frozen=True):
    data: list[ShardView]
