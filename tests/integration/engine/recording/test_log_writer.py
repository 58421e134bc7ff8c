"""What attempts say outlives a database that is away for a moment (E14)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.support.world import World

from rota.core.errors import StoreUnavailable
from rota.core.executor import Stream
from rota.engine.recording.outcome_recorder import LogWriter
from rota.store.checkpoints import RunProgress
from rota.store.driver import Connection
from rota.store.logs import LogPiece


class Flickering:
    """A source that is away at first."""

    def __init__(self, world: World, away: int) -> None:
        self.world = world
        self.away = away

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        if self.away:
            self.away -= 1
            raise StoreUnavailable(reason="restarting")
        yield self.world.conn


async def test_a_batch_that_could_not_be_stored_is_stored_later(world: World) -> None:
    run_id = world.new_id()
    batches = [
        ([LogPiece(run_id, 1, n, Stream.STDOUT, world.now, f"line {n}\n".encode())], told)
        for n, told in enumerate(
            [[RunProgress(run_id, 1, 0.25, "a")], [RunProgress(run_id, 1, 0.5, "b")]]
        )
    ]
    noting = LogWriter(
        source=Flickering(world, away=2),
        take_output=lambda _most: batches.pop(0) if batches else ([], []),
    )
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await noting.tick()
    for _ in range(3):
        await noting.tick()

    lines = await world.conn.fetch(
        "select chunk from rota.run_logs where run_id = $1 order by seq", run_id
    )
    progress = await world.conn.fetchval(
        "select progress from rota.run_notes where run_id = $1", run_id
    )
    assert [bytes(row[0]) for row in lines] == [b"line 0\n", b"line 1\n"]
    assert progress == 0.5
