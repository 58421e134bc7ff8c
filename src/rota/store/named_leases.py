"""Leases services of which one process runs at a time, such as the event relay."""

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import LeaseLost
from rota.store.driver import Connection
from rota.store.statement import statement


class LeaseEpoch(NamedTuple):
    epoch: int


ACQUIRE = statement("named_leases/acquire", LeaseEpoch)
CONFIRM = statement("named_leases/confirm", LeaseEpoch)
RELEASE = statement("named_leases/release", LeaseEpoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLease:
    """A held lease; nothing can be written with an older epoch."""

    name: str
    owner: UUID
    epoch: int


async def acquire_lease(
    conn: Connection, name: str, *, owner: UUID, holder: str, ttl: timedelta
) -> NamedLease | None:
    """Take or renew a lease. Return None while another process holds it.

    `owner` identifies one start of a process, `holder` names that process to people.
    """
    row = await ACQUIRE.one(conn, name=name, owner=owner, holder=holder, ttl=ttl)
    return None if row is None else NamedLease(name=name, owner=owner, epoch=row.epoch)


async def confirm_lease(conn: Connection, lease: NamedLease) -> None:
    """Raise `LeaseLost` unless this process still holds the lease, and keep it until the end of the
    transaction.
    """
    if await CONFIRM.one(conn, name=lease.name, owner=lease.owner, epoch=lease.epoch) is None:
        raise LeaseLost(thing="named lease", id=lease.name)


async def release_lease(conn: Connection, lease: NamedLease) -> None:
    """Let another process take the lease at once."""
    await RELEASE.one(conn, name=lease.name, owner=lease.owner, epoch=lease.epoch)
