"""Creates, finds and revokes API keys, including the bootstrap admin key.

Only the digest of a key's secret is stored, and no list shows it. A key is found by its digest, on
a connection of the owner, because the tenant is not known yet; the database's clock decides about
expiry and revocation. core/access.py defines roles, core/api_keys.py the text of a key.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core import api_keys
from rota.core.access import Principal, Role
from rota.core.api_keys import ApiKey
from rota.core.errors import Conflict, InvalidInput, NotFound
from rota.core.submissions import check_visible_name
from rota.store import interning, tenant_locks, tenants
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import join_transaction

KEY_LIFETIME: Final = timedelta(days=90)
KEY_LIFETIME_MAX: Final = timedelta(days=366)
# How long before its expiry Rota warns about a key.
EXPIRY_WARNING: Final = timedelta(days=14)
KEY_LIFETIME_MIN: Final = timedelta(minutes=1)
BOOTSTRAP_KEY_NAME: Final = "bootstrap admin key"
# Releases before 0.2 gave it the second name; such keys are renewed and warned about as well.
BOOTSTRAP_KEY_NAMES: Final = (BOOTSTRAP_KEY_NAME, "first key of the platform")
_LOWEST: Final = UUID(int=0)
_PLATFORM: Final = 0


class KeyRow(NamedTuple):
    """A key as lists show it."""

    id: UUID
    tenant_id: int
    name: str
    handle: str
    role: Role
    user_id: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None


class KeyOwner(NamedTuple):
    key_id: UUID
    tenant_id: int
    tenant: str
    role: Role
    name: str
    user_id: str | None
    expires_at: datetime | None


class TouchedKey(NamedTuple):
    id: UUID


class ExpiringKey(NamedTuple):
    id: UUID
    name: str
    expires_at: datetime


class KeyRowCount(NamedTuple):
    number: int


class PlatformKeyExists(NamedTuple):
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key to store. Core decides who may grant which role (`require_grant`)."""

    id: UUID
    tenant_id: int
    name: str
    role: Role
    key: ApiKey
    user_id: str | None = None
    lifetime: timedelta = KEY_LIFETIME

    def __post_init__(self) -> None:
        if not KEY_LIFETIME_MIN <= self.lifetime <= KEY_LIFETIME_MAX:
            raise InvalidInput("lifetime", self.lifetime, "must be from one minute to one year")


CREATE = statement("keys/create", KeyRow)
PAGE = statement("keys/page", KeyRow)
FIND = statement("keys/find", KeyOwner)
REVOKE = statement("keys/revoke", KeyRow)
TOUCH = statement("keys/record_use", TouchedKey)
COUNT = statement("keys/count", KeyRowCount)
EXPIRING_PLATFORM = statement("keys/expiring_platform", ExpiringKey)
REVOKE_PLATFORM = statement("keys/revoke_platform", TouchedKey)
HAS_PLATFORM = statement("keys/has_platform", PlatformKeyExists)


async def create_key(conn: Connection, new: NewKey) -> KeyRow:
    """Store a key, which is valid from now on."""
    return await _create(conn, new, lifetime=new.lifetime)


async def list_keys(
    conn: Connection, *, tenant_id: int, after: UUID | None = None, limit: int = 50
) -> list[KeyRow]:
    """Return the keys of a tenant, oldest first, including revoked and expired ones."""
    return await PAGE.all(conn, tenant_id=tenant_id, after=after or _LOWEST, most=limit)


async def find_principal(conn: Connection, *, digest: bytes) -> Principal | None:
    """Return the owner of a key; None if it does not exist, has expired or was revoked."""
    row = await FIND.one(conn, digest=digest)
    return None if row is None else Principal(**row._asdict())


async def revoke_key(conn: Connection, *, tenant_id: int, key_id: UUID) -> KeyRow:
    """Revoke a key. Revoking it again changes nothing."""
    row = await REVOKE.one(conn, tenant_id=tenant_id, id=key_id)
    if row is None:
        raise NotFound("key", str(key_id))
    return row


async def record_use(conn: Connection, *, tenant_id: int, key_id: UUID) -> bool:
    """Record that a key is used, at most once a minute; return whether a row was written."""
    return await TOUCH.one(conn, tenant_id=tenant_id, id=key_id) is not None


async def count_valid_keys(conn: Connection, *, tenant_id: int) -> int:
    """Count the valid keys of a tenant."""
    row = await COUNT.one(conn, tenant_id=tenant_id)
    return 0 if row is None else row.number


async def ensure_admin_key(
    conn: Connection, *, key_id: UUID, bits: bytes, tenant: str = "default"
) -> str | None:
    """Create the bootstrap admin key if there is no valid platform key; return its text, which is
    not stored.

    Of several processes that start for the first time, one creates it and the others get None. It
    expires like any other key. The next start after that creates another, so an operator with
    access to the machine is never locked out.
    """
    key = api_keys.create_key(bits)
    async with join_transaction(conn):
        await tenant_locks.lock_resource(conn, tenant_id=_PLATFORM, resource="first keys")
        exists = await HAS_PLATFORM.one(conn)
        if exists is not None and exists.found:
            return None
        tenant_id = (await interning.find_tenant_ids(conn, [tenant]))[tenant]
        new = NewKey(
            id=key_id, tenant_id=tenant_id, name=BOOTSTRAP_KEY_NAME, role=Role.PLATFORM, key=key
        )
        await _create(conn, new, lifetime=new.lifetime)
    return key.text


async def renew_admin_key(
    conn: Connection, *, key_id: UUID, bits: bytes, tenant: str = "default"
) -> str:
    """Create a new bootstrap admin key and revoke the previous ones; return its text."""
    key = api_keys.create_key(bits)
    async with join_transaction(conn):
        await tenant_locks.lock_resource(conn, tenant_id=_PLATFORM, resource="first keys")
        tenant_id = (await interning.find_tenant_ids(conn, [tenant]))[tenant]
        await REVOKE_PLATFORM.all(conn, names=BOOTSTRAP_KEY_NAMES, kept_id=key_id)
        new = NewKey(
            id=key_id, tenant_id=tenant_id, name=BOOTSTRAP_KEY_NAME, role=Role.PLATFORM, key=key
        )
        await _create(conn, new, lifetime=new.lifetime)
    return key.text


async def read_expiring_admin_keys(conn: Connection, *, within: timedelta) -> list[ExpiringKey]:
    """Return the bootstrap admin keys that expire within this time."""
    return await EXPIRING_PLATFORM.all(conn, names=BOOTSTRAP_KEY_NAMES, within=within)


async def _create(conn: Connection, new: NewKey, *, lifetime: timedelta) -> KeyRow:
    async with join_transaction(conn):
        await tenant_locks.lock_resource(conn, tenant_id=new.tenant_id, resource="keys")
        if new.role is not Role.PLATFORM:
            # A tenant's keys must not lock out the operator of the installation.
            existing = await count_valid_keys(conn, tenant_id=new.tenant_id)
            await tenants.check_quota(
                conn, tenant_id=new.tenant_id, quota="max_keys", existing=existing
            )
        row = await CREATE.one(
            conn,
            id=new.id,
            tenant_id=new.tenant_id,
            name=check_visible_name(new.name, "name"),
            handle=new.key.handle,
            digest=new.key.digest,
            role=new.role.value,
            user_id=None if new.user_id is None else check_visible_name(new.user_id, "user_id"),
            lifetime=lifetime,
        )
    if row is None:
        raise Conflict("key", "the key was not stored; retry")
    return row
