"""The same SQL on the older PostgreSQL that the wheel brings too, and on any the machine has (O2).

PostgreSQL 16 lies beside 18 in the wheel, so it is always tried; others are tried where they are.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
import pytest
from tests.support.standby import wait_until_stopped
from tests.support.world import World

from rota.core.states import RunState
from rota.store import live_runs
from rota.store.embedded import EmbeddedOptions, start
from rota.store.embedded.binaries import find_in_system_folders, find_in_wheels
from rota.store.live_runs import RunEnding
from rota.store.partitions import create_ahead
from rota.store.schema_migration import migrate
from rota.store.statement import STATEMENTS

NEWEST, *OLDER = [*find_in_wheels(), *find_in_system_folders()]


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder that every user may enter: initdb of PostgreSQL 15 comes back by its full path."""
    with TemporaryDirectory(prefix="rota-older-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        wait_until_stopped(Path(folder) / "home")


def test_the_wheel_brings_an_older_server_to_try() -> None:
    assert OLDER


@pytest.mark.parametrize("binaries", OLDER, ids=lambda path: path.parent.name)
async def test_a_run_goes_all_its_way_on_an_older_server(binaries: Path, open_path: Path) -> None:
    with start(
        open_path / "home", durable=False, options=EmbeddedOptions(binaries=binaries)
    ) as embedded:
        conn = await asyncpg.connect(embedded.url)
        await migrate(conn)
        for statement in STATEMENTS.values():
            await conn.prepare(statement.text)
        world = await World(conn).begin()
        await create_ahead(conn, today=world.now.date(), ahead=1)
        await world.job()
        ownership = await world.own()

        (fired,) = await world.fire(ownership, await world.due(), every=timedelta(hours=1))
        session = await world.session()
        (claimed,) = await world.claim(session)
        ending = RunEnding(claimed.id, claimed.attempt, RunState.SUCCEEDED, 0)
        await live_runs.finish_runs(conn, session_id=session, endings=[ending])

        assert (await world.get(fired.run_id)).state is RunState.SUCCEEDED
        await conn.close()
