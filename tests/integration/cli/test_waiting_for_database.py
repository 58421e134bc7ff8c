"""Processes that are started while the database is away wait for it (O2, O15)."""

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from tests.support.gated import PATIENCE_S, durable_server, started, way_to
from tests.support.shop import until
from tests.support.silence import silence
from tests.support.standby import primary_and_standby, promote

from rota.sdk.transaction import in_transaction
from rota.store.embedded import Embedded
from rota.store.schema_migration import migrate

WAITING = "database.waiting"
BACK = "database.back"
PROCESSES = [("api",), ("scheduler",), ("worker",), ("up",)]
ENDED = "select count(*) from rota.runs where state = 'succeeded'"


@pytest.fixture(scope="module")
def durable() -> Iterator[Embedded]:
    with durable_server() as made:
        yield made


async def test_a_worker_begins_when_the_database_is_there(
    durable: Embedded, tmp_path: Path
) -> None:
    async with way_to(durable) as way:
        with started(tmp_path, "worker", "kit:handlers", url=way.url) as worker:
            await worker.says(WAITING)
            conn = await asyncpg.connect(way.past)
            await migrate(conn)
            async with conn.transaction():
                await in_transaction(conn).create_job(kind="kit.greet", payload={"name": "Ada"})

            await way.gates[0].open()

            await worker.says(BACK)
            await until(lambda: some(conn), patience=PATIENCE_S)
            await conn.close()
            worker.process.send_signal(signal.SIGTERM)
            assert await worker.ends() == 0


async def some(conn: asyncpg.Connection) -> int | None:
    return await conn.fetchval(ENDED) or None


async def test_the_api_listens_once_the_database_is_there(
    durable: Embedded, tmp_path: Path, unused_tcp_port: int
) -> None:
    port = str(unused_tcp_port)
    async with way_to(durable) as way:
        with started(tmp_path, "api", url=way.url, ROTA_API__PORT=port) as api:
            await api.says(WAITING)
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", unused_tcp_port)

            await way.gates[0].open()

            await api.says("API at ")
            _, writer = await asyncio.open_connection("127.0.0.1", unused_tcp_port)
            writer.close()
            assert BACK in api.log.read_text()


async def test_migrate_waits_too(durable: Embedded, tmp_path: Path) -> None:
    async with way_to(durable) as way:
        with started(tmp_path, "migrate", url=way.url) as migrating:
            await migrating.says(WAITING)

            await way.gates[0].open()

            assert await migrating.ends() == 0
            assert "The schema is up to date" in migrating.log.read_text()


async def test_a_standby_is_waited_for_until_it_is_promoted(tmp_path: Path) -> None:
    with (
        primary_and_standby(durable=True) as pair,
        started(tmp_path, "migrate", url=pair.standby.tcp_url) as migrating,
    ):
        await migrating.says("the server is a standby and accepts no writes")

        await promote(pair.standby)

        assert await migrating.ends() == 0


@pytest.mark.parametrize("words", PROCESSES, ids=lambda words: words[0])
async def test_a_process_that_waits_ends_well_when_told_to(
    words: tuple[str, ...], tmp_path: Path, unused_tcp_port: int
) -> None:
    url = f"postgresql://rota:geheim@127.0.0.1:{unused_tcp_port}/rota"
    with started(tmp_path, *words, url=url) as process:
        await process.says(WAITING)

        process.process.send_signal(signal.SIGTERM)

        assert await process.ends() == 0
        said = process.log.read_text()
        assert "Traceback" not in said
        assert "geheim" not in said


async def test_it_need_not_wait_for_the_silent_server_to_end(tmp_path: Path) -> None:
    async with silence() as silent:
        url = f"postgresql://rota@127.0.0.1:{silent.port}/rota"
        with started(
            tmp_path, "scheduler", url=url, ROTA_DATABASE__CONNECT_TIMEOUT="5m"
        ) as process:
            await silent.called.wait()

            process.process.send_signal(signal.SIGTERM)

            assert await process.ends() == 0


@pytest.mark.parametrize("limit", ["0s", "300ms"])
async def test_it_waits_no_longer_than_it_is_told(
    tmp_path: Path, unused_tcp_port: int, limit: str
) -> None:
    url = f"postgresql://rota@127.0.0.1:{unused_tcp_port}/rota"
    with started(tmp_path, "worker", url=url, ROTA_DATABASE__WAIT_AT_START=limit) as process:
        assert await process.ends() == 69

    said = process.log.read_text()
    assert (WAITING in said) == (limit != "0s")
    assert "database unavailable" in said


@pytest.mark.parametrize("words", [*PROCESSES, ("migrate",)], ids=lambda words: words[0])
async def test_what_waiting_cannot_mend_ends_it_at_once(
    words: tuple[str, ...], durable: Embedded, tmp_path: Path
) -> None:
    url = durable.tcp_url.replace("@", "wrong@")
    with started(tmp_path, *words, url=url) as process:
        assert await process.ends() == 78

    assert WAITING not in process.log.read_text()
    assert "password authentication failed" in process.log.read_text()


async def test_an_unsafe_server_is_refused_at_once(server: Embedded, tmp_path: Path) -> None:
    with started(tmp_path, "worker", url=server.url) as process:
        assert await process.ends() == 78

    assert "fsync is off" in process.log.read_text()


async def test_other_commands_fail_fast(tmp_path: Path, unused_tcp_port: int) -> None:
    url = f"postgresql://rota@127.0.0.1:{unused_tcp_port}/rota"
    with started(tmp_path, "doctor", url=url) as process:
        assert await process.ends() != 0

    assert WAITING not in process.log.read_text()
