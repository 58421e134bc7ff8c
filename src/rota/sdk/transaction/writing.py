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

from rota.contract.drafts import read_drafts
from rota.contract.variants import variants_of
from rota.core.errors import InvalidInput, NotFound, SchemaMismatch, StoreFailed, StoreRefused
from rota.core.ids import stamped
from rota.core.origins import ChangeOrigin
from rota.core.submission import SpecVariant
from rota.core.time.calendars import Calendar
from rota.core.time.planning import NO_CALENDARS
from rota.flow.submit import submitting
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
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


async def write(driver: Driver, asked: Asked) -> list[Made]:
    """Write these jobs, all or none, into the transaction that is open on the connection."""
    variants = _variants(asked)
    driver.refuse_outside()
    borrowed = Borrowed(driver)
    conn = cast("Connection", borrowed)
    async with _explained(), borrowed.transaction():
        caller = await callers.describe(conn)
        if caller.is_read_only:
            raise InvalidInput("conn", "a read-only transaction", "one that may write")
        tenant_id = await _tenant_id(conn, asked.tenant, caller)
        known = await _calendars(conn, variants, tenant_id)
        now = caller.now.astimezone(UTC)  # a driver may show it in the zone of the session
        drafting = Drafting(now, known, origin=Origin(f"role {caller.role}", SOURCE))
        drafts = await submitting.draft_all(
            drafting, variants, lambda: stamped(now, os.urandom(10))
        )
        made = await submitting.submit_drafts(conn, drafts, now=now, calendars=known)
        await _note(conn, caller, tenant_id, list(zip(made, drafts, strict=True)))
        if asked.wake:
            await _wake(conn, now, made)
    return [_shown(each, draft) for each, draft in zip(made, drafts, strict=True)]


def _variants(asked: Asked) -> list[SpecVariant]:
    if not 1 <= len(asked.jobs) <= MOST:
        raise InvalidInput("jobs", f"{len(asked.jobs)} jobs", f"1 to {MOST} of them")
    return variants_of(read_drafts(asked.jobs), tenant=asked.tenant)


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


async def _note(
    conn: Connection, caller: Caller, tenant_id: int, made: Sequence[tuple[Submitted, Draft]]
) -> None:
    """Write down which role made which job, as the API writes down which key did. A submission
    says it itself.
    """
    entries = [
        NewEntry(
            tenant_id=tenant_id,
            actor=f"role {caller.role}",
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
        await audit.note_many(conn, entries)


async def _wake(conn: Connection, now: datetime, made: Sequence[Submitted]) -> None:
    """Tell whom it concerns, at the commit: elsewhere a hint is given after it, but only the caller
    knows when that is. So such commits wait for each other (F42); `wake=False` spares that.
    """
    if any(each.run_id is not None for each in made):
        await hints.give(conn, hints.RUNS)
    soon = now + NEAR
    if any(each.first_tick is not None and each.first_tick <= soon for each in made):
        await hints.give(conn, hints.JOBS)


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
