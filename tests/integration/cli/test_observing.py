"""Every process answers probes and shows metrics, whatever its loop and database do (O5, O6)."""

import asyncio
import json
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import pytest
from tests.support.gated import PATIENCE_S, ROTA, durable_server, started, way_to
from tests.support.ports import find_free_ports
from tests.support.scraping import scrape, value_of
from tests.support.shop import until

from rota.runtime.clock import SystemClock
from rota.sdk.transaction import in_transaction
from rota.store.embedded import Embedded

# Its handler blocks the event loop of the worker's engine, which imports it.
BLOCKING_APP = """
import asyncio
import time

from rota.executors.python import Handlers

handlers = Handlers()
engine = asyncio.get_running_loop()


@handlers.handler("block")
async def block(_context, _payload):
    engine.call_soon_threadsafe(time.sleep, 8)
"""
SLOW_APP = """
import asyncio

from rota.executors.python import Handlers

handlers = Handlers()


@handlers.handler("slow")
async def slow(_context, _payload):
    await asyncio.sleep(5)
"""
OUTAGE_S = 30.0


class Page(NamedTuple):
    status: int
    text: str
    took_s: float

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def fetch(url: str, **headers: str) -> Page:
    """Ask outside of any event loop."""
    began = time.monotonic()
    try:
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request, timeout=5) as response:
            status, text = int(response.status), response.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode()
    return Page(status, text, time.monotonic() - began)


async def get(url: str, **headers: str) -> Page:
    return await asyncio.to_thread(lambda: fetch(url, **headers))


async def answers(url: str, status: int, *, patience: float = PATIENCE_S) -> Page:
    """The first answer with this status."""

    async def look() -> Page | None:
        try:
            page = await get(url)
        except OSError:
            return None
        return page if page.status == status else None

    return await until(look, patience=patience)


@pytest.fixture(scope="module")
def durable() -> Iterator[Embedded]:
    with durable_server() as made:
        yield made


@pytest.fixture
def port() -> int:
    return find_free_ports(1)[0]


@pytest.mark.parametrize("role", ["api", "scheduler", "worker", "up"])
async def test_probes_and_metrics_tell_a_start_an_outage_and_a_stop(
    durable: Embedded, tmp_path: Path, role: str, port: int
) -> None:
    url = f"http://127.0.0.1:{port}"
    async with way_to(durable) as way:
        with started(tmp_path, role, url=way.url, ROTA_OBSERVE__LISTEN=f"127.0.0.1:{port}") as node:
            await answers(f"{url}/livez", 200)
            await node.says("database.waiting")
            starting = [await get(f"{url}{path}") for path in ("/startupz", "/readyz", "/metrics")]

            await way.gates[0].open()
            ready = await answers(f"{url}/readyz?verbose", 200)
            up = await get(f"{url}/metrics")

            way.gates[0].freeze()
            away = await answers(f"{url}/readyz?verbose", 503, patience=OUTAGE_S)
            alive = await get(f"{url}/livez")
            down = await until_down(url)

            await way.gates[0].open()
            await answers(f"{url}/readyz", 200)
            node.process.send_signal(signal.SIGTERM)
            assert await node.ends() == 0

    assert [page.status for page in starting] == [503, 503, 200]
    assert "waiting for the database" in starting[0].json["detail"]
    assert value_of(starting[2].text, "rota_database_up") == 0
    checks = {check["name"]: check for check in ready.json["checks"]}
    assert {"startup", "not_stopping", "event_loop", "database"} < checks.keys()
    assert checks["database"]["age_s"] < 10
    assert value_of(up.text, "rota_database_up") == 1
    assert [dict(labels)["role"] for name, labels in scrape(up.text) if "build" in name] == [role]
    assert value_of(up.text, "process_resident_memory_bytes") > 10_000_000
    assert value_of(up.text, "process_start_time_seconds") == pytest.approx(
        SystemClock().now().timestamp(), abs=300
    )
    assert value_of(up.text, "rota_pool_connections_max") > 0
    assert any(name == "rota_statement_duration_seconds_count" for name, _ in scrape(up.text))
    assert away.json["status"] == "unavailable"
    assert alive.status == 200
    assert down.status == 200


async def until_down(url: str) -> Page:
    """A scrape during an outage: an answer that says so, not an error."""

    async def look() -> Page | None:
        page = await get(f"{url}/metrics")
        return page if value_of(page.text, "rota_database_up") == 0 else None

    return await until(look, patience=OUTAGE_S)


async def test_a_blocked_event_loop_is_seen_and_blocks_no_probe(
    durable: Embedded, tmp_path: Path, port: int
) -> None:
    (tmp_path / "blocking.py").write_text(BLOCKING_APP)
    url = f"http://127.0.0.1:{port}"
    async with way_to(durable) as way:
        await way.gates[0].open()
        words = ("worker", "blocking:handlers")
        listen = f"127.0.0.1:{port}"
        with started(tmp_path, *words, url=way.url, ROTA_OBSERVE__LISTEN=listen):
            await answers(f"{url}/readyz", 200)
            await submit(way.past, "block")
            blocked = await answers(f"{url}/readyz?verbose", 503, patience=OUTAGE_S)
            alive, metrics = await get(f"{url}/livez"), await get(f"{url}/metrics")
            await answers(f"{url}/readyz", 200)
            after = await get(f"{url}/metrics")

    assert "event_loop" in failed(blocked)
    assert alive.status == 200
    assert max(blocked.took_s, alive.took_s, metrics.took_s) < 1
    assert value_of(metrics.text, "rota_loop_lag_seconds") > 4
    # What went on unseen between two scrapes is still told.
    assert value_of(after.text, "rota_loop_lag_seconds") > 7


