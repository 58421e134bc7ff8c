"""Processes that read a source: one in the test itself, and real ones that are killed.

The same file is the program of such a process. It dies by SIGKILL at the point that it was given:
`read` is after a batch was read and before anything is written, `committed` is after the commit and
before the source hears of it.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from rota.contract.source_messages import MessageFormat
from rota.core.ids import build_id
from rota.core.source import Batch, Source
from rota.engine.events.source_reader import ConfiguredSource, SourceReader
from rota.processes.event_sources import find_factory, find_kinds
from rota.runtime.clock import SystemClock
from rota.store.driver import Connection
from rota.store.pool import DatabaseAccess, DedicatedConnection

CLOCK = SystemClock()
NAME = "things"
TYPE = "thing"


@dataclass
class Ahead:
    """A connection for which it is later: leases of others have run out."""

    line: DedicatedConnection
    by: timedelta = timedelta(0)

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        async with self.line.acquire() as conn:
            if self.by:
                later = "(clock_timestamp() + $1::interval)::text"
                await conn.execute(f"select set_config('rota.now', {later}, false)", self.by)
            yield conn


@dataclass
class Listener:
    """One process of the fleet that reads the source `things`."""

    url: str
    kind: str
    options: Mapping[str, Any]
    ahead: timedelta = timedelta(0)
    more: Mapping[str, Any] = field(default_factory=dict)
    dies: str | None = None
    events: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.line = DedicatedConnection(DatabaseAccess(url=self.url))
        chance = Random()
        make = find_factory(self.kind, find_kinds(), path="sources.things")
        self.duty = SourceReader(
            configured=ConfiguredSource(
                name=NAME,
                kind=self.kind,
                tenant="default",
                reading=MessageFormat(source=f"/sources/{NAME}", type=TYPE),
                build_source=lambda: self._wrapped(make(self.options)),
                **self.more,
            ),
            connections=Ahead(self.line, self.ahead),
            clock=CLOCK,
            rng=chance,
            display_name=f"listener:{os.getpid()}",
            new_id=lambda: build_id(CLOCK.now(), chance.randbytes(10)),
            emit=self.events.append,
        )

    def _wrapped(self, source: Source) -> Source:
        return source if self.dies is None else Dying(source, self.dies)

    async def until(self, count: int, *, patience: float = 20.0) -> None:
        """Read until the database has so many runs."""
        async with asyncio.timeout(patience):
            while await self.runs() < count:
                rest = await self.duty.tick()
                await CLOCK.sleep(min(rest, 0.05))

    async def runs(self) -> int:
        async with self.line.acquire() as conn:
            return int(await conn.fetchval("select count(*) from rota.live_runs"))

    async def close(self) -> None:
        await self.duty.release()
        self.line.close()


@dataclass
class Dying:
    """A source whose process is killed at one point."""

    inner: Source
    dies: str

    async def open(self, position: str | None) -> None:
        await self.inner.open(position)

    async def read(self, *, limit: int, within: timedelta) -> Batch:
        batch = await self.inner.read(limit=limit, within=within)
        if batch.messages and self.dies == "read":
            os.kill(os.getpid(), signal.SIGKILL)
        return batch

    async def acknowledge(self, position: str) -> None:
        if self.dies == "committed":
            os.kill(os.getpid(), signal.SIGKILL)
        await self.inner.acknowledge(position)

    async def lag(self) -> int | None:
        return await self.inner.lag()

    async def close(self) -> None:
        await self.inner.close()


async def main() -> None:
    """Read until killed."""
    wish = json.loads(sys.argv[1])
    listener = Listener(wish["url"], wish["kind"], wish["options"], dies=wish["dies"])
    while True:
        rest = await listener.duty.tick()
        for event in listener.events:
            print(event, file=sys.stderr)  # noqa: T201
        listener.events.clear()
        await CLOCK.sleep(rest)


if __name__ == "__main__":
    asyncio.run(main())
