"""One submission inside somebody's transaction: in a savepoint, by the code of the API.

Room: sdk/transaction. Nothing is committed here: the jobs are there when the caller commits, and
never were when the caller rolls back. What is refused undoes itself up to the savepoint, so the
transaction goes on. The same coroutine serves sync drivers, which never let it wait: entry.py.
"""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast
from uuid import UUID

from msgspec import Struct

from rota.contract.drafts import read_drafts
from rota.contract.job import JobDraft
from rota.contract.variants import columns_of, variants_of
from rota.core.errors import InvalidInput, NotFound, SchemaMismatch, StoreFailed, StoreRefused
from rota.core.ids import stamped
from rota.core.origins import ChangeOrigin
from rota.core.submission import SpecVariant
from rota.core.time.calendars import Calendar
from rota.core.time.planning import NO_CALENDARS
from rota.flow.submit import submitting
from rota.flow.submit.bulk_submissions import draft_bulk, submit_bulk
from rota.flow.submit.drafting import Draft, Drafting, Origin
from rota.flow.submit.submitting import Submitted
from rota.sdk.transaction.drivers import NOT_FAILED, Borrowed, Driver
from rota.store import audit, calendars, callers, hints, names
from rota.store.audit import NewEntry
from rota.store.callers import Caller
from rota.store.driver import Connection

# The longest that a scheduler reads ahead: a later tick is found in time without a hint.
NEAR: Final = timedelta(minutes=1)
SOURCE: Final = "transaction"
MOST: Final = 1000
# "current transaction is aborted": asyncpg tells it with the next statement only.
FAILED: Final = "25P02"


