"""Brings finished runs back, and clears away dead letters (E10). Room: flow/submit.

Retry is the same run again: its id, so the outside sees the same idempotency key, and its attempts,
which go on counting. Replay is a new run of the same job. Both use what the old run used: kind,
queue, policy and payload, whatever became of its job since; only a replay takes another payload, if
the caller gives one. Neither asks the overlap policy, because somebody asked for exactly this run;
gates hold all the same. Dropping a dead letter takes it off the list and leaves it in history.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple
from uuid import UUID

from rota.contract.policy import read_stored_policy
from rota.core.binding import payload_text
from rota.core.bulk import RunFilter
from rota.core.errors import IllegalMove
from rota.core.states import BAD, FINAL, RunState
from rota.core.submission import check_name
from rota.flow.submit import bulk
from rota.flow.submit.allowing import allow_runs
from rota.flow.submit.bulk import Action, Counted, Done
from rota.flow.submit.changing import KEEP, Keep
from rota.flow.submit.placing import passing
from rota.store import jobs, live_runs, revival, tenants
from rota.store.driver import Connection
from rota.store.live_runs import NewRun
from rota.store.revival import Owned
from rota.store.transaction import transaction

REVIVABLE: Final = BAD | {RunState.CANCELLED, RunState.EXPIRED}
REPLAY: Final = Action(name="replay", find=revival.find_dead)
DROP: Final = Action(name="drop", find=revival.find_dead)


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
        await _allow_one(conn, tenant_id)
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
        await _allow_one(conn, tenant_id)
        job = (await jobs.read(conn, [old.job_id])).get(old.job_id)
        payload = edited or old.payload or (job and job.payload)
        through = tuple(old.gates or ())
        if job is not None:
            through = await passing(conn, job, json.loads(payload or "null"))
        run = replace(_like(old, tenant_id, new_id(), now), payload=payload, gates=through)
        if not old.has_job:
            run = replace(run, job_id=run.id)  # a submission of its own
        await live_runs.insert_many(conn, [run])
        if not old.has_job:
            await revival.describe(
                conn, run.id, replay_of=old.id, tenant_id=tenant_id, by=wanted.by
            )
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


async def _allow_one(conn: Connection, tenant_id: int) -> None:
    quotas = (await tenants.get(conn, tenant_id)).quotas
    await allow_runs(conn, quotas, tenant_id=tenant_id, more=1)


def _like(old: Owned, tenant_id: int, id_: UUID, now: datetime) -> NewRun:
    """A run that is due now, with what another one ran with."""
    policy = read_stored_policy(json.loads(old.policy or "{}"))
    return NewRun(
        id=id_,
        job_id=old.job_id,
        scheduled_at=old.scheduled_at,
        due_at=now,
        deadline_at=None if policy.deadline is None else now + policy.deadline,
        tenant_id=tenant_id,
        queue_id=old.queue_id,
        kind_id=old.kind_id,
        policy_id=old.policy_id,
        job_version=old.job_version,
        trigger="replay",
        priority=old.priority,
        guarantee=policy.guarantee,
    )
