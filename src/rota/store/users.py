"""Lists users: the names that jobs and keys carry.

A user has no row of its own. The issuer of keys decides who signs in; Rota knows which user a job
belongs to and on whose behalf a key acts.
"""

from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import NotFound
from rota.store.driver import Connection
from rota.store.statement import statement

# Beyond this it is "many": a page shows fifty users, and each count reads its rows.
JOB_COUNT_MAX: Final = 200


class UserRow(NamedTuple):
    """`jobs` counts up to `JOB_COUNT_MAX`; `keys` counts valid keys."""

    user_id: str
    jobs: int
    keys: int


class RevokedKey(NamedTuple):
    id: UUID


PAGE = statement("users/page", UserRow)
READ = statement("users/read", UserRow)
REVOKE_KEYS = statement("users/revoke_keys", RevokedKey)


async def list_users(
    conn: Connection, *, tenant_id: int, after: str = "", limit: int = 50
) -> list[UserRow]:
    """Return the users of a tenant in the order of their names."""
    return await PAGE.all(conn, tenant_id=tenant_id, after=after, most=limit, counted=JOB_COUNT_MAX)


async def get_user(conn: Connection, *, tenant_id: int, user_id: str) -> UserRow:
    row = await READ.one(conn, tenant_id=tenant_id, user_id=user_id, counted=JOB_COUNT_MAX)
    if row is None:
        raise NotFound("user", user_id)
    return row


async def revoke_keys(conn: Connection, *, tenant_id: int, user_id: str) -> list[UUID]:
    """Revoke all keys of a user; return those that were not revoked before."""
    rows = await REVOKE_KEYS.all(conn, tenant_id=tenant_id, user_id=user_id)
    if not rows:
        await get_user(conn, tenant_id=tenant_id, user_id=user_id)
    return [row.id for row in rows]
