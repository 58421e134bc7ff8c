"""Reaching the database: what is refused, what is waited for, what is always set (O1, F50)."""

import asyncio
import socket
from datetime import timedelta

import asyncpg
import pytest
from tests.support.databases import create, drop
from tests.support.world import World

from rota.core.errors import SchemaMismatch, StoreRefused, StoreUnavailable
from rota.store import interning, sessions
from rota.store.embedded import Embedded
from rota.store.error_translation import translate_errors
from rota.store.pool import (
    DatabaseAccess,
    ServerInfo,
    check_server,
    open_connection,
    open_pool,
    refuse_unfit_server,
)

FIT = ServerInfo(
    version=150_004,
    shown_version="15.4",
    encoding="UTF8",
    in_recovery=False,
    fsync="on",
    full_page_writes="on",
    synchronous_commit="on",
    moved_clock=None,
)


async def test_a_server_without_fsync_is_refused_with_the_reason(schema: str) -> None:
    async with open_connection(DatabaseAccess(url=schema)) as conn:
        with pytest.raises(StoreRefused, match="fsync is off, so the server may lose"):
            await check_server(conn)


@pytest.mark.parametrize(
    ("unfit", "reason"),
    [
        (FIT._replace(version=140_012, shown_version="14.12"), "the server runs PostgreSQL 14.12"),
        (FIT._replace(synchronous_commit="off"), "synchronous_commit is off"),
        (FIT._replace(full_page_writes="off"), "full_page_writes is off"),
        (FIT._replace(encoding="SQL_ASCII"), "encoding is SQL_ASCII"),
        (FIT._replace(moved_clock="2026-01-01"), "overrides its clock"),
    ],
)
def test_a_server_that_cannot_keep_our_promises_is_refused(unfit: ServerInfo, reason: str) -> None:
    refuse_unfit_server(FIT)

    with pytest.raises(StoreRefused, match=reason) as refused:
        refuse_unfit_server(unfit)

    assert refused.value.remedy


def test_a_standby_is_waited_for() -> None:
    with pytest.raises(StoreUnavailable, match="the server is a standby"):
        refuse_unfit_server(FIT._replace(in_recovery=True))


async def test_an_unreachable_server_is_unavailable(unused_tcp_port: int) -> None:
    access = DatabaseAccess(url=f"postgresql://rota@127.0.0.1:{unused_tcp_port}/rota")

    with pytest.raises(StoreUnavailable, match="Connect"):
        async with open_connection(access):
            pass


async def test_a_wrong_password_is_refused_and_not_shown(server: Embedded) -> None:
    url = server.tcp_url.replace("@", "wrong@")

    with pytest.raises(StoreRefused, match="password authentication failed") as refused:
        async with open_connection(DatabaseAccess(url=url)):
            pass

    assert "wrong" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://rota@one,,two/rota", "its URL contains an empty host"),
        ("postgresql://rota@one:http/rota", "the port 'http' in its URL"),
        ("postgresql://rota@/rota?host=one,two,three&port=1,2", "2 ports for 3 hosts"),
        ("postgresql://rota@127.0.0.1:1/rota?sslmode=sometimes", "`sslmode` parameter must be"),
    ],
)
async def test_a_url_that_cannot_be_read_is_refused(url: str, reason: str) -> None:
    with pytest.raises(StoreRefused, match=reason) as refused:
        async with open_connection(DatabaseAccess(url=url)):
            pass

    assert "database.url" in refused.value.remedy or "port" in refused.value.remedy


async def test_a_database_without_our_schema_says_so(server: Embedded) -> None:
    url = await create(server.url, "without_schema")

    async with open_connection(DatabaseAccess(url=url)) as conn:
        with pytest.raises(SchemaMismatch, match="rota migrate"):
            await sessions.read_shards(conn)

    await drop(server.url, url)


async def test_a_connection_that_the_server_ends_is_unavailable(schema: str) -> None:
    async with (
        open_connection(DatabaseAccess(url=schema)) as victim,
        open_connection(DatabaseAccess(url=schema)) as other,
    ):
        pid = await victim.fetchval("select pg_backend_pid()")
        await other.execute("select pg_terminate_backend($1, 5000)", pid)

        with pytest.raises(StoreUnavailable):
            await sessions.read_shards(victim)
        with pytest.raises(StoreUnavailable):
            await sessions.read_shards(victim)


async def test_a_statement_and_a_lock_have_their_limits(database: str) -> None:
    access = DatabaseAccess(
        url=database,
        statement_timeout=timedelta(milliseconds=200),
        lock_timeout=timedelta(milliseconds=50),
    )
    async with open_connection(access) as one, open_connection(access) as two:
        with pytest.raises(StoreUnavailable, match="57014"), translate_errors():
            await one.execute("select pg_sleep(30)")

        async with one.transaction():
            await one.execute("lock table rota.gates")
            with pytest.raises(StoreUnavailable, match="55P03"), translate_errors():
                await two.execute("truncate rota.gates")


async def test_a_connection_over_tcp_notices_a_silent_peer(server: Embedded) -> None:
    async with open_connection(DatabaseAccess(url=server.tcp_url)) as conn:
        sock = conn._transport.get_extra_info("socket")  # type: ignore[attr-defined]

        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 3
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 5000


async def test_a_pool_hands_out_as_many_connections_as_it_may(schema: str) -> None:
    async with open_pool(DatabaseAccess(url=schema), size=3) as pool:

        async def pid() -> int:
            async with pool.acquire() as conn:
                await conn.fetchval("select pg_sleep(0.05)")
                return int(await conn.fetchval("select pg_backend_pid()"))

        pids = await asyncio.gather(*(pid() for _ in range(9)))

    assert 1 < len(set(pids)) <= 3


async def test_equal_names_and_bodies_have_one_id_however_many_ask(
    world: World, database: str
) -> None:
    conns = [await asyncpg.connect(database) for _ in range(6)]

    ids = await asyncio.gather(*(interning.intern_queue(conn, "heavy") for conn in conns))
    bodies = await asyncio.gather(*(interning.intern_policy(conn, '{"n": 1}') for conn in conns))

    assert len(set(ids)) == len(set(bodies)) == 1
    assert await interning.read_policies(world.conn, [bodies[0]]) == {bodies[0]: '{"n": 1}'}
    for conn in conns:
        await conn.close()
