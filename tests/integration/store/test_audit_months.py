"""The audit log by month: entries lie in their month, months are dropped, nothing is rewritten."""

from datetime import UTC, date, datetime, timedelta

import asyncpg
import pytest
from tests.support.world import NOON, World

from rota.core.errors import StoreFailed
from rota.store import audit
from rota.store.audit import NewAuditEntry
from rota.store.driver import Connection
from rota.store.partitions import (
    create_audit_months,
    drop_audit_months,
    find_audit_months,
    prune_audit,
)
from rota.store.row_level_security import tenant_scope

TODAY = NOON.date()
THIS_MONTH = TODAY.replace(day=1)
NEXT_MONTH = (THIS_MONTH + timedelta(days=31)).replace(day=1)
PLACES = (
    "select a.tableoid::regclass::text, a.thing_id from rota.audit as a "
    "where a.thing = 'test' order by a.id"
)
INSERT = (
    "insert into rota.audit (at, tenant_id, actor, action, thing, thing_id) "
    "values ($1, 1, 'ann', 'test', 'test', $2)"
)


async def note(conn: Connection, thing_id: str) -> None:
    await audit.record_change(
        conn,
        NewAuditEntry(tenant_id=1, actor="ann", action="test", thing="test", thing_id=thing_id),
    )


async def places(conn: Connection) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in await conn.fetch(PLACES)]


async def test_an_entry_lies_in_the_table_of_its_month(world: World) -> None:
    await note(world.conn, "before there were months")
    await create_audit_months(world.conn, today=TODAY)
    await create_audit_months(world.conn, today=TODAY)
    await note(world.conn, "this month")

    assert await find_audit_months(world.conn) == [THIS_MONTH, NEXT_MONTH]
    assert await places(world.conn) == [
        ("audit", "before there were months"),
        (f"audit_{THIS_MONTH:%Y%m}", "this month"),
    ]
    page = await audit.list_entries(world.conn, tenant_id=1)
    assert [entry.thing_id for entry in page[:2]] == ["this month", "before there were months"]


async def test_a_month_is_dropped_once_its_last_day_is_too_old(world: World) -> None:
    old = date(TODAY.year - 2, 1, 1)
    await create_audit_months(world.conn, today=old)
    await create_audit_months(world.conn, today=TODAY)

    kept = await drop_audit_months(world.conn, keep_from=old.replace(month=2, day=28))
    assert kept == [old]
    assert await find_audit_months(world.conn) == [old.replace(month=2), THIS_MONTH, NEXT_MONTH]


async def test_a_month_that_is_not_over_cannot_be_dropped(world: World) -> None:
    await create_audit_months(world.conn, today=TODAY)

    with pytest.raises(StoreFailed):
        await drop_audit_months(world.conn, keep_from=NEXT_MONTH + timedelta(days=90))


async def test_old_entries_of_no_month_are_deleted_a_batch_at_a_time(world: World) -> None:
    long_ago = datetime(TODAY.year - 3, 5, 5, tzinfo=UTC)
    await world.conn.execute(
        "insert into rota.audit (at, tenant_id, actor, action, thing, thing_id) "
        "select $1, 1, 'ann', 'test', 'test', n::text from generate_series(1, 600) as n",
        long_ago,
    )
    await create_audit_months(world.conn, today=TODAY)
    await note(world.conn, "new")

    limit = TODAY - timedelta(days=400)
    has_more = [await prune_audit(world.conn, keep_from=limit) for _ in range(2)]

    assert has_more == [True, False]
    assert [name for _, name in await places(world.conn)] == ["new"]


@pytest.mark.parametrize("table", ["audit", f"audit_{THIS_MONTH:%Y%m}"])
@pytest.mark.parametrize("statement", ["update rota.{} set actor = 'eve'", "delete from rota.{}"])
async def test_entries_cannot_be_rewritten(world: World, table: str, statement: str) -> None:
    await create_audit_months(world.conn, today=TODAY)
    await note(world.conn, "kept")

    with pytest.raises(asyncpg.PostgresError, match="is only ever added to"):
        await world.conn.execute(statement.format(table))


async def test_the_permission_to_prune_ends_with_its_transaction(world: World) -> None:
    await prune_audit(world.conn, keep_from=TODAY - timedelta(days=400))

    with pytest.raises(asyncpg.PostgresError, match="is only ever added to"):
        await world.conn.execute("delete from rota.audit")


async def test_a_tenant_cannot_write_an_entry_of_another(world: World) -> None:
    await create_audit_months(world.conn, today=TODAY)

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with tenant_scope(world.conn, 2):
            await world.conn.execute(INSERT, NOON, "forged")


async def test_a_tenant_sees_only_its_own_entries_of_a_month(world: World) -> None:
    await create_audit_months(world.conn, today=TODAY)
    await note(world.conn, "of tenant 1")

    async with tenant_scope(world.conn, 2):
        assert await places(world.conn) == []
    async with tenant_scope(world.conn, 1):
        assert [name for _, name in await places(world.conn)] == ["of tenant 1"]
