"""Operations for the users of the caller's tenant.

A user is a name in jobs and keys, and is not created explicitly. When a user leaves, one call
revokes all their keys; their jobs stay until they are changed.
"""

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import write_audit_entry
from rota.api.schemas.runs import PageQuery
from rota.api.schemas.tenancy import KeysRevoked, UserView
from rota.core.access import Permission
from rota.store import users
from rota.store.users import UserRow


def build_user_view(user: UserRow) -> UserView:
    return UserView(user_id=user.user_id, jobs=user.jobs, keys=user.keys)


@operation(
    "GET",
    "/v1/users",
    tag="users",
    permission=Permission.READ,
    query=PageQuery,
    answer=ListPage[UserView],
    problems=("malformed_request",),
)
async def list_users(call: Call) -> Reply:
    """List users by name, with their numbers of jobs and valid keys."""
    query: PageQuery = call.query
    place = read_cursor(query.cursor, ["users"])
    found = await users.list_users(
        call.conn,
        tenant_id=call.tenant_id,
        after="" if place is None else place[0],
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = write_cursor(["users"], [shown[-1].user_id]) if len(found) > query.limit else None
    return Reply(
        ListPage[UserView](data=[build_user_view(user) for user in shown], next_cursor=more)
    )


@operation("GET", "/v1/users/{user_id}", tag="users", permission=Permission.READ, answer=UserView)
async def get_user(call: Call) -> Reply:
    """Get a user."""
    user_id = call.params["user_id"]
    return Reply(
        build_user_view(await users.get_user(call.conn, tenant_id=call.tenant_id, user_id=user_id))
    )


@operation(
    "DELETE",
    "/v1/users/{user_id}/keys",
    tag="users",
    permission=Permission.MANAGE,
    answer=KeysRevoked,
)
async def revoke_keys_of_user(call: Call) -> Reply:
    """Revoke all keys of a user.

    The keys stop working within five seconds.
    """
    user_id = call.params["user_id"]
    revoked = await users.revoke_keys(call.conn, tenant_id=call.tenant_id, user_id=user_id)
    key_ids = [identifiers.format_id("key", key_id) for key_id in revoked]
    await write_audit_entry(call, "user.revoke_keys", "user", user_id, {"keys": key_ids})
    return Reply(KeysRevoked(user_id=user_id, key_ids=key_ids))
