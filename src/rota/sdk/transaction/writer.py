"""Writes one submission in the caller's transaction: in a savepoint, with the code of the API.

Nothing is committed here: the jobs exist once the caller commits, and a rollback discards them. An
error rolls back to the savepoint, so the caller's transaction continues. Sync drivers use the same
coroutines, which they never suspend (entry.py).
"""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast
from uuid import UUID

from msgspec import Struct

from rota.contract.bulk_drafts import build_columns, build_variants
from rota.contract.job import JobDraft
from rota.contract.job_drafts import read_drafts
from rota.core.errors import InvalidInput, NotFound, SchemaMismatch, StoreFailed, StoreRefused
from rota.core.ids import build_id
from rota.core.origins import ChangeOrigin
from rota.core.submissions import SpecVariant
from rota.core.time.calendars import Calendar
from rota.core.time.planning import NO_CALENDARS
from rota.engine.submission import job_submission
from rota.engine.submission.bulk_submissions import draft_bulk, submit_bulk
from rota.engine.submission.drafts import CheckedJob, Drafter, SubmissionOrigin
from rota.engine.submission.job_submission import SubmittedJob
from rota.sdk.transaction.drivers import TRANSACTION_FAILED, CallerConnection, CallerDriver
from rota.store import audit, calendars, callers, hints, interning
from rota.store.audit import NewAuditEntry
from rota.store.callers import Caller
from rota.store.driver import Connection

# The longest time that a scheduler reads ahead: it finds a later tick in time without a hint.
SCHEDULER_READ_AHEAD: Final = timedelta(minutes=1)
AUDIT_SOURCE: Final = "transaction"
JOBS_PER_CALL_MAX: Final = 1000
# "current transaction is aborted": asyncpg reports it only with the next statement.
ABORTED_SQLSTATE: Final = "25P02"


class TransactionJob(Struct, frozen=True, kw_only=True):
    """A job or a submission that exists once the transaction is committed, with ids as in the API.
    The name of a submission defaults to its kind.
    """

    job_id: str
    run_id: str | None
    name: str
    next_run_at: datetime | None
    deduplicated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionRequest:
    """The jobs to write and their tenant; with `wake`, workers and schedulers get a hint."""

    jobs: Sequence[Mapping[str, Any]]
    tenant: str
    wake: bool


@dataclass(frozen=True, slots=True)
class TransactionTarget:
    """The connection and the caller of a submission; `now` is the database's time."""

    conn: Connection
    caller: Caller
    tenant_id: int
    now: datetime
    request: TransactionRequest

    @property
    def actor(self) -> str:
        return f"role {self.caller.role}"

    @property
    def origin(self) -> SubmissionOrigin:
        return SubmissionOrigin(self.actor, AUDIT_SOURCE)

    def new_id(self) -> UUID:
        return build_id(self.now, os.urandom(10))


async def write_jobs(driver: CallerDriver, request: TransactionRequest) -> list[TransactionJob]:
    """Write these jobs, all or none, in the open transaction of the connection."""
    drafts = _read(request)
    driver.require_transaction()
    borrowed = CallerConnection(driver)
    conn = cast("Connection", borrowed)
    async with _explain_errors(), borrowed.transaction():
        caller = await callers.describe_caller(conn)
        if caller.is_read_only:
            raise InvalidInput("conn", "a read-only transaction", "expected a writable transaction")
        tenant_id = await _tenant_id(conn, request.tenant, caller)
        now = caller.now.astimezone(UTC)  # a driver may return it in the session's time zone
        target = TransactionTarget(conn, caller, tenant_id, now, request)
        return await _write_bulk(target, drafts) or await _write_each(target, drafts)


async def _write_bulk(
    target: TransactionTarget, drafts: Sequence[JobDraft]
) -> list[TransactionJob] | None:
    """Write submissions that differ only in a few fields; None if they differ in others."""
    columns = build_columns(drafts, tenant=target.request.tenant)
    if columns is None:
        return None
    drafting = Drafter(target.now, NO_CALENDARS, origin=target.origin)
    bulk = draft_bulk(drafting, columns, target.new_id)
    if bulk is None:
        return None
    await submit_bulk(target.conn, bulk, now=target.now)
    is_immediate, kind = bulk.is_immediate, bulk.first.spec.kind
    await _wake(target, runs=is_immediate, tick=None if is_immediate else min(bulk.due_ats))
    return [
        TransactionJob(
            job_id=f"job_{id_}",
            run_id=f"run_{id_}" if is_immediate else None,
            name=name or kind,
            next_run_at=None if is_immediate else due_at,
        )
        for id_, name, due_at in zip(bulk.ids, bulk.names, bulk.due_ats, strict=True)
    ]


