"""Stores hooks, which receive signed events from other systems.

A secret is encrypted with the master key and bound to its hook and version (core/secret_encryption.py); it is
shown once, when it is created. `find` is for the owner's connections: the caller of a hook has no
tenant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import Conflict, NameTaken, NotFound, SecretsUnavailable
from rota.core.secret_encryption import (
    SecretIdentity,
    decrypt_secret,
    derive_key_id,
    encrypt_secret,
)
from rota.store import tenants, turns
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import joined

FREE: Final = "already in use; choose a name that no other hook of the tenant has"


class Hook(NamedTuple):
    id: UUID
    name: str
    type: str
    style: str
    version: int
    created_at: datetime
    used_at: datetime | None


class Found(NamedTuple):
    id: UUID
    tenant_id: int
    name: str
    type: str
    style: str
    version: int
    key_id: str
    ciphertext: bytes
    former: bytes | None


class Number(NamedTuple):
    number: int


class Id(NamedTuple):
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHook:
    id: UUID
    tenant_id: int
    name: str
    type: str
    style: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """The master key, and random bytes that are used once."""

    master: bytes
    nonce: bytes


CREATE = statement("hooks/create", Hook)
PAGE = statement("hooks/page", Hook)
COUNT = statement("hooks/count", Number)
DELETE = statement("hooks/delete", Hook)
LOCK = statement("hooks/lock", Hook)
ROTATE = statement("hooks/rotate", Hook)
REMEMBER = statement("hooks/remember", Id)
FORGET_DELIVERIES = statement("hooks/forget_deliveries", Id)
FIND = statement("hooks/find", Found)
TOUCH = statement("hooks/touch", Id)


async def create(conn: Connection, new: NewHook, secret: str, *, with_: Seal) -> Hook:
    async with joined(conn):
        await turns.take_turn(conn, tenant_id=new.tenant_id, things="hooks")
        count = await COUNT.one(conn, tenant_id=new.tenant_id)
        existing = 0 if count is None else count.number
        await tenants.allow_one_more(
            conn, tenant_id=new.tenant_id, quota="max_hooks", there=existing
        )
        row = await CREATE.one(
            conn,
            id=new.id,
            tenant_id=new.tenant_id,
            name=new.name,
            type=new.type,
            style=new.style,
            key_id=derive_key_id(with_.master),
            ciphertext=_sealed(with_, _place(new.tenant_id, new.id, 1), secret),
        )
    if row is None:
        raise NameTaken("name", new.name, FREE)
    return row


async def page(conn: Connection, *, tenant_id: int, after: str = "", limit: int = 50) -> list[Hook]:
    """Return hooks by name, starting after `after`."""
    return await PAGE.all(conn, tenant_id=tenant_id, after=after, most=limit)


async def get(conn: Connection, hook_id: UUID, *, tenant_id: int) -> Hook:
    """Return a hook, locked until the end of the transaction."""
    row = await LOCK.one(conn, id=hook_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("hook", str(hook_id))
    return row


async def delete(conn: Connection, hook_id: UUID, *, tenant_id: int) -> Hook:
    row = await DELETE.one(conn, id=hook_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("hook", str(hook_id))
    return row


async def rotate(
    conn: Connection,
    hook_id: UUID,
    secret: str,
    *,
    tenant_id: int,
    former_for: timedelta,
    with_: Seal,
) -> Hook:
    """Replace the secret of a hook; the previous one stays valid for `former_for`."""
    async with joined(conn):
        hook = await get(conn, hook_id, tenant_id=tenant_id)
        place = _place(tenant_id, hook_id, hook.version + 1)
        row = await ROTATE.one(
            conn,
            id=hook_id,
            version=hook.version,
            key_id=derive_key_id(with_.master),
            ciphertext=_sealed(with_, place, secret),
            former_for=former_for,
        )
    if row is None:
        raise Conflict("hook", "another request is changing it; retry", retry_after=1.0)
    return row


async def find(conn: Connection, hook_id: UUID) -> Found:
    row = await FIND.one(conn, id=hook_id)
    if row is None:
        raise NotFound("hook", str(hook_id))
    return row


async def touch(conn: Connection, hook_id: UUID) -> None:
    await TOUCH.one(conn, id=hook_id)


async def remember(conn: Connection, hook: Found, digest: bytes) -> bool:
    """Record a delivery by its 32-byte digest; return whether it is new."""
    row = await REMEMBER.one(conn, tenant_id=hook.tenant_id, hook_id=hook.id, digest=digest)
    return row is not None


async def forget_deliveries(conn: Connection, *, keep: timedelta, limit: int) -> int:
    """Delete at most `limit` deliveries older than `keep`; return how many."""
    return len(await FORGET_DELIVERIES.all(conn, keep=keep, most=limit))


def secrets_of(hook: Found, master: bytes) -> Sequence[str]:
    """Return the valid secrets, newest first."""
    if hook.key_id != derive_key_id(master):
        raise SecretsUnavailable(
            reason=f"the hook {hook.name!r} was encrypted with another master key",
            remedy="rotate its secret",
        )
    found = [decrypt_secret(master, _place(hook.tenant_id, hook.id, hook.version), hook.ciphertext)]
    if hook.former is not None:
        place = _place(hook.tenant_id, hook.id, hook.version - 1)
        found.append(decrypt_secret(master, place, hook.former))
    return [secret.decode() for secret in found]


def _place(tenant_id: int, hook_id: UUID, version: int) -> SecretIdentity:
    return SecretIdentity(tenant_id=tenant_id, name=f"hook {hook_id.hex}", version=version)


def _sealed(with_: Seal, place: SecretIdentity, secret: str) -> bytes:
    return encrypt_secret(with_.master, place, secret.encode(), nonce=with_.nonce)
