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
MOST_COUNTED: Final = 200


class User(NamedTuple):
    """`jobs` counts up to `COUNTED_RUNS_MAX`; `keys` counts valid keys."""

    user_id: str
    jobs: int
    keys: int


class Revoked(NamedTuple):
    id: UUID


PAGE = statement("users/page", User)
READ = statement("users/read", User)
REVOKE_KEYS = statement("users/revoke_keys", Revoked)


async def page(conn: Connection, *, tenant_id: int, after: str = "", limit: int = 50) -> list[User]:
    """Return the users of a tenant in the order of their names."""
    return await PAGE.all(conn, tenant_id=tenant_id, after=after, most=limit, counted=MOST_COUNTED)


async def get(conn: Connection, *, tenant_id: int, user_id: str) -> User:
    row = await READ.one(conn, tenant_id=tenant_id, user_id=user_id, counted=MOST_COUNTED)
    if row is None:
        raise NotFound("user", user_id)
    return row


async def revoke_keys(conn: Connection, *, tenant_id: int, user_id: str) -> list[UUID]:
    """Revoke all keys of a user; return those that were not revoked before."""
    rows = await REVOKE_KEYS.all(conn, tenant_id=tenant_id, user_id=user_id)
    if not rows:
        await get(conn, tenant_id=tenant_id, user_id=user_id)
    return [row.id for row in rows]
