"""Describes the database role of a process and checks whether its rights suffice.

There are three roles: the owner of the schema migrates; members of `rota_service` are APIs and
schedulers; members of `rota_worker` are workers, which cannot read keys or change tenants. The
owner may do everything, so a single login for all processes works too. The table `rota.role_grants`
lists the rights of each role on each table (docs/adr/0039-database-roles.md).
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from rota.core.errors import StoreRefused
from rota.store.driver import Connection
from rota.store.error_translation import translate_errors
from rota.store.migration_steps import LEGACY_MIGRATION_LOCK_ID
from rota.store.schema_migration import find_missing_migration
from rota.store.statement import statement
from rota.store.transaction import transaction


class DatabaseRole(StrEnum):
    """The group roles of which a login can be a member."""

    SERVICE = "rota_service"
    WORKER = "rota_worker"


class Login(NamedTuple):
    """`may_create`: may create a schema. `has_grants`: its group roles have their rights."""

    name: str
    is_superuser: bool
    bypasses_policies: bool
    has_schema: bool
    is_owner: bool
    owner: str
    may_create: bool
    member_of: list[str]
    has_grants: bool

    @property
    def may_migrate(self) -> bool:
        return self.is_owner if self.has_schema else self.may_create

    @property
    def may_create_partitions(self) -> bool:
        return self.is_owner or DatabaseRole.SERVICE in self.member_of


class MissingRole(NamedTuple):
    missing: str


class WorkerLogin(NamedTuple):
    name: str
    connections: int
    is_superuser: bool
    is_owner: bool


DESCRIBE_LOGIN = statement("roles/describe_login", Login)
GRANT_ROLES = statement("roles/grant", MissingRole)
WORKER_LOGINS = statement("roles/worker_logins", WorkerLogin)

# The output of `rota migrate --print-roles`. The names of the logins are examples.
ROLES_SQL: Final = """\
-- The roles of Rota. An administrator of the server runs this once; then the owner of the schema
-- runs `rota migrate`, which grants each role its rights. Roles belong to the whole server: skip
-- the ones that exist.
create role rota_api nologin;
create role rota_service nologin;
create role rota_worker nologin;
grant rota_api to rota_service;

-- The owner, for `rota migrate` only. It must own the database or be allowed to create a schema in
-- it. Without the grant it cannot serve the API with its own login.
-- create role rota_owner login password '…';
-- grant rota_api to rota_owner;

-- One login for each kind of process, or for each process. Choose names and passwords. `bypassrls`
-- lets the planner use its statistics; omit it where the server does not allow it.
-- rota api, rota scheduler:
-- create role acme_service login bypassrls password '…' in role rota_service;
-- rota worker:
-- create role acme_worker login bypassrls password '…' in role rota_worker;
"""


async def describe_login(conn: Connection) -> Login:
    """Return the rights of the connection's login."""
    login = await DESCRIBE_LOGIN.one(conn)
    if login is None:
        raise StoreRefused(
            reason="the server did not report the login", remedy="connect without a pooler's role"
        )
    return login


async def check_rights(conn: Connection, login: Login, roles: Sequence[DatabaseRole]) -> None:
    """Refuse a login that is not the owner of the schema and lacks rights that its process needs.

    `roles` are the group roles that a process of this kind needs; if empty, it must be the owner.
    """
    if not login.has_schema:
        raise StoreRefused(
            reason=f"the schema rota does not exist, and the login {login.name} may not create it",
            remedy="run `rota migrate` with the URL of the role that should own the schema",
        )
    as_owner = f"run `rota migrate` with the URL of the schema's owner, {login.owner}"
    if not roles:
        raise StoreRefused(
            reason=f"the login {login.name} does not own the schema rota",
            remedy=f"use the URL of its owner, {login.owner}",
        )
    lacking = ", ".join(role for role in roles if role not in login.member_of)
    if lacking:
        raise StoreRefused(
            reason=f"the login {login.name} is not a member of {lacking} and not the schema owner",
            remedy=f"as an administrator of the server: `grant {lacking} to {login.name}`",
        )
    if not login.has_grants:
        raise StoreRefused(reason=f"{login.name} has no rights in the schema", remedy=as_owner)
    missing = await find_missing_migration(conn)
    if missing is not None:
        raise StoreRefused(
            reason=f"its schema lacks {missing}, and the login {login.name} may not migrate it",
            remedy=as_owner,
        )


async def grant_roles(conn: Connection) -> list[str]:
    """Grant the group roles their rights, as the owner; return what an administrator must run
    first.
    """
    async with transaction(conn):
        with translate_errors(conn):
            await conn.execute("select pg_advisory_xact_lock($1)", LEGACY_MIGRATION_LOCK_ID)
        return [row.missing for row in await GRANT_ROLES.all(conn)]


async def read_worker_logins(conn: Connection) -> list[WorkerLogin]:
    """Return the logins of the connected workers, as far as this login may see them."""
    return await WORKER_LOGINS.all(conn)
