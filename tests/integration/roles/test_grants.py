"""Every table has a line that says what each role may do, and the database does as it says."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import asyncpg
import pytest
from tests.support.databases import create, drop

from rota.core.errors import StoreRefused
from rota.store.driver import Connection
from rota.store.embedded import Embedded
from rota.store.roles import ROLES_SQL, DatabaseRole, check_rights, describe_login, grant_roles
from rota.store.schema_migration import migrate

# Days are partitions, and months of the audit log are children: privileges on the parent are
# enough, and nobody has any on a day or a month.
TABLES = """
select c.relname from pg_class as c
where
    c.relnamespace = 'rota'::regnamespace and c.relkind in ('r', 'p')
    and (
        c.relname ~ '_rest$'
        or not exists (select 1 from pg_inherits as i where i.inhrelid = c.oid)
    )
"""
PRIVILEGES = """
select c.relname, lower(a.privilege_type) || ' '
from pg_class as c
cross join lateral aclexplode(c.relacl) as a
where
    c.relnamespace = 'rota'::regnamespace and c.relkind in ('r', 'p')
    and a.grantee = $1::regrole
union all
select c.relname, lower(a.privilege_type) || ' ' || t.attname
from pg_class as c
inner join pg_attribute as t on t.attrelid = c.oid
cross join lateral aclexplode(t.attacl) as a
where c.relnamespace = 'rota'::regnamespace and a.grantee = $1::regrole
"""
PART = re.compile(r"(\w+)(?: \(([^)]*)\))?")
ALL = {"select ", "insert ", "update ", "delete "}


def parse_privileges(text: str) -> set[str]:
    """`select (a, b), insert` as {"select a", "select b", "insert "}."""
    if text == "all":
        return ALL
    return {
        f"{verb} {column.strip()}"
        for verb, columns in PART.findall(text)
        for column in (columns.split(",") if columns else [""])
    }


async def test_every_table_has_a_line_of_grants(conn: Connection) -> None:
    """A migration that adds a table adds a row to rota.role_grants, and calls grant_roles()."""
    tables = {row[0] for row in await conn.fetch(TABLES)}
    lines = {row[0] for row in await conn.fetch("select relation from rota.role_grants")}

    assert tables == lines


@pytest.mark.parametrize(
    ("role", "column"), [("rota_service", "service"), ("rota_worker", "worker")]
)
async def test_a_role_has_exactly_the_privileges_of_its_lines(
    conn: Connection, role: str, column: str
) -> None:
    rows = await conn.fetch(f"select relation, {column} from rota.role_grants")
    wanted = {(row[0], part) for row in rows for part in parse_privileges(row[1])}

    found = {(row[0], row[1]) for row in await conn.fetch(PRIVILEGES, f"rota_{column}")}

    assert found == wanted


async def test_grants_that_were_changed_by_hand_are_put_right(conn: Connection) -> None:
    await conn.execute("grant update on rota.tenants to rota_worker")
    await conn.execute("revoke insert on rota.audit from rota_service")

    assert await grant_roles(conn) == []

    rights = await conn.fetchrow(
        "select has_table_privilege('rota_worker', 'rota.tenants', 'update'), "
        "has_table_privilege('rota_service', 'rota.audit', 'insert')"
    )
    assert rights is not None
    assert tuple(rights) == (False, True)


async def test_a_worker_sees_the_runs_of_all_tenants(conn: Connection) -> None:
    """Row-level security is on for tables with a tenant; a worker serves all of them."""
    hidden = await conn.fetch(
        "select g.relation from rota.role_grants as g "
        "inner join pg_class as c on c.oid = ('rota.' || g.relation)::regclass "
        "where c.relrowsecurity and g.worker <> '' and not exists ("
        "select 1 from pg_policy as p where p.polrelid = c.oid "
        "and p.polroles = array['rota_worker'::regrole::oid] "
        "and pg_get_expr(p.polqual, p.polrelid) = 'true')"
    )

    assert hidden == []


@asynccontextmanager
async def own_database(server: Embedded) -> AsyncIterator[tuple[str, str]]:
    """A database with a login of its own, which owns it and may not create roles."""
    name = f"owner_{uuid4().hex[:12]}"
    url = await create(server.url, name)
    admin = await asyncpg.connect(url)
    await admin.execute(f"create role {name} login password '{name}'")
    await admin.execute(f"alter database {name} owner to {name}")
    try:
        yield name, url
    finally:
        await admin.close()
        await drop(server.url, url)
        admin = await asyncpg.connect(server.url)
        await admin.execute(f"drop role {name}")
        await admin.close()


async def test_an_owner_who_may_not_create_roles_is_told_what_to_run(server: Embedded) -> None:
    """And once an administrator has run it, the next `rota migrate` completes the roles."""
    async with own_database(server) as (owner, url):
        conn = await asyncpg.connect(url, server_settings={"role": owner})
        await migrate(conn)
        undone = conn.transaction()
        await undone.start()
        # Roles belong to the server, which other tests use: this is never committed.
        await conn.execute("set local role none")
        for name in ("rota_api", "rota_service", "rota_worker"):
            await conn.execute(f"alter role {name} rename to gone_{name}")
        await conn.execute(f"set local role {owner}")

        missing = await grant_roles(conn)
        await conn.execute("set local role none")
        await conn.execute(ROLES_SQL)
        await conn.execute(f"set local role {owner}")
        afterwards = await grant_roles(conn)

        may_claim = await conn.fetchval(
            "select has_table_privilege('rota_worker', 'rota.live_runs', 'update')"
        )
        await undone.rollback()
        await conn.close()
    assert missing == [
        "create role rota_api nologin;",
        "create role rota_service nologin;",
        "create role rota_worker nologin;",
        "grant rota_api to rota_service;",
    ]
    assert (afterwards, may_claim) == ([], True)


@pytest.mark.parametrize("role", list(DatabaseRole))
async def test_a_login_without_its_role_is_refused_with_what_to_do(
    database: str, role: DatabaseRole
) -> None:
    name = f"stranger_{uuid4().hex[:12]}"
    conn = await asyncpg.connect(database)
    await conn.execute(f"create role {name}")
    await conn.execute(f"set role {name}")
    try:
        with pytest.raises(StoreRefused, match=f"{name} is not a member of {role}") as caught:
            await check_rights(conn, await describe_login(conn), [role])
        assert f"`grant {role} to {name}`" in caught.value.remedy

        await conn.execute(f"reset role; grant {role} to {name}; set role {name}")
        await check_rights(conn, await describe_login(conn), [role])

        await conn.execute("reset role; delete from rota.migrations where version > 30")
        await conn.execute(f"set role {name}")
        with pytest.raises(StoreRefused, match=f"lacks .*{name} may not migrate") as caught:
            await check_rights(conn, await describe_login(conn), [role])
        assert "run `rota migrate` with the URL of the schema's owner, rota" in caught.value.remedy
    finally:
        await conn.execute(f"reset role; drop role {name}")
        await conn.close()


async def test_a_login_without_a_schema_is_refused_with_what_to_do(server: Embedded) -> None:
    url = await create(server.url, f"empty_{uuid4().hex[:12]}")
    name = f"stranger_{uuid4().hex[:12]}"
    conn = await asyncpg.connect(url)
    await conn.execute(f"create role {name}; set role {name}")
    try:
        with pytest.raises(StoreRefused, match="the schema rota does not exist"):
            await check_rights(conn, await describe_login(conn), list(DatabaseRole))
    finally:
        await conn.execute(f"reset role; drop role {name}")
        await conn.close()
        await drop(server.url, url)
