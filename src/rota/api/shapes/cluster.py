"""Queues, workers, schedulers and shards as JSON. Room: api/shapes."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from rota.api.shapes.jobs import RateDraft


class LimitsDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """What all runs of a queue share; null lifts a limit."""

    max: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)] | None,
        Meta(description="How many may run at a time."),
    ] = None
    rate: Annotated[RateDraft | None, Meta(description="How many may start per time.")] = None


class QueueView(Struct, kw_only=True, frozen=True):
    """A queue, and what of the caller's tenant is in it. Counts end at 10,000."""

    name: str
    is_paused: bool
    paused_at: str | None
    max: int | None
    rate: dict[str, Any] | None
    waiting: int
    later: int
    running: int
    oldest_waiting_since: str | None


class Queues(Struct, kw_only=True, frozen=True):
    data: list[QueueView]


class QueueState(Struct, kw_only=True, frozen=True):
    name: str
    is_paused: bool


class WorkerView(Struct, kw_only=True, frozen=True):
    worker_id: str
    name: str
    is_alive: bool
    is_draining: bool
    slots: int
    running: int
    queues: list[str]
    kinds: list[str]
    started_at: str
    beat_at: str


class Workers(Struct, kw_only=True, frozen=True):
    data: list[WorkerView]


class WorkerDrained(Struct, kw_only=True, frozen=True):
    worker_id: str
    name: str
    is_draining: bool


class WorkersQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
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