class Made(Struct, frozen=True, kw_only=True):
    """A job or a submission that is there once the transaction is committed; ids as the API shows
    them. A submission that has no name is called after its kind.
    """

    job_id: str
    run_id: str | None
    name: str
    next_run_at: datetime | None
    deduplicated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to write, for which tenant; `wake` is whether to tell workers and schedulers of it."""

    jobs: Sequence[Mapping[str, Any]]
    tenant: str
    wake: bool


@dataclass(frozen=True, slots=True)
class Target:
    """Where it is written, and who writes it; `now` is the time of the database."""

    conn: Connection
    caller: Caller
    tenant_id: int
    now: datetime
    asked: Asked

    @property
    def actor(self) -> str:
        return f"role {self.caller.role}"

    @property
    def origin(self) -> Origin:
        return Origin(self.actor, SOURCE)

    def new_id(self) -> UUID:
        return stamped(self.now, os.urandom(10))


async def write(driver: Driver, asked: Asked) -> list[Made]:
    """Write these jobs, all or none, into the transaction that is open on the connection."""
    drafts = _read(asked)
    driver.refuse_outside()
    borrowed = Borrowed(driver)
    conn = cast("Connection", borrowed)
    async with _explained(), borrowed.transaction():
        caller = await callers.describe(conn)
        if caller.is_read_only:
            raise InvalidInput("conn", "a read-only transaction", "one that may write")
        tenant_id = await _tenant_id(conn, asked.tenant, caller)
        now = caller.now.astimezone(UTC)  # a driver may show it in the zone of the session
        target = Target(conn, caller, tenant_id, now, asked)
        return await _write_bulk(target, drafts) or await _write_each(target, drafts)


async def _write_bulk(target: Target, drafts: Sequence[JobDraft]) -> list[Made] | None:
    """Write submissions that differ in a few fields only; None if they differ in more."""
    columns = columns_of(drafts, tenant=target.asked.tenant)
    if columns is None:
        return None
    drafting = Drafting(target.now, NO_CALENDARS, origin=target.origin)
    bulk = draft_bulk(drafting, columns, target.new_id)
    if bulk is None:
        return None
    await submit_bulk(target.conn, bulk, now=target.now)
    is_immediate, kind = bulk.is_immediate, bulk.first.spec.kind
    await _wake(target, runs=is_immediate, tick=None if is_immediate else min(bulk.due_ats))
    return [
        Made(
            job_id=f"job_{id_}",
            run_id=f"run_{id_}" if is_immediate else None,
            name=name or kind,
            next_run_at=None if is_immediate else due_at,
        )
        for id_, name, due_at in zip(bulk.ids, bulk.names, bulk.due_ats, strict=True)
    ]


async def _write_each(target: Target, asked: Sequence[JobDraft]) -> list[Made]:
    conn, now = target.conn, target.now
    variants = variants_of(asked, tenant=target.asked.tenant)
    known = await _calendars(conn, variants, target.tenant_id)
    drafting = Drafting(now, known, origin=target.origin)
    drafts = await submitting.draft_all(drafting, variants, target.new_id)
    made = await submitting.submit_drafts(conn, drafts, now=now, calendars=known)
    await _note(target, list(zip(made, drafts, strict=True)))
    ticks = [each.first_tick for each in made if each.first_tick is not None]
    has_runs = any(each.run_id is not None for each in made)
    await _wake(target, runs=has_runs, tick=min(ticks, default=None))
    return [_shown(each, draft) for each, draft in zip(made, drafts, strict=True)]


def _read(asked: Asked) -> list[JobDraft]:
    if not 1 <= len(asked.jobs) <= MOST:
        raise InvalidInput("jobs", f"{len(asked.jobs)} jobs", f"1 to {MOST} of them")
    return read_drafts(asked.jobs)


async def _tenant_id(conn: Connection, tenant: str, caller: Caller) -> int:
    try:
        return (await names.tenant_ids(conn, [tenant]))[tenant]
    except NotFound:
        if not caller.is_walled:
            raise
        raise StoreRefused(
            reason=f"the role {caller.role} sees no tenant {tenant!r}",
            remedy=f"`alter role {caller.role} set rota.tenant = '…'` with the id of the tenant",
        ) from None


async def _calendars(
    conn: Connection, variants: Sequence[SpecVariant], tenant_id: int
) -> Mapping[str, Calendar]:
    """The calendars of the tenant, if a schedule goes by any."""
    if not any(each.spec.schedule and each.spec.schedule.get("calendars") for each in variants):
        return NO_CALENDARS
    return await calendars.read_all(conn, tenant_id=tenant_id)


async def _note(target: Target, made: Sequence[tuple[Submitted, Draft]]) -> None:
    """Write down which role made which job, as the API writes down which key did. A submission
    says it itself.
    """
    entries = [
        NewEntry(
            tenant_id=target.tenant_id,
            actor=target.actor,
            source=SOURCE,
            action="job.create",
            thing="job",
            thing_id=f"job_{each.job_id.hex}",
            after={"name": draft.name, "version": 1},
            origin=ChangeOrigin.TRANSACTION,
        )
        for each, draft in made
        if not each.deduplicated and not each.is_submission
    ]
    if entries:
        await audit.note_many(target.conn, entries)


async def _wake(target: Target, *, runs: bool, tick: datetime | None) -> None:
    """Tell whom it concerns, at the commit: elsewhere a hint is given after it, but only the caller
    knows when that is. So such commits wait for each other (F42); `wake=False` spares that.
    """
    if target.asked.wake and runs:
        await hints.give(target.conn, hints.RUNS)
    if target.asked.wake and tick is not None and tick <= target.now + NEAR:
        await hints.give(target.conn, hints.JOBS)


def _shown(each: Submitted, draft: Draft) -> Made:
    return Made(
        job_id=f"job_{each.job_id.hex}",
        run_id=None if each.run_id is None else f"run_{each.run_id.hex}",
        name=draft.name or draft.spec.kind,
        next_run_at=each.first_tick,
        deduplicated=each.deduplicated,
    )


@asynccontextmanager
async def _explained() -> AsyncIterator[None]:
    """Say what a role or a database lacks in the words of somebody who brings a connection."""
    try:
        yield
    except SchemaMismatch as error:
        raise SchemaMismatch(
            reason=error.reason,
            remedy="bring a connection to the database that Rota uses and `rota migrate` has made",
        ) from error
    except StoreFailed as error:
        if error.sqlstate != FAILED:
            raise
        raise InvalidInput("conn", "a failed transaction", NOT_FAILED) from error
    except StoreRefused as error:
        if "permission denied" not in error.reason:
            raise
        raise StoreRefused(
            reason=error.reason,
            remedy="`grant rota_api to …` the role of this connection, and say which tenant is "
            "its own: `alter role … set rota.tenant = '1'`",
        ) from error
