"""Brings finished runs back, and clears away dead letters (E10). Room: flow/submit.

Retry is the same run again: its id, so the outside sees the same idempotency key, and its attempts,
which go on counting. Replay is a new run of the same job, with the payload of the old one or with
another. Neither asks the overlap policy, because somebody asked for exactly this run; gates hold
all the same. Dropping a dead letter takes it off the list and leaves it in history.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Literal, NamedTuple
from uuid import UUID

from rota.core.binding import payload_text
from rota.core.bulk import RunFilter
from rota.core.errors import IllegalMove, NotFound
from rota.core.states import BAD, FINAL, RunState
from rota.core.submission import check_name
from rota.flow.submit import bulk
from rota.flow.submit.allowing import allow_runs, allow_runs_of
from rota.flow.submit.bulk import Action, Counted, Done
from rota.flow.submit.changing import KEEP, Keep
from rota.flow.submit.placing import passing, policy_of
from rota.store import jobs, live_runs, revival, tenants
from rota.store.driver import Connection
from rota.store.jobs import Job
from rota.store.live_runs import NewRun
from rota.store.transaction import transaction

REVIVABLE: Final = BAD | {RunState.CANCELLED, RunState.EXPIRED}
# A deleted job gets no more runs; its dead letters can only be dropped.
REPLAY: Final = Action(
    name="replay",
    count=partial(revival.count_dead, of_deleted=False),
    ids=partial(revival.dead, of_deleted=False),
)
DROP: Final = Action(name="drop", count=revival.count_dead, ids=revival.dead)


class Pace(NamedTuple):
    """At most so many in a call, one after the other at this distance; `before` were let go by
    calls before this one.
    """

    spacing: timedelta = timedelta(0)
    before: int = 0
    most: int = 1_000


AT_ONCE: Final = Pace()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Which run is to be made again, for whom, and with which payload if not with its own."""

    run_id: UUID
    by: str
    payload: object | Literal[Keep.KEEP] = KEEP


async def retry(conn: Connection, *, tenant_id: int, run_id: UUID, by: str) -> None:
    """Let a run that failed, was lost or was cancelled go again, as itself."""
    check_name(by, "by")
    async with transaction(conn):
        run = await revival.find(conn, run_id, tenant_id=tenant_id)
        if run.state not in REVIVABLE:
            raise IllegalMove("run", run.state.value, "be retried")
        await allow_runs_of(conn, [await _job_of(conn, run.job_id)])
        if not await live_runs.replay(conn, ids=[run_id]):
            # Somebody else was faster; it is alive now, or has ended again.
            run = await revival.find(conn, run_id, tenant_id=tenant_id)
            raise IllegalMove("run", run.state.value, "be retried")
        await revival.sign(conn, [run_id], by=by)


async def replay(
    conn: Connection,
    wanted: Replay,
    *,
    tenant_id: int,
    now: datetime,
    new_id: Callable[[], UUID],
) -> UUID:
    """Make a new run of the job of a finished one; return its id. The link is kept beside it."""
    check_name(wanted.by, "by")
    edited = None if wanted.payload is KEEP else payload_text(wanted.payload) or "null"
    async with transaction(conn):
        old = await revival.find(conn, wanted.run_id, tenant_id=tenant_id)
        if old.state not in FINAL:
            raise IllegalMove("run", old.state.value, "be replayed")
        job = await _job_of(conn, old.job_id)
        await allow_runs_of(conn, [job])
        payload = old.payload if edited is None else edited
        through = await passing(conn, job, json.loads(payload or job.payload or "null"))
        run = replace(
            _new_run(job, new_id(), now),
            scheduled_at=old.scheduled_at,
            priority=old.priority,
            payload=payload,
            gates=through,
        )
        await live_runs.insert_many(conn, [run])
        await revival.link(conn, run.id, replay_of=old.id, tenant_id=tenant_id, by=wanted.by)
    return run.id


async def count_dead(
    conn: Connection, which: RunFilter, *, action: Action, tenant_id: int, now: datetime
) -> Counted:
    """The dry run of `replay_dead` (action REPLAY) and of `drop_dead` (DROP)."""
    return await bulk.count(conn, action, which, tenant_id=tenant_id, now=now)


async def replay_dead(
    conn: Connection,
    which: RunFilter,
    *,
    tenant_id: int,
    token: str,
    by: str,
    pace: Pace = AT_ONCE,
) -> Done:
    """Let some of the dead letters that a dry run counted go again, as themselves: all at once, or
    at a pace that whatever they need can bear.
    """
    check_name(by, "by")
    async with transaction(conn):
        chosen = await bulk.choose(
            conn, REPLAY, which, tenant_id=tenant_id, token=token, most=pace.most
        )
        quotas = (await tenants.get(conn, tenant_id)).quotas
        await allow_runs(conn, quotas, tenant_id=tenant_id, more=len(chosen.ids))
        revived = await live_runs.replay(conn, ids=chosen.ids)
        if pace.spacing:
            await revival.spread(conn, revived, spacing=pace.spacing, before=pace.before)
        await revival.sign(conn, revived, by=by)
    return chosen.done(revived)


async def drop_dead(
    conn: Connection,
    which: RunFilter,
    *,
    tenant_id: int,
    token: str,
    by: str,
    most: int = 1_000,
) -> Done:
    """Take at most `most` of the dead letters that a dry run counted off the list."""
    check_name(by, "by")
    async with transaction(conn):
        chosen = await bulk.choose(conn, DROP, which, tenant_id=tenant_id, token=token, most=most)
        dropped = await revival.drop(conn, chosen.ids, tenant_id=tenant_id, by=by)
    return chosen.done(dropped)


async def drop(conn: Connection, *, tenant_id: int, run_id: UUID, by: str) -> None:
    """Take one dead letter off the list; one that is off it already stays so."""
    check_name(by, "by")
    async with transaction(conn):
        run = await revival.find(conn, run_id, tenant_id=tenant_id)
        if run.state not in BAD:
            raise IllegalMove("run", run.state.value, "be dropped")
        await revival.drop(conn, [run_id], tenant_id=tenant_id, by=by)


async def _job_of(conn: Connection, job_id: UUID) -> Job:
    """The job of a run of the tenant's; a deleted one gets no more runs."""
    job = (await jobs.read(conn, [job_id])).get(job_id)
    if job is None:
        raise NotFound("job", str(job_id))
    return job


def _new_run(job: Job, id_: UUID, now: datetime) -> NewRun:
    deadline = policy_of(job).deadline
    return NewRun(
        id=id_,
        job_id=job.id,
        scheduled_at=now,
        due_at=now,
        deadline_at=None if deadline is None else now + deadline,
        tenant_id=job.tenant_id,
        queue_id=job.queue_id,
        kind_id=job.kind_id,
        policy_id=job.policy_id,
        job_version=job.version,
        trigger="replay",
        guarantee=job.guarantee,
    )
