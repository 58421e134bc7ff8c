"""Checks that the database logins have no more rights than they need."""

from collections.abc import AsyncIterator
from typing import Final

from rota.cli.doctor.findings import DoctorFinding, format_count, ok, warning
from rota.store.driver import Connection
from rota.store.roles import Login, describe_login, read_worker_logins

CHECK: Final = "roles"
RESTART_REMEDY: Final = "stop all Rota processes; the next start replaces the login"
OWNER_LOGIN_REMEDY: Final = (
    "use a login that owns the database and is not a superuser (docs/howto/database.md)"
)
WORKER_LOGIN_REMEDY: Final = (
    "run `create role … login bypassrls password '…' in role rota_worker`, and use it for workers "
    "(docs/howto/database.md)"
)


async def check_roles(conn: Connection, *, is_embedded: bool) -> AsyncIterator[DoctorFinding]:
    """Recommend a login for each kind of process, if one login has all rights."""
    login = await describe_login(conn)
    is_well = True
    if login.is_superuser:
        is_well = False
        remedy = RESTART_REMEDY if is_embedded else OWNER_LOGIN_REMEDY
        yield warning(CHECK, f"login {login.name} is a superuser of the server", remedy)
    if not (login.is_superuser or login.is_owner or login.bypasses_policies):
        is_well = False
        detail = f"login {login.name} lacks bypassrls, so the planner has few statistics for it"
        remedy = f"run `alter role {login.name} bypassrls` as an administrator of the server"
        yield warning(CHECK, detail, remedy)
    if not is_embedded:
        for each in await read_worker_logins(conn):
            if each.is_owner or each.is_superuser:
                is_well = False
                rights = "a superuser" if each.is_superuser else "the owner of the schema"
                opened = format_count(each.connections, "connection")
                detail = f"workers use {opened} as {each.name}, {rights}"
                yield warning(CHECK, detail, WORKER_LOGIN_REMEDY)
    if is_well:
        yield ok(CHECK, f"login {login.name} is {describe_rights(login)}")


def describe_rights(login: Login) -> str:
    if login.is_owner:
        return "the owner of the schema and not a superuser"
    if not login.member_of:
        return "not a member of a Rota role"
    return f"a member of {' and '.join(login.member_of)}"
