"""Which logins are used, and whether they may do more than they need. Room: cli/doctor."""

from collections.abc import AsyncIterator
from typing import Final

from rota.cli.doctor.findings import Finding, ok, several, warning
from rota.store.driver import Connection
from rota.store.roles import Login, describe_login, worker_logins

CHECK: Final = "roles"
RESTART: Final = "stop all processes of Rota; the next start replaces the login"
OWNER_LOGIN: Final = (
    "use a login that owns the database and is no superuser (docs/howto/database.md)"
)
WORKER_LOGIN: Final = (
    "`create role … login bypassrls password '…' in role rota_worker`, and give workers its URL "
    "(docs/howto/database.md)"
)


async def check_roles(conn: Connection, *, is_embedded: bool) -> AsyncIterator[Finding]:
    """Recommend a login for each kind of process where one may do everything."""
    login = await describe_login(conn)
    is_well = True
    if login.is_superuser:
        is_well = False
        remedy = RESTART if is_embedded else OWNER_LOGIN
        yield warning(CHECK, f"the login {login.name} is a superuser of the server", remedy)
    if not (login.is_superuser or login.is_owner or login.bypasses_policies):
        is_well = False
        said = f"the planner has few statistics for the login {login.name}: it has no bypassrls"
        remedy = f"as an administrator of the server: `alter role {login.name} bypassrls`"
        yield warning(CHECK, said, remedy)
    if not is_embedded:
        for each in await worker_logins(conn):
            if each.is_owner or each.is_superuser:
                is_well = False
                what = "a superuser" if each.is_superuser else "the owner of the schema"
                said = (
                    f"workers have {several(each.connections, 'connection')} as {each.name}, {what}"
                )
                yield warning(CHECK, said, WORKER_LOGIN)
    if is_well:
        yield ok(CHECK, f"the login {login.name} is {describe(login)}")


def describe(login: Login) -> str:
    if login.is_owner:
        return "the owner of the schema, and no superuser"
    if not login.member_of:
        return "no member of a role of Rota"
    return f"a member of {' and '.join(login.member_of)}"
