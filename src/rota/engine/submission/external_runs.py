"""Records runs that a process outside of Rota executes, starts, reports and finishes.

The process is a worker for one run: it has a session with a lease, and renews it. If it dies, the
run is lost like the run of any worker. It is not retried, because no other process can execute it.
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
from rota.core.policy import Policy, RetryPolicy
from rota.core.states import RunState
from rota.core.submissions import JobSpec, RunSpec, encode_canonical
from rota.core.tenancy import ServedTenants
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.run_triggers import submit_runs
from rota.store import job_views, live_runs, logs, sessions
from rota.store.driver import Connection
from rota.store.live_runs import RunEnding
from rota.store.logs import LogPiece
from rota.store.sessions import NewSession, SessionRole

EXTERNAL_KIND: Final = "exec"
# Longer than a worker's lease: the process reports over HTTP every few seconds.
EXTERNAL_LEASE: Final = timedelta(seconds=60)
EXTERNAL_POLICY: Final = Policy(
    retries=RetryPolicy(max_retries=0), timeout=None, guarantee=Guarantee.AT_MOST_ONCE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalProcess:
    """An external process that is about to execute a run."""

    tenant: str
    tenant_id: int
    job: str
    host: str
    payload: Any
    labels: dict[str, str]
    # How long the run counts as running without a report.
    lease: timedelta = EXTERNAL_LEASE


class StartedExternalRun(NamedTuple):
    job_id: UUID
    run_id: UUID
    session_id: UUID


class ExternalOutput(NamedTuple):
    """A piece of output. `seq` counts from 0, so that no piece is stored twice."""

    seq: int
    stream: Stream
    text: str


class ExternalReport(NamedTuple):
    """A report of the process: its run, its session, and the output since the last report."""

    run_id: UUID
    session_id: UUID
    output: Sequence[ExternalOutput]


async def start_external_run(
    conn: Connection, process: ExternalProcess, *, now: datetime, new_id: Callable[[], UUID]
) -> StartedExternalRun:
    """Create the run, and its job if needed, in the caller's transaction."""
    job_id = await _find_or_create_job(conn, process, now=now, new_id=new_id)
    session = NewSession(
        id=new_id(),
        role=SessionRole.WORKER,
        name=f"exec {process.host}"[:200],
        slots=1,
        serves=encode_canonical(ServedTenants(tenants=(process.tenant,)).to_plain({})),
    )
    await sessions.open_session(conn, session, ttl=process.lease)
    spec = RunSpec(job_id=job_id, payload=process.payload)
    (run_id,) = await submit_runs(conn, [spec], now=now, new_id=new_id)
    await live_runs.take_external_run(conn, run_id=run_id, session_id=session.id)
    return StartedExternalRun(job_id, run_id, session.id)


async def _find_or_create_job(
    conn: Connection, outside: ExternalProcess, *, now: datetime, new_id: Callable[[], UUID]
) -> UUID:
    found = await job_views.get_job_by_name(conn, tenant_id=outside.tenant_id, name=outside.job)
    if found is not None:
        if found.kind != EXTERNAL_KIND:
            wanted = f"a job of kind {found.kind!r} has this name; choose another name"
            raise InvalidInput("job", outside.job, wanted)
        return found.id
    spec = JobSpec(
        name=outside.job,
        kind=EXTERNAL_KIND,
        tenant=outside.tenant,
        policy=EXTERNAL_POLICY,
        overlap=Overlap.ALLOW,
        labels=outside.labels,
    )
    (made,) = await submit_jobs(conn, [spec], now=now, new_id=new_id)
    return made.job_id


async def record_report(conn: Connection, report: ExternalReport, *, now: datetime) -> bool:
    """Store the output and renew the lease; return whether the run should be cancelled."""
    await _store_output(conn, report, now)
    beat = await sessions.send_heartbeat(
        conn, session_id=report.session_id, running=[report.run_id], ttl=EXTERNAL_LEASE
    )
    return report.run_id in beat.cancelling


async def finish_external_run(
    conn: Connection, report: ExternalReport, *, exit_code: int, reason: str, now: datetime
) -> RunState:
    """Store the remaining output and the outcome. Raise `LeaseLost` if the lease has expired."""
    await _store_output(conn, report, now)
    is_well = exit_code == 0
    ending = RunEnding(
        id=report.run_id,
        attempt=1,
        state=RunState.SUCCEEDED if is_well else RunState.DEAD,
        failures=None if is_well else 1,
        result=encode_canonical({"exit_code": exit_code}) if is_well else None,
        reason=None if is_well else encode_canonical({"type": "CommandFailed", "message": reason}),
    )
    moved = await live_runs.finish_runs(conn, session_id=report.session_id, endings=[ending])
    if report.run_id not in moved:
        raise LeaseLost(thing="run", id=report.run_id)
    await sessions.close_session(conn, report.session_id)
    return moved[report.run_id]


async def _store_output(conn: Connection, report: ExternalReport, now: datetime) -> None:
    if not report.output:
        return
    attempt = await live_runs.lock_external_run(
        conn, run_id=report.run_id, session_id=report.session_id
    )
    pieces = [
        LogPiece(report.run_id, attempt, line.seq, line.stream.value, now, line.text.encode())
        for line in report.output
    ]
    await logs.append_bounded(conn, pieces)
