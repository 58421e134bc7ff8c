"""Stores hooks, which receive signed events from other systems.

A secret is encrypted with the master key and bound to its hook and version
(core/secret_encryption.py); it is shown once, when it is created. `find` is for the owner's
connections: the caller of a hook has no tenant.
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
from rota.store import tenant_locks, tenants
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import join_transaction

HOOK_NAME_TAKEN: Final = "already in use; choose a name that no other hook of the tenant has"


class Hook(NamedTuple):
    id: UUID
    name: str
    type: str
    style: str
    version: int
    created_at: datetime
    used_at: datetime | None


class HookSecrets(NamedTuple):
    id: UUID
    tenant_id: int
    name: str
    type: str
    style: str
    version: int
    key_id: str
    ciphertext: bytes
    former: bytes | None


class HookCount(NamedTuple):
    number: int


class HookId(NamedTuple):
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHook:
    id: UUID
    tenant_id: int
    name: str
    type: str
    style: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSeal:
    """The master key, and random bytes that are used once."""

    master: bytes
    nonce: bytes


CREATE = statement("hooks/create", Hook)
PAGE = statement("hooks/page", Hook)
COUNT = statement("hooks/count", HookCount)
DELETE = statement("hooks/delete", Hook)
LOCK = statement("hooks/lock", Hook)
ROTATE = statement("hooks/rotate", Hook)
REMEMBER = statement("hooks/record_delivery", HookId)
FORGET_DELIVERIES = statement("hooks/delete_deliveries", HookId)
FIND = statement("hooks/find", HookSecrets)
TOUCH = statement("hooks/record_use", HookId)


async def create_hook(conn: Connection, new: NewHook, secret: str, *, sealing: HookSeal) -> Hook:
    async with join_transaction(conn):
        await tenant_locks.lock_resource(conn, tenant_id=new.tenant_id, resource="hooks")
        count = await COUNT.one(conn, tenant_id=new.tenant_id)
        existing = 0 if count is None else count.number
        await tenants.check_quota(
            conn, tenant_id=new.tenant_id, quota="max_hooks", existing=existing
        )
        row = await CREATE.one(
            conn,
            id=new.id,
            tenant_id=new.tenant_id,
            name=new.name,
            type=new.type,
            style=new.style,
            key_id=derive_key_id(sealing.master),
            ciphertext=_sealed(sealing, _place(new.tenant_id, new.id, 1), secret),
        )
    if row is None:
        raise NameTaken("name", new.name, HOOK_NAME_TAKEN)
    return row


async def list_hooks(
    conn: Connection, *, tenant_id: int, after: str = "", limit: int = 50
) -> list[Hook]:
    """Return hooks by name, starting after `after`."""
    return await PAGE.all(conn, tenant_id=tenant_id, after=after, most=limit)


async def lock_hook(conn: Connection, hook_id: UUID, *, tenant_id: int) -> Hook:
    """Return a hook, locked until the end of the transaction."""
    row = await LOCK.one(conn, id=hook_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("hook", str(hook_id))
    return row


async def delete_hook(conn: Connection, hook_id: UUID, *, tenant_id: int) -> Hook:
    row = await DELETE.one(conn, id=hook_id, tenant_id=tenant_id)
    if row is None:
        raise NotFound("hook", str(hook_id))
    return row


async def rotate_secret(
    conn: Connection,
    hook_id: UUID,
    secret: str,
    *,
    tenant_id: int,
    former_for: timedelta,
    sealing: HookSeal,
) -> Hook:
    """Replace the secret of a hook; the previous one stays valid for `former_for`."""
    async with join_transaction(conn):
        hook = await lock_hook(conn, hook_id, tenant_id=tenant_id)
        place = _place(tenant_id, hook_id, hook.version + 1)
        row = await ROTATE.one(
            conn,
            id=hook_id,
            version=hook.version,
            key_id=derive_key_id(sealing.master),
            ciphertext=_sealed(sealing, place, secret),
            former_for=former_for,
        )
    if row is None:
        raise Conflict("hook", "another request is changing it; retry", retry_after=1.0)
    return row


async def find_hook(conn: Connection, hook_id: UUID) -> HookSecrets:
    row = await FIND.one(conn, id=hook_id)
    if row is None:
        raise NotFound("hook", str(hook_id))
    return row


async def record_use(conn: Connection, hook_id: UUID) -> None:
    await TOUCH.one(conn, id=hook_id)


async def record_delivery(conn: Connection, hook: HookSecrets, digest: bytes) -> bool:
    """Record a delivery by its 32-byte digest; return whether it is new."""
    row = await REMEMBER.one(conn, tenant_id=hook.tenant_id, hook_id=hook.id, digest=digest)
    return row is not None


async def delete_deliveries(conn: Connection, *, keep: timedelta, limit: int) -> int:
    """Delete at most `limit` deliveries older than `keep`; return how many."""
    return len(await FORGET_DELIVERIES.all(conn, keep=keep, most=limit))


def decrypt_secrets(hook: HookSecrets, master: bytes) -> Sequence[str]:
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


def _sealed(with_: HookSeal, place: SecretIdentity, secret: str) -> bytes:
    return encrypt_secret(with_.master, place, secret.encode(), nonce=with_.nonce)
