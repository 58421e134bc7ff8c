"""Writes jobs that differ in nothing but a few columns. Room: store.

The same rows that jobs.py writes for any jobs. What all of them share is sent once, which is most
of what a bulk of jobs costs to send and to unpack (docs/adr/0013-api.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from rota.core.shard import shard_of
from rota.store.driver import Connection
from rota.store.jobs import NewJob, refusing_taken
from rota.store.statement import Nothing, statement

INSERT = statement("jobs/insert_alike", Nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What each of them has for itself, one list a column; JSON as text."""

    ids: Sequence[UUID]
    names: Sequence[str]
    schedules: Sequence[str | None]
    payloads: Sequence[str | None]
    tick_ats: Sequence[datetime]
    fire_ats: Sequence[datetime]


async def insert(conn: Connection, model: NewJob, each: Columns) -> None:
    """Write jobs with ticks to come that are like `model`, which has no gates, limits or graph; all
    or none: a name that is taken refuses them.
    """
    with refusing_taken(each.names):
        await INSERT.all(
            conn,
            ids=each.ids,
            names=each.names,
            schedules=each.schedules,
            payloads=each.payloads,
            tick_ats=each.tick_ats,
            fire_ats=[] if each.fire_ats is each.tick_ats else each.fire_ats,
            shards=[shard_of(id_) for id_ in each.ids],
            tenant_id=model.tenant_id,
            state=model.state,
            kind_id=model.kind_id,
            queue_id=model.queue_id,
            policy_id=model.policy_id,
            schedule_id=model.schedule_id,
            priority=model.priority,
            overlap=model.overlap,
            guarantee=model.guarantee,
            keep_first=model.keep_first,
            when_queue_paused=model.when_queue_paused,
            labels=model.labels,
            user_id=model.user_id,
            deadline=model.deadline,
            fired=model.fired,
        )
