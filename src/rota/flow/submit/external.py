"""Runs that a process outside of Rota carries out: begun, told of and ended by that process.

Room: flow/submit. It is a worker for one run: it has a session with a lease, and renews it. If it
dies, the run is lost like that of any worker; nobody else could carry it out, so it is not tried
again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from rota.core.errors import InvalidInput, LeaseLost
from rota.core.executor import Stream
from rota.core.outcome import Guarantee
from rota.core.overlap import Overlap
from rota.core.policy import Policy
from rota.core.retry import Retries
from rota.core.states import RunState
from rota.core.submission import JobSpec, RunSpec, canonical
from rota.core.tenancy import ServedTenants
from rota.flow.submit.submitting import submit
from rota.flow.submit.triggering import submit_runs
from rota.store import external, job_views, live_runs, logs, sessions
from rota.store.driver import Connection
from rota.store.live_runs import Ending
from rota.store.logs import Piece
from rota.store.sessions import NewSession, Role

KIND: Final = "exec"
# Longer than a worker's: whoever tells of a run does so over HTTP, once in a few seconds.
LEASE: Final = timedelta(seconds=60)
POLICY: Final = Policy(retries=Retries(most=0), timeout=None, guarantee=Guarantee.AT_MOST_ONCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """A process that is about to carry something out."""

    tenant: str
    tenant_id: int
    job: str
    host: str
    payload: Any
    labels: dict[str, str]


class Begun(NamedTuple):
    job_id: UUID
    run_id: UUID
    session_id: UUID


class Said(NamedTuple):
    """Something that it wrote; `seq` counts from 0, so that nothing is kept twice."""

    seq: int
    stream: Stream
    text: str


class Told(NamedTuple):
    """Whose run it is, and what was written since the last time."""

    run_id: UUID
    session_id: UUID
    output: Sequence[Said]


async def begin(
    conn: Connection, outside: Outside, *, now: datetime, new_id: Callable[[], UUID]
) -> Begun:
    """Make the run, and its job if there is none. In a transaction of the caller's."""
    job_id = await _job(conn, outside, now=now, new_id=new_id)
    session = NewSession(
        id=new_id(),
        role=Role.WORKER,
        name=f"exec {outside.host}"[:200],
        slots=1,
        serves=canonical(ServedTenants(tenants=(outside.tenant,)).to_plain({})),
    )
    await sessions.open_session(conn, session, ttl=LEASE)
    spec = RunSpec(job_id=job_id, payload=outside.payload)
    (run_id,) = await submit_runs(conn, [spec], now=now, new_id=new_id)
    await external.take(conn, run_id=run_id, session_id=session.id)
    return Begun(job_id, run_id, session.id)


async def _job(
    conn: Connection, outside: Outside, *, now: datetime, new_id: Callable[[], UUID]
) -> UUID:
    found = await job_views.by_name(conn, tenant_id=outside.tenant_id, name=outside.job)
    if found is not None:
        if found.kind != KIND:
            wanted = f"another name: a job of the kind {found.kind!r} has this one"
            raise InvalidInput("job", outside.job, wanted)
        return found.id
    spec = JobSpec(
        name=outside.job,
        kind=KIND,
        tenant=outside.tenant,
        policy=POLICY,
        overlap=Overlap.ALLOW,
        labels=outside.labels,
    )
    (made,) = await submit(conn, [spec], now=now, new_id=new_id)
    return made.job_id


async def tell(conn: Connection, told: Told, *, now: datetime) -> bool:
    """Keep what was written and renew the lease; return whether the run is to be cancelled."""
    await _keep(conn, told, now)
    beat = await sessions.beat(conn, session_id=told.session_id, running=[told.run_id], ttl=LEASE)
    return told.run_id in beat.cancelling


async def end(conn: Connection, told: Told, *, exit_code: int, why: str, now: datetime) -> RunState:
    """Keep the rest and how it ended. Raises `LeaseLost` if it is not this process's any more."""
    await _keep(conn, told, now)
    is_well = exit_code == 0
    ending = Ending(
        id=told.run_id,
        attempt=1,
        state=RunState.SUCCEEDED if is_well else RunState.DEAD,
        failures=None if is_well else 1,
        result=canonical({"exit_code": exit_code}) if is_well else None,
        reason=None if is_well else canonical({"type": "CommandFailed", "message": why}),
    )
    moved = await live_runs.finish(conn, session_id=told.session_id, endings=[ending])
    if told.run_id not in moved:
        raise LeaseLost(thing="run", id=told.run_id)
    await sessions.close(conn, told.session_id)
    return moved[told.run_id]


async def _keep(conn: Connection, told: Told, now: datetime) -> None:
    if not told.output:
        return
    attempt = await external.hold(conn, run_id=told.run_id, session_id=told.session_id)
    pieces = [
        Piece(told.run_id, attempt, said.seq, said.stream.value, now, said.text.encode())
        for said in told.output
    ]
    await logs.append_bounded(conn, pieces)
