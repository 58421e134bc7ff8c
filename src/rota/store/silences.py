"""Stores silences: times in which messages about matching incidents are held back."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.alerts.conditions import SubjectSelector
from rota.core.errors import NotFound, QuotaExceeded
from rota.store import tenant_locks
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import join_transaction

SILENCES_PER_TENANT_MAX: Final = 200


class SilenceRow(NamedTuple):
    """A stored silence. `match` is a JSON text."""

    id: UUID
    tenant_id: int
    match: str
    starts_at: datetime
    ends_at: datetime
    calendar: str | None
    reason: str
    created_by: str
    created_at: datetime
    ended_by: str | None

    def read_selector(self) -> SubjectSelector:
        """Return what the silence matches; fields that only newer code knows match nothing more."""
        stored = json.loads(self.match)
        return SubjectSelector(
            job=stored.get("job"),
            step=stored.get("step"),
            task=stored.get("task"),
            queue=stored.get("queue"),
            labels=stored.get("labels", {}),
        )


class SilenceId(NamedTuple):
    id: UUID


class SilenceTenant(NamedTuple):
    id: int


class SilenceCount(NamedTuple):
    number: int


CREATE = statement("silences/create", SilenceRow)
COUNT = statement("silences/count", SilenceCount)
PAGE = statement("silences/page", SilenceRow)
END = statement("silences/end", SilenceRow)
READ_ACTIVE = statement("silences/read_active", SilenceRow)
FIND_BEGUN = statement("silences/find_begun", SilenceTenant)
PRUNE = statement("silences/prune", SilenceId)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSilence:
    id: UUID
    tenant_id: int
    match: str
    starts_at: datetime
    ends_at: datetime
    calendar: str | None
    reason: str
    created_by: str


async def create_silence(conn: Connection, new: NewSilence, *, now: datetime) -> SilenceRow:
    async with join_transaction(conn):
        await tenant_locks.lock_resource(conn, tenant_id=new.tenant_id, resource="silences")
        count = await COUNT.one(conn, tenant_id=new.tenant_id, now=now)
        if count is not None and count.number >= SILENCES_PER_TENANT_MAX:
            reason = f"it has {count.number} silences; end one before adding another"
            raise QuotaExceeded("silences", SILENCES_PER_TENANT_MAX, reason)
        row = await CREATE.one(
            conn,
            id=new.id,
            tenant_id=new.tenant_id,
            match=new.match,
            starts_at=new.starts_at,
            ends_at=new.ends_at,
            calendar=new.calendar,
            reason=new.reason,
            created_by=new.created_by,
        )
    if row is None:
        raise RuntimeError("an insert without conflict clause returned no row")
    return row


async def list_silences(
    conn: Connection,
    *,
    tenant_id: int,
    now: datetime,
    with_ended: bool = False,
    before: tuple[datetime, UUID] | None = None,
    limit: int = 50,
) -> list[SilenceRow]:
    """Return silences, latest end first, starting after `before`."""
    return await PAGE.all(
        conn,
        tenant_id=tenant_id,
        now=now,
        with_ended=with_ended,
        before_at=None if before is None else before[0],
        before_id=None if before is None else before[1],
        most=limit,
    )


async def end_silence(
    conn: Connection, silence_id: UUID, *, tenant_id: int, by: str, now: datetime
) -> SilenceRow:
    """End a silence now. Raises `NotFound` if it has ended already."""
    row = await END.one(conn, id=silence_id, tenant_id=tenant_id, by=by, now=now)
    if row is None:
        raise NotFound("silence", f"sil_{silence_id.hex}")
    return row


async def read_active(
    conn: Connection, *, tenant_ids: Iterable[int] | None = None, now: datetime
) -> list[SilenceRow]:
    """Return silences between their start and end, of some tenants or of all."""
    wanted = None if tenant_ids is None else list(tenant_ids)
    return await READ_ACTIVE.all(conn, tenant_ids=wanted, now=now)


async def find_begun(conn: Connection, *, since: datetime, now: datetime) -> list[int]:
    """Return tenants whose silences may have begun or ended since a time, by clock or calendar."""
    return [row.id for row in await FIND_BEGUN.all(conn, since=since, now=now)]


async def prune_silences(conn: Connection, *, before: datetime, limit: int) -> int:
    """Delete silences that ended before a time; return how many."""
    return len(await PRUNE.all(conn, before=before, most=limit))
