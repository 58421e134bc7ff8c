"""Stores pings and what they have received."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import InvalidInput, NameTaken, NotFound
from rota.core.pings import PingSignal, PingToken
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.tenant_locks import lock_resource

PINGS_PER_TENANT_MAX: Final = 10_000
PING_NAME_TAKEN: Final = "already in use; choose a name that no other ping of the tenant has"


class PingRow(NamedTuple):
    """A ping; JSON as text."""

    id: UUID
    tenant_id: int
    name: str
    handle: str
    schedule: str
    grace: timedelta
    policy: str
    version: int
    created_at: datetime
    pinged_at: datetime | None
    succeeded_at: datetime | None
    failed_at: datetime | None
    began_at: datetime | None
    overdue_at: datetime | None
    is_down: bool


class PingId(NamedTuple):
    id: UUID


class PingCount(NamedTuple):
    number: int


class PingRun(NamedTuple):
    run_id: UUID
    session_id: UUID


class PingRunId(NamedTuple):
    run_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPing:
    """`schedule` and `policy` are JSON texts."""

    id: UUID
    tenant_id: int
    name: str
    schedule: str
    grace: timedelta
    policy: str
    overdue_at: datetime | None


class CheckedPing(NamedTuple):
    """The result of a check."""

    id: UUID
    is_down: bool
    check_at: datetime | None


CREATE = statement("pings/create", PingRow)
COUNT = statement("pings/count", PingCount)
PAGE = statement("pings/page", PingRow)
GET = statement("pings/get", PingRow)
FIND = statement("pings/find", PingRow)
DELETE = statement("pings/delete", PingRow)
ROTATE = statement("pings/rotate", PingRow)
RECORD = statement("pings/record", PingId)
CLAIM_DUE = statement("pings/claim_due", PingRow)
RECORD_CHECK = statement("pings/record_check", PingId)
OPEN_RUN = statement("pings/open_run", PingRunId)
FIND_RUN = statement("pings/find_run", PingRun)
CLOSE_RUN = statement("pings/close_run", PingRunId)


async def create_ping(conn: Connection, new: NewPing, token: PingToken) -> PingRow:
    await lock_resource(conn, tenant_id=new.tenant_id, resource="pings")
    count = await COUNT.one(conn, tenant_id=new.tenant_id)
    if count is not None and count.number >= PINGS_PER_TENANT_MAX:
        wanted = f"a tenant may have at most {PINGS_PER_TENANT_MAX:,} pings; delete some first"
        raise InvalidInput("name", new.name, wanted)
    row = await CREATE.one(
        conn,
        id=new.id,
        tenant_id=new.tenant_id,
        name=new.name,
        digest=token.digest,
        handle=token.handle,
        schedule=new.schedule,
        grace=new.grace,
        policy=new.policy,
        overdue_at=new.overdue_at,
    )
    if row is None:
        raise NameTaken("name", new.name, PING_NAME_TAKEN)
    return row


async def list_pings(
    conn: Connection, *, tenant_id: int, after: str = "", limit: int = 50
) -> list[PingRow]:
    """Return pings by name, starting after `after`."""
    return await PAGE.all(conn, tenant_id=tenant_id, after=after, most=limit)


async def get_ping(conn: Connection, ping_id: UUID, *, tenant_id: int) -> PingRow:
    row = await GET.one(conn, id=ping_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("ping", ping_id)
    return row


async def find_ping(conn: Connection, digest: bytes) -> PingRow | None:
    """Return the ping with this token, locked until the end of the transaction."""
    return await FIND.one(conn, digest=digest)


async def delete_ping(conn: Connection, ping_id: UUID, *, tenant_id: int) -> PingRow:
    row = await DELETE.one(conn, id=ping_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("ping", ping_id)
    return row


async def rotate_token(
    conn: Connection, ping_id: UUID, token: PingToken, *, tenant_id: int
) -> PingRow:
    row = await ROTATE.one(
        conn, id=ping_id, tenant_id=tenant_id, digest=token.digest, handle=token.handle
    )
    if row is None:
        raise NotFound("ping", ping_id)
    return row


async def record_signal(
    conn: Connection, ping_id: UUID, signal: PingSignal, *, overdue_at: datetime | None
) -> None:
    """Record a signal. `overdue_at` is when the next success is overdue; None keeps it."""
    await RECORD.one(conn, id=ping_id, signal=signal.value, overdue_at=overdue_at)


async def claim_due(conn: Connection, *, limit: int) -> list[PingRow]:
    """Return pings to check, locked until the end of the transaction."""
    return await CLAIM_DUE.all(conn, most=limit)


async def record_checks(conn: Connection, checks: Sequence[CheckedPing]) -> None:
    await RECORD_CHECK.all(
        conn,
        ids=[check.id for check in checks],
        downs=[check.is_down for check in checks],
        check_ats=[check.check_at for check in checks],
    )


async def open_run(
    conn: Connection, *, ping_id: UUID, tenant_id: int, rid: str, run: PingRun
) -> None:
    """Remember the external run of work that has begun."""
    await OPEN_RUN.one(
        conn,
        ping_id=ping_id,
        tenant_id=tenant_id,
        rid=rid,
        run_id=run.run_id,
        session_id=run.session_id,
    )


async def find_run(conn: Connection, *, ping_id: UUID, rid: str) -> PingRun | None:
    return await FIND_RUN.one(conn, ping_id=ping_id, rid=rid)


async def close_run(conn: Connection, *, ping_id: UUID, rid: str) -> None:
    await CLOSE_RUN.one(conn, ping_id=ping_id, rid=rid)
