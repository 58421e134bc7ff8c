"""Several hosts in one URL: the one that takes writes is found, whatever the others do (F49)."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from tests.support.databases import with_database
from tests.support.gates import Gate, gates_to, through
from tests.support.silence import silence
from tests.support.standby import Pair, primary_and_standby, promote

from rota.core.errors import StoreRefused, StoreUnavailable
from rota.runtime import watchdog
from rota.store import sessions
from rota.store.driver import Connection, Pool
from rota.store.embedded import Embedded
from rota.store.error_translation import translate_errors
from rota.store.pool import DatabaseAccess, DedicatedConnection, open_connection, open_pool
from rota.store.transaction import transaction

PID = "select pg_backend_pid()"
# The server's limit; a silent server is waited for 5 s longer.
SHORT = timedelta(milliseconds=100)


@pytest.fixture
def by_tcp(server: Embedded, schema: str) -> str:
    return with_database(server.tcp_url, urlsplit(schema).path.strip("/"))


@pytest.fixture
async def gates(by_tcp: str) -> AsyncIterator[list[Gate]]:
    """Two open ways to one server."""
    async with gates_to(by_tcp, count=2) as made:
        for gate in made:
            await gate.open()
        yield made


@pytest.fixture
def url(by_tcp: str, gates: list[Gate]) -> str:
    return through(by_tcp, [gate.port for gate in gates])


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with primary_and_standby() as made:
        yield made


def both(pair: Pair) -> str:
    """The standby first."""
    ports = [urlsplit(each.tcp_url).port or 0 for each in (pair.standby, pair.primary)]
    return through(pair.primary.tcp_url, ports)


async def number(conn: Connection) -> int:
    return int(await conn.fetchval(PID))


class TestConnecting:
    async def test_a_silent_first_host_does_not_hide_the_second(
        self, by_tcp: str, gates: list[Gate]
    ) -> None:
        async with silence() as silent:
            access = DatabaseAccess(url=through(by_tcp, [silent.port, gates[0].port]))

            async with open_connection(access) as conn:
                assert await number(conn)

            assert silent.called.is_set()

    async def test_the_host_that_answered_last_is_tried_first(
        self, by_tcp: str, gates: list[Gate]
    ) -> None:
        async with silence() as silent:
            access = DatabaseAccess(url=through(by_tcp, [silent.port, gates[0].port]))
            for _ in range(3):
                async with (
                    open_connection(access),
                    open_pool(access, size=1) as pool,
                    pool.acquire() as conn,
                ):
                    assert await number(conn)

            assert len(silent.waiting) == 1
            assert gates[0].opened == 6

    async def test_threads_share_what_is_known_of_the_hosts(
        self, by_tcp: str, gates: list[Gate]
    ) -> None:
        """As a worker's heartbeat does, which has a thread and a loop of its own."""
        async with silence() as silent:
            access = DatabaseAccess(url=through(by_tcp, [silent.port, gates[0].port]))
            async with open_connection(access):
                pass

            async def elsewhere() -> int:
                line = DedicatedConnection(access)
                async with line.acquire() as conn:
                    found = await number(conn)
                line.close()
                return found

            assert await asyncio.to_thread(asyncio.run, elsewhere())
            assert len(silent.waiting) == 1

    async def test_silent_hosts_end_the_attempt_before_the_watchdog_does(self) -> None:
        async with silence() as one, silence() as two:
            access = DatabaseAccess(
                url=f"postgresql://rota@127.0.0.1:{one.port},127.0.0.1:{two.port}/rota"
            )

            async with asyncio.timeout(watchdog.STALL_LIMIT.total_seconds()):
                with pytest.raises(StoreUnavailable) as refused:
                    async with open_connection(access):
                        pass

        for silent in (one, two):
            assert f"127.0.0.1:{silent.port}: no answer within 2 s" in refused.value.reason

    async def test_each_host_is_named_with_what_is_wrong_with_it(
        self, by_tcp: str, gates: list[Gate]
    ) -> None:
        gates[0].shut()
        async with silence() as silent:
            access = DatabaseAccess(url=through(by_tcp, [gates[0].port, silent.port]))

            with pytest.raises(StoreUnavailable) as refused:
                async with open_connection(access):
                    pass

        first, second = refused.value.reason.split("; ")
        assert first.startswith(f"127.0.0.1:{gates[0].port}: [Errno 111]")
        assert second == f"127.0.0.1:{silent.port}: no answer within 2 s"

    async def test_a_wrong_password_is_not_waited_for(self, url: str) -> None:
        with pytest.raises(StoreRefused, match=r"password.*; .*password"):
            async with open_connection(DatabaseAccess(url=url.replace("@", "wrong@"))):
                pass

    async def test_who_is_cut_short_at_a_silent_host_begins_with_the_other(
        self, by_tcp: str, gates: list[Gate]
    ) -> None:
        """A heartbeat has less time than a silent host takes."""
        async with silence() as silent:
            line = DedicatedConnection(
                DatabaseAccess(url=through(by_tcp, [silent.port, gates[0].port]))
            )

            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2), line.acquire():
                    pass
            async with line.acquire() as conn:
                assert await number(conn)

            assert len(silent.waiting) == 1
            line.close()


