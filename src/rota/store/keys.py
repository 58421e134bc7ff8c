"""Everything Rota asks of API keys: making, finding, revoking, the first of all. Room: store.

Only the digest of a key's secret is kept, and no list shows it. A key is found by its digest, on a
connection of the owner, because nobody knows the tenant before; expiry and revocation are judged by
the database's clock. What a role may do is core/access.py, the text of a key core/api_keys.py.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core import api_keys
from rota.core.access import Principal, Role
from rota.core.api_keys import ApiKey
from rota.core.errors import Conflict, InvalidInput, NotFound
from rota.core.submission import check_visible_name
from rota.store import names, tenants, turns
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import joined

LIFETIME: Final = timedelta(days=90)
LONGEST_LIFETIME: Final = timedelta(days=366)
# From when on people are told that a key is about to expire.
EXPIRY_WARNING: Final = timedelta(days=14)
SHORTEST_LIFETIME: Final = timedelta(minutes=1)
FIRST_KEY: Final = "first key of the platform"
_LOWEST: Final = UUID(int=0)
_PLATFORM: Final = 0


class Key(NamedTuple):
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


class Found(NamedTuple):
    key_id: UUID
    tenant_id: int
    tenant: str
    role: Role
    name: str
    user_id: str | None
    expires_at: datetime | None


class Touched(NamedTuple):
    id: UUID


class ExpiringKey(NamedTuple):
    id: UUID
    name: str
    expires_at: datetime


class Number(NamedTuple):
    number: int


class Exists(NamedTuple):
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key to keep. Who may hand out which role is core's (`demand_grant`)."""

    id: UUID
    tenant_id: int
    name: str
    role: Role
    key: ApiKey
    user_id: str | None = None
    lifetime: timedelta = LIFETIME

    def __post_init__(self) -> None:
        if not SHORTEST_LIFETIME <= self.lifetime <= LONGEST_LIFETIME:
            raise InvalidInput("lifetime", self.lifetime, "a time of one minute to one year")


CREATE = statement("keys/create", Key)
PAGE = statement("keys/page", Key)
FIND = statement("keys/find", Found)
REVOKE = statement("keys/revoke", Key)
TOUCH = statement("keys/touch", Touched)
COUNT = statement("keys/count", Number)
EXPIRING_PLATFORM = statement("keys/expiring_platform", ExpiringKey)
REVOKE_PLATFORM = statement("keys/revoke_platform", Touched)
HAS_PLATFORM = statement("keys/has_platform", Exists)


async def create(conn: Connection, new: NewKey) -> Key:
    """Keep a key, which is valid from now on."""
    return await _create(conn, new, lifetime=new.lifetime)


async def page(
    conn: Connection, *, tenant_id: int, after: UUID | None = None, limit: int = 50
) -> list[Key]:
    """The keys of a tenant, the oldest first, revoked and expired ones too."""
    return await PAGE.all(conn, tenant_id=tenant_id, after=after or _LOWEST, most=limit)


async def find(conn: Connection, *, digest: bytes) -> Principal | None:
    """Whom a key belongs to; None if there is no such key, or it expired, or was revoked."""
    row = await FIND.one(conn, digest=digest)
    return None if row is None else Principal(**row._asdict())


async def revoke(conn: Connection, *, tenant_id: int, key_id: UUID) -> Key:
    """Make a key invalid. A second time changes nothing."""
    row = await REVOKE.one(conn, tenant_id=tenant_id, id=key_id)
    if row is None:
        raise NotFound("key", str(key_id))
    return row


async def touch(conn: Connection, *, tenant_id: int, key_id: UUID) -> bool:
    """Note that a key is used; return whether that was written, which is at most once a minute."""
    return await TOUCH.one(conn, tenant_id=tenant_id, id=key_id) is not None


async def count(conn: Connection, *, tenant_id: int) -> int:
    """How many valid keys a tenant has."""
    row = await COUNT.one(conn, tenant_id=tenant_id)
    return 0 if row is None else row.number


async def ensure_admin_key(
    conn: Connection, *, key_id: UUID, bits: bytes, tenant: str = "default"
) -> str | None:
    """Make the bootstrap admin key if there is no valid key of the platform; return its text, which
    is not kept.

    Of many processes that start for the first time, one makes it and the others get None. It
    expires like any other key. A start after that makes another, so nobody is locked out of an
    installation whose machine they can reach.
    """
    made = api_keys.make(bits)
    async with joined(conn):
        await turns.take_turn(conn, tenant_id=_PLATFORM, things="first keys")
        exists = await HAS_PLATFORM.one(conn)
        if exists is not None and exists.found:
            return None
        tenant_id = (await names.tenant_ids(conn, [tenant]))[tenant]
        new = NewKey(id=key_id, tenant_id=tenant_id, name=FIRST_KEY, role=Role.PLATFORM, key=made)
        await _create(conn, new, lifetime=new.lifetime)
    return made.text


async def renew_admin_key(
    conn: Connection, *, key_id: UUID, bits: bytes, tenant: str = "default"
) -> str:
    """Make another bootstrap admin key and revoke those before it; return its text."""
    made = api_keys.make(bits)
    async with joined(conn):
        await turns.take_turn(conn, tenant_id=_PLATFORM, things="first keys")
        tenant_id = (await names.tenant_ids(conn, [tenant]))[tenant]
        await REVOKE_PLATFORM.all(conn, name=FIRST_KEY, kept_id=key_id)
        new = NewKey(id=key_id, tenant_id=tenant_id, name=FIRST_KEY, role=Role.PLATFORM, key=made)
        await _create(conn, new, lifetime=new.lifetime)
    return made.text


async def expiring_admin_keys(conn: Connection, *, within: timedelta) -> list[ExpiringKey]:
    """The bootstrap admin keys that end within this time."""
    return await EXPIRING_PLATFORM.all(conn, name=FIRST_KEY, within=within)


async def _create(conn: Connection, new: NewKey, *, lifetime: timedelta) -> Key:
    async with joined(conn):
        await turns.take_turn(conn, tenant_id=new.tenant_id, things="keys")
        if new.role is not Role.PLATFORM:
            # Whoever runs the installation must not be locked out by the keys of a tenant.
            there = await count(conn, tenant_id=new.tenant_id)
            await tenants.allow_one_more(
                conn, tenant_id=new.tenant_id, quota="max_keys", there=there
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
        raise Conflict("key", "it was not written")
    return row
