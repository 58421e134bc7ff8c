"""Everything Rota asks of jobs: writing, pausing, and reading their payloads. Room: store."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.core.outcome import Guarantee
from rota.core.shard import shard_of
from rota.store.driver import Connection
from rota.store.statement import statement


class Written(NamedTuple):
    id: UUID


class Payload(NamedTuple):
    id: UUID
    version: int
    payload: str | None


class Paused(NamedTuple):
    id: UUID
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job as it is written. `tick_at` and `fire_at` are its first tick, None if it has none;
    `fired` is 0 if its schedule has a cap on its runs.
    """

    id: UUID
    tenant_id: int
    name: str
    kind_id: int
    queue_id: int
    policy_id: int
    priority: int = 5
    overlap: str = "skip"
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    schedule: str | None = None
    schedule_id: int | None = None
    payload: str | None = None
    labels: str = "{}"
    user_id: str | None = None
    tick_at: datetime | None = None
    fire_at: datetime | None = None
    fired: int | None = None


INSERT_MANY = statement("jobs/insert_many", Written)
PAYLOADS = statement("jobs/payloads", Payload)
PAUSE = statement("jobs/pause", Paused)


async def insert_many(conn: Connection, jobs: Sequence[NewJob]) -> list[UUID]:
    """Write jobs and their cursors, all or none."""
    written = await INSERT_MANY.all(
        conn,
        ids=[job.id for job in jobs],
        tenant_ids=[job.tenant_id for job in jobs],
        names=[job.name for job in jobs],
        kind_ids=[job.kind_id for job in jobs],
        queue_ids=[job.queue_id for job in jobs],
        policy_ids=[job.policy_id for job in jobs],
        priorities=[job.priority for job in jobs],
        overlap_policies=[job.overlap for job in jobs],
        guarantees=[job.guarantee for job in jobs],
        schedules=[job.schedule for job in jobs],
        payloads=[job.payload for job in jobs],
        labels=[job.labels for job in jobs],
        user_ids=[job.user_id for job in jobs],
        tick_ats=[job.tick_at for job in jobs],
        fire_ats=[job.fire_at for job in jobs],
        fired=[job.fired for job in jobs],
        schedule_ids=[job.schedule_id for job in jobs],
        shards=[shard_of(job.id) for job in jobs],
    )
    return [row.id for row in written]


async def payloads(conn: Connection, ids: Sequence[UUID]) -> list[Payload]:
    return await PAYLOADS.all(conn, ids=ids)


async def pause(conn: Connection, *, ids: Sequence[UUID], held: str) -> list[UUID]:
    """Pause jobs; once this has returned, no tick of theirs is decided any more."""
    return [row.id for row in await PAUSE.all(conn, ids=ids, held=held)]