class TestReadWrite:
    async def test_a_standby_is_passed_over(self, pair: Pair) -> None:
        async with open_connection(DatabaseAccess(url=both(pair))) as conn:
            assert not await conn.fetchval("select pg_is_in_recovery()")

    @pytest.mark.parametrize("wish", ["any", "read-write", "prefer-standby"])
    async def test_whatever_the_url_wishes_the_server_takes_writes(
        self, pair: Pair, wish: str
    ) -> None:
        access = DatabaseAccess(url=f"{both(pair)}&target_session_attrs={wish}")

        async with open_connection(access) as conn:
            assert not await conn.fetchval("select pg_is_in_recovery()")

    async def test_a_standby_alone_is_waited_for(self, pair: Pair) -> None:
        with pytest.raises(StoreUnavailable, match="the server is a standby and accepts no writes"):
            async with open_connection(DatabaseAccess(url=pair.standby.tcp_url)):
                pass

    async def test_a_read_only_server_is_passed_over(self, pair: Pair) -> None:
        async with open_connection(DatabaseAccess(url=pair.primary.tcp_url)) as conn:
            await conn.execute("create database read_only")
            await conn.execute("alter database read_only set default_transaction_read_only = on")

        with pytest.raises(StoreUnavailable, match="default_transaction_read_only is on"):
            async with open_connection(
                DatabaseAccess(url=with_database(pair.primary.tcp_url, "read_only"))
            ):
                pass

    async def test_a_promoted_standby_is_found(self) -> None:
        with primary_and_standby() as pair:
            access = DatabaseAccess(url=both(pair))
            line = DedicatedConnection(access)
            async with line.acquire() as conn:
                await conn.execute("create table written (n integer)")
                # What a demoted primary says; it is not stopped, so nothing breaks by itself.
                await conn.execute("alter system set default_transaction_read_only = on")
                await conn.execute("select pg_reload_conf()")
            with pytest.raises(StoreUnavailable, match="25006"):
                await until_read_only(line)

            with pytest.raises(StoreUnavailable, match=r"standby.*read-only|read-only.*standby"):
                async with line.acquire():
                    pass
            await promote(pair.standby)

            async with line.acquire() as conn:
                assert (
                    await conn.fetchval("select inet_server_port()")
                    == urlsplit(pair.standby.tcp_url).port
                )
                await conn.execute("create table written_elsewhere (n integer)")
            line.close()


async def until_read_only(line: DedicatedConnection) -> None:
    """Write until the reloaded setting has reached the session."""
    async with asyncio.timeout(60):
        while True:
            async with line.acquire() as conn:
                with translate_errors():
                    await conn.execute("insert into written values (1)")