def failed(page: Page) -> set[str]:
    return {check["name"] for check in page.json["checks"] if check["status"] == "failed"}


async def test_a_worker_that_drains_is_not_ready_at_once_but_alive_until_the_end(
    durable: Embedded, tmp_path: Path, port: int
) -> None:
    (tmp_path / "slow.py").write_text(SLOW_APP)
    url = f"http://127.0.0.1:{port}"
    async with way_to(durable) as way, notices(tmp_path / "notify") as told:
        await way.gates[0].open()
        with started(
            tmp_path,
            *("worker", "slow:handlers"),
            url=way.url,
            ROTA_OBSERVE__LISTEN=f"127.0.0.1:{port}",
            NOTIFY_SOCKET=str(tmp_path / "notify"),
            WATCHDOG_USEC="10000000",
        ) as worker:
            await answers(f"{url}/readyz", 200)
            await submit(way.past, "slow")
            await busy(url)

            worker.process.send_signal(signal.SIGTERM)
            draining = await answers(f"{url}/readyz", 503, patience=2)
            alive, metrics = await get(f"{url}/livez"), await get(f"{url}/metrics")
            assert await worker.ends() == 0

    assert "stopping" in draining.json["detail"]
    assert alive.status == 200
    assert value_of(metrics.text, "rota_process_draining") == 1
    assert value_of(metrics.text, "rota_slots", state="busy") == 1
    assert value_of(metrics.text, "rota_run_wait_seconds_count", queue="default") == 1
    assert [message for message in told if message != "WATCHDOG=1"] == ["READY=1", "STOPPING=1"]
    assert "WATCHDOG=1" in told


@asynccontextmanager
async def notices(place: Path) -> AsyncIterator[list[str]]:
    """What a process tells its service manager."""
    told: list[str] = []

    class Manager(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: object) -> None:
            del addr
            told.append(data.decode())

    listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listening.setblocking(False)
    listening.bind(str(place))
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        Manager, sock=listening
    )
    try:
        yield told
    finally:
        transport.close()


async def submit(url: str, kind: str) -> None:
    conn = await asyncpg.connect(url)
    async with conn.transaction():
        await in_transaction(conn).create_job(kind=kind)
    await conn.close()


async def busy(url: str) -> None:
    async def look() -> bool | None:
        page = (await get(f"{url}/metrics")).text
        return value_of(page, "rota_slots", state="busy") == 1 or None

    await until(look, patience=PATIENCE_S)


async def test_the_program_probes_processes_by_address_settings_and_file(
    durable: Embedded, tmp_path: Path, port: int
) -> None:
    (tmp_path / ".rota").mkdir()
    async with way_to(durable) as way:
        with started(tmp_path, "scheduler", url=way.url) as scheduler:
            await scheduler.says("database.waiting")
            codes = [
                await probe(tmp_path, "live"),
                await probe(tmp_path, "startup"),
                await probe(tmp_path, "ready", "--role", "scheduler"),
                await probe(tmp_path, "live", "--role", "worker"),
                await probe(tmp_path, "live", "--address", f"127.0.0.1:{port}"),
                await probe(tmp_path, "live", "--address", "here"),
            ]
            fixed = f"127.0.0.1:{port}"
            with started(tmp_path, "worker", url=way.url, ROTA_OBSERVE__LISTEN=fixed) as worker:
                await worker.says("database.waiting")
                both = await probe(tmp_path, "live")
                one = await probe(tmp_path, "live", ROTA_OBSERVE__LISTEN=f"0.0.0.0:{port}")
                public = {"ROTA_OBSERVE__LISTEN": f"0.0.0.0:{port}", "ROTA_OBSERVE__PUBLIC": "true"}
                wild = await probe(tmp_path, "live", **public)
            await way.gates[0].open()
            await scheduler.says("shards.moved")
            ready = await probe(tmp_path, "ready")

    assert codes[0] == (0, "")
    assert codes[1][0] == 1
    assert "waiting for the database" in codes[1][1]
    assert codes[2][0] == 1
    assert codes[3][0] == 64
    assert codes[4][0] == 69
    assert codes[5][0] == 64
    assert both[0] == 64
    assert "--role" in both[1]
    assert one[0] == 64
    assert "observe.public" in one[1]
    assert wild == (0, "")
    assert ready == (0, "")


async def probe(folder: Path, *words: str, **settings: str) -> tuple[int, str]:
    """The exit code of `rota probe`, and what it says."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ROTA_")}
    process = await asyncio.create_subprocess_exec(
        str(ROTA),
        "probe",
        *words,
        cwd=folder,
        env=kept | settings,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()