async def _write_each(
    target: TransactionTarget, job_drafts: Sequence[JobDraft]
) -> list[TransactionJob]:
    conn, now = target.conn, target.now
    variants = build_variants(job_drafts, tenant=target.request.tenant)
    known = await _calendars(conn, variants, target.tenant_id)
    drafting = Drafter(now, known, origin=target.origin)
    drafts = await job_submission.draft_all(drafting, variants, target.new_id)
    submitted = await job_submission.submit_drafts(conn, drafts, now=now, calendars=known)
    pairs = list(zip(submitted, drafts, strict=True))
    await _audit(target, pairs)
    ticks = [job.first_tick for job in submitted if job.first_tick is not None]
    has_runs = any(job.run_id is not None for job in submitted)
    await _wake(target, runs=has_runs, tick=min(ticks, default=None))
    return [_result(job, draft) for job, draft in pairs]


def _read(request: TransactionRequest) -> list[JobDraft]:
    if not 1 <= len(request.jobs) <= JOBS_PER_CALL_MAX:
        wanted = f"expected 1 to {JOBS_PER_CALL_MAX} jobs"
        raise InvalidInput("jobs", f"{len(request.jobs)} jobs", wanted)
    return read_drafts(request.jobs)


async def _tenant_id(conn: Connection, tenant: str, caller: Caller) -> int:
    try:
        return (await interning.find_tenant_ids(conn, [tenant]))[tenant]
    except NotFound:
        if not caller.is_walled:
            raise
        raise StoreRefused(
            reason=f"role {caller.role} cannot see tenant {tenant!r}",
            remedy=f"run `alter role {caller.role} set rota.tenant = '…'` with the tenant's id",
        ) from None


async def _calendars(
    conn: Connection, variants: Sequence[SpecVariant], tenant_id: int
) -> Mapping[str, Calendar]:
    """The calendars of the tenant, if a schedule uses any."""
    schedules = [variant.spec.schedule for variant in variants]
    if not any(schedule and schedule.get("calendars") for schedule in schedules):
        return NO_CALENDARS
    return await calendars.read_calendars(conn, tenant_id=tenant_id)


async def _audit(
    target: TransactionTarget, pairs: Sequence[tuple[SubmittedJob, CheckedJob]]
) -> None:
    """Write audit entries: which role created which job, as the API does for keys. Submissions
    have none, because they carry their origin themselves.
    """
    entries = [
        NewAuditEntry(
            tenant_id=target.tenant_id,
            actor=target.actor,
            source=AUDIT_SOURCE,
            action="job.create",
            thing="job",
            thing_id=f"job_{job.job_id.hex}",
            after={"name": draft.name, "version": 1},
            origin=ChangeOrigin.TRANSACTION,
        )
        for job, draft in pairs
        if not job.is_deduplicated and not job.is_submission
    ]
    if entries:
        await audit.record_changes(target.conn, entries)


async def _wake(target: TransactionTarget, *, runs: bool, tick: datetime | None) -> None:
    """Send hints to workers and schedulers with the commit. Elsewhere hints follow the commit, but
    only the caller knows when that is. So such commits wait for each other (F42), unless the caller
    passes `wake=False`.
    """
    if target.request.wake and runs:
        await hints.send_hint(target.conn, hints.RUNS_CHANNEL)
    if target.request.wake and tick is not None and tick <= target.now + SCHEDULER_READ_AHEAD:
        await hints.send_hint(target.conn, hints.JOBS_CHANNEL)


def _result(job: SubmittedJob, draft: CheckedJob) -> TransactionJob:
    return TransactionJob(
        job_id=f"job_{job.job_id.hex}",
        run_id=None if job.run_id is None else f"run_{job.run_id.hex}",
        name=draft.name or draft.spec.kind,
        next_run_at=job.first_tick,
        deduplicated=job.is_deduplicated,
    )


@asynccontextmanager
async def _explain_errors() -> AsyncIterator[None]:
    """Explain missing privileges and a wrong database to the owner of the connection."""
    try:
        yield
    except SchemaMismatch as error:
        raise SchemaMismatch(
            reason=error.reason,
            remedy="connect to the database that Rota uses, with the schema of `rota migrate`",
        ) from error
    except StoreFailed as error:
        if error.sqlstate != ABORTED_SQLSTATE:
            raise
        raise InvalidInput("conn", "a failed transaction", TRANSACTION_FAILED) from error
    except StoreRefused as error:
        if "permission denied" not in error.reason:
            raise
        raise StoreRefused(
            reason=error.reason,
            remedy="run `grant rota_api to …` for the role of this connection, and set its tenant: "
            "`alter role … set rota.tenant = '1'`",
        ) from error