class TestFailures:
    """What a connection says about its host, and what becomes of the others."""

    @pytest.mark.parametrize(
        ("command", "state"),
        [
            ("set transaction read only; create table t (n integer)", "25006"),
            ("do $$ begin raise exception 'down' using errcode = '57P01'; end $$", "57P01"),
            ("do $$ begin raise exception 'down' using errcode = '57P02'; end $$", "57P02"),
            ("do $$ begin raise exception 'down' using errcode = '57P03'; end $$", "57P03"),
        ],
    )
    async def test_a_host_that_fails_is_left_by_all_connections(
        self, url: str, command: str, state: str
    ) -> None:
        access = DatabaseAccess(url=url)
        line = DedicatedConnection(access)
        async with open_pool(access, size=2) as pool:
            async with pool.acquire() as one, pool.acquire() as two, line.acquire() as three:
                before = {await number(conn) for conn in (one, two, three)}
                with pytest.raises(StoreUnavailable, match=state), translate_errors():
                    await one.execute(command)
                with pytest.raises(StoreUnavailable):
                    await sessions.read_shards(one)
                # What is under way goes on.
                assert await number(two) in before

            async with pool.acquire() as one, pool.acquire() as two, line.acquire() as three:
                after = {await number(conn) for conn in (one, two, three)}
        line.close()

        assert len(after) == 3
        assert not before & after

    async def test_an_ended_session_takes_the_others_with_it(self, url: str) -> None:
        """57P01 as PostgreSQL says it: the reason, then it hangs up."""
        access = DatabaseAccess(url=url)
        async with open_pool(access, size=2) as pool:
            async with pool.acquire() as one, pool.acquire() as two:
                before = {await number(one), await number(two)}
                with pytest.raises(StoreUnavailable), translate_errors():
                    await one.execute("select pg_terminate_backend(pg_backend_pid())")

            async with pool.acquire() as one, pool.acquire() as two:
                after = {await number(one), await number(two)}

        assert not before & after

    async def test_an_error_of_a_statement_costs_no_connection(self, url: str) -> None:
        access = DatabaseAccess(url=url, statement_timeout=SHORT)
        async with open_pool(access, size=1) as pool:
            async with pool.acquire() as conn:
                before = await number(conn)
                with pytest.raises(StoreUnavailable, match="57014"), translate_errors():
                    await conn.execute("select pg_sleep(60)")
                with pytest.raises(StoreUnavailable, match="40P01"), translate_errors():
                    await conn.execute(
                        "do $$ begin raise exception 'x' using errcode = '40P01'; end $$"
                    )
            async with pool.acquire() as conn:
                assert await number(conn) == before

    async def test_a_silent_server_is_left_at_once_for_another(
        self, url: str, gates: list[Gate]
    ) -> None:
        access = DatabaseAccess(url=url, statement_timeout=SHORT)
        line = DedicatedConnection(access)
        async with open_pool(access, size=2) as pool:
            async with pool.acquire() as conn, line.acquire() as other:
                await number(conn)
                await number(other)
            frozen, free = gates if gates[0].opened else reversed(gates)
            frozen.freeze()

            with pytest.raises(StoreUnavailable):
                async with pool.acquire() as conn, transaction(conn):
                    await sessions.read_shards(conn)

            # Nobody waits for the frozen one again.
            assert next(iter(access.hosts)).port == free.port
            async with pool.acquire() as conn, line.acquire() as other:
                assert await number(conn)
                assert await number(other)
            assert free.opened == 2
        line.close()

    async def test_a_rollback_does_not_wait_for_a_silent_server(
        self, url: str, gates: list[Gate]
    ) -> None:
        """It would wait as long again, and the reset after it: longer than the watchdog does."""
        line = DedicatedConnection(DatabaseAccess(url=url, statement_timeout=SHORT))
        was_closed: list[bool] = []

        async def ask() -> None:
            async with line.acquire() as conn, transaction(conn):
                for gate in gates:
                    gate.freeze()
                try:
                    await sessions.read_shards(conn)
                finally:
                    was_closed.append(conn.is_closed())

        with pytest.raises(StoreUnavailable):
            await ask()
        assert was_closed == [True]

    async def test_a_limit_of_the_callers_own_says_nothing_of_the_server(self, url: str) -> None:
        async with open_pool(DatabaseAccess(url=url), size=1) as pool:
            async with pool.acquire() as conn:
                before = await number(conn)
                with pytest.raises(TimeoutError):
                    await conn.fetch("select pg_sleep(60)", timeout=0.05)  # type: ignore[call-arg]
            async with pool.acquire() as conn:
                assert await number(conn) == before


class TestPools:
    async def test_nobody_waits_for_ever_behind_others(self, url: str) -> None:
        access = DatabaseAccess(url=url, connect_timeout=SHORT)
        async with open_pool(access, size=1) as pool, pool.acquire():
            with pytest.raises(StoreUnavailable, match="no connection in the pool became free"):
                async with pool.acquire():
                    pass

    async def test_duties_that_share_a_pool_give_up_before_the_watchdog_does(self) -> None:
        """A scheduler's upkeep: nine duties behind two connections to a silent server."""

        async def look(pool: Pool) -> None:
            async with pool.acquire() as conn:
                await sessions.read_shards(conn)

        async with silence() as silent:
            access = DatabaseAccess(url=f"postgresql://rota@127.0.0.1:{silent.port}/rota")
            async with (
                open_pool(access, size=2) as pool,
                asyncio.timeout(watchdog.STALL_LIMIT.total_seconds()),
            ):
                ends = await asyncio.gather(*(look(pool) for _ in range(9)), return_exceptions=True)

        assert {type(end) for end in ends} == {StoreUnavailable}

    async def test_what_was_done_stays_done_if_giving_back_fails(
        self, url: str, gates: list[Gate]
    ) -> None:
        async with open_pool(DatabaseAccess(url=url), size=1) as pool:
            async with pool.acquire() as conn:
                before = await number(conn)
                for gate in gates:
                    gate.freeze()
            for gate in gates:
                await gate.open()

            async with pool.acquire() as conn:
                assert await number(conn) != before

    async def test_a_pool_that_was_closed_is_unavailable(self, url: str) -> None:
        async with open_pool(DatabaseAccess(url=url), size=1) as pool:
            pool.terminate()
            with pytest.raises(StoreUnavailable, match="closed"):
                async with pool.acquire():
                    pass
