"""What every test may ask for: a database of its own on a real PostgreSQL.

One embedded server per test session, shared by the workers of pytest-xdist through its home's
lock; a template database is migrated once and cloned per test, which takes about 20 ms.
"""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from rota.store.driver import Connection
from rota.store.embedded import Embedded, start
from tests.support.databases import clone_url, drop, make_template
from tests.support.world import World

# What takes minutes; begun last, it would keep one process busy while the other has nothing to do.
LONG = (
    "test_openapi.py::test_every_operation_behaves_as_its_document_says",
    "test_chaos.py::test_every_promise_holds",
    "test_failover.py::test_rota_follows_the_leader",
    "test_simulation.py::test_every_promise_is_kept",
    "test_rolling_upgrade.py::test_a_rolling_upgrade_and_a_rollback_of_the_code",
)

MEMORY = Path("/dev/shm")
ROOM = 4 * 2**30
RUN = "RUN_OF_THE_TESTS"
is_first = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let both processes of `make test` begin with what takes long: each gets one half."""
    long = [item for item in items if any(name in item.nodeid for name in LONG)]
    if not long or len(long) == len(items):
        return
    others = [item for item in items if item not in set(long)]
    middle = len(others) // 2
    items[:] = [*long[0::2], *others[:middle], *long[1::2], *others[middle:]]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """A server that trades durability for speed; the tests of durability start their own."""
    home = fast_folder(tmp_path_factory) / "postgres"
    with start(home, durable=False) as embedded:
        asyncio.run(make_template(embedded.url))
        yield embedded


@pytest.fixture
async def database(server: Embedded) -> AsyncIterator[str]:
    """The URL of an empty, migrated database that only this test uses."""
    url = await clone_url(server.url)
    yield url
    await drop(server.url, url)


@pytest.fixture
async def conn(database: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database)
    yield connection
    await connection.close()


@pytest.fixture
async def world(conn: Connection) -> World:
    return await World(conn).begin()


@pytest.fixture(scope="session")
def schema(server: Embedded) -> str:
    """The URL of a migrated database that no test changes."""
    return asyncio.run(clone_url(server.url))


def pytest_configure() -> None:
    """Name this run, for all its processes, and let Ctrl-C reach what the tests start.

    A shell that starts the tests in the background has them ignore SIGINT. Every process that a
    test starts would inherit that, and a command that a test interrupts would never end.
    """
    global is_first  # noqa: PLW0603 — told once, when the process begins
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    is_first = RUN not in os.environ
    os.environ.setdefault(RUN, uuid4().hex)


def pytest_sessionfinish() -> None:
    if is_first:
        shutil.rmtree(MEMORY / f"rota-tests-{os.environ[RUN]}", ignore_errors=True)


def fast_folder(factory: pytest.TempPathFactory) -> Path:
    """In memory if there is room: a database is some hundred small files, and a test that clones
    one waits three times as long for a disk.
    """
    if not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < ROOM:
        return shared_folder(factory)
    made = MEMORY / f"rota-tests-{os.environ[RUN]}"
    made.mkdir(mode=0o755, exist_ok=True)
    return made


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """The same folder for all workers of one xdist run; its parent is theirs in common."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    # A socket's path may have 107 bytes at most; the manager copes, but short is kinder to read.
    return Path(tempfile.gettempdir()) / base.name if len(str(base)) > 60 else base
