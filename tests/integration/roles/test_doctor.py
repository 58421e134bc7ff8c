"""`rota doctor` recommends a login for each kind of process (T1)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import asyncpg
import pytest

from rota.cli.doctor.findings import FindingLevel
from rota.cli.doctor.roles import check_roles
from rota.store.driver import Connection
from rota.store.pool import DatabaseAccess, open_connection


@asynccontextmanager
async def as_login(database: str, words: str) -> AsyncIterator[Connection]:
    """A connection as a role that is made for it."""
    name = f"login_{uuid4().hex[:12]}"
    conn = await asyncpg.connect(database)
    await conn.execute(f"create role {name} {words}; set role {name}")
    try:
        yield conn
    finally:
        await conn.execute(f"reset role; drop role {name}")
        await conn.close()


async def find(conn: Connection, *, is_embedded: bool = False) -> list[tuple[str, str]]:
    findings = [each async for each in check_roles(conn, is_embedded=is_embedded)]
    assert all(each.remedy for each in findings if each.level is not FindingLevel.OK)
    return [(each.level.value, each.detail) for each in findings]


async def test_a_superuser_is_not_recommended(conn: Connection) -> None:
    for is_embedded in (False, True):
        assert await find(conn, is_embedded=is_embedded) == [
            ("warning", "login rota is a superuser of the server")
        ]


@pytest.mark.parametrize("role", ["rota_service", "rota_worker"])
async def test_a_member_of_a_role_is_well(database: str, role: str) -> None:
    async with as_login(database, f"bypassrls in role {role}") as conn:
        ((level, detail),) = await find(conn)

    assert level == "ok"
    assert detail.endswith(f"is a member of {role}")


async def test_a_login_that_policies_concern_is_told_how_to_get_better_plans(
    database: str,
) -> None:
    async with as_login(database, "in role rota_worker") as conn:
        ((level, detail),) = await find(conn)

    assert level == "warning"
    assert "few statistics" in detail


async def test_a_worker_that_logs_in_as_the_owner_is_told(database: str) -> None:
    async with (
        open_connection(DatabaseAccess(url=database, name="rota worker")),
        open_connection(DatabaseAccess(url=database)) as conn,
    ):
        found = await find(conn)

    assert found[1] == ("warning", "workers use 1 connection as rota, a superuser")
