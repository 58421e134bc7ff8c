"""Reads a source and takes its events in, as the only process of the fleet. Room: flow/events.

A duty for each source that this process has settings for. Who holds the source's lease opens it and
reads; the others look now and then whether the lease has run out. A batch goes through these steps:

    read          from the source
    take          events, their runs and the position, in one transaction that also asks whether the
                  lease still holds
    acknowledge   to the source, after that transaction was committed

Killed before the commit, the source gives the batch again; killed after it, the batch comes again
too, and every event in it is known by its id (taking.py). A source that raises is closed, let go
and tried again later. So it is while the tenant has as many waiting runs as it may: then the rest
waits at the source. A message that is no event stops its source, because passing over it would
lose it; or it is passed over and counted, if the settings say so.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Final, TypeVar
from uuid import UUID

from rota.contract.messages import Reading, event_of
from rota.core.arrivals.event import NewEvent, checked
from rota.core.clock import Clock
from rota.core.errors import InvalidInput, LeaseLost, NotFound, QuotaExceeded, RotaError
from rota.core.events import Emit, EventsTaken, MessageRefused, SourceFailed, SourceHeld
from rota.core.source import LONGEST_POSITION, Batch, Message, Source
from rota.flow.events.taking import take
from rota.runtime.backoff import Backoff
from rota.runtime.service import Duty
from rota.runtime.stop import Halt
from rota.store import hints, names, sources
from rota.store.driver import Source as Connections
from rota.store.fitness import database_time
from rota.store.sources import Hold, Progress, Reader
from rota.store.transaction import transaction

# Long enough for a batch to be taken in while the database is slow; a process that ends lets go.
TTL: Final = timedelta(seconds=30)
RENEW_EVERY: Final = TTL / 3
# While another process reads it.
LOOK_EVERY: Final = 5.0
WITHIN: Final = timedelta(seconds=1)
# For one call of a source. Well within the lease, so that a stuck one is not read twice for long.
LIMIT: Final = 20.0
LOOK_AT_LAG_EVERY: Final = 10.0
LONGEST_PAUSE: Final = timedelta(minutes=1)
LONGEST_REASON: Final = 500
# A password in an address, in whatever a library says.
USER_INFO: Final = re.compile(r"(?<=://)[^\s/@]+@")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A source as the settings have it. `every` is how often one that cannot wait is asked."""

    name: str
    kind: str
    tenant: str
    reading: Reading
    make: Callable[[], Source]
    most: int = 500
    every: timedelta = timedelta(seconds=1)
    skips_bad: bool = False


class SourceBroken(Exception):
    """A source raised, or did not answer; its text is what there is to say."""


@dataclass(slots=True, kw_only=True)
class ListeningToSource:
    """`shown` names this process to people."""

    wanted: Wanted
    connections: Connections
    clock: Clock
    chance: Random
    shown: str
    new_id: Callable[[], UUID]
    emit: Emit
    _held: Hold | None = None
    _source: Source | None = None
    _renewed: float = float("-inf")
    _lag: int | None = None
    _looked: float = float("-inf")
    _owner: UUID = field(init=False)
    _most: int = field(init=False)
    _backoff: Backoff = field(init=False)

    def __post_init__(self) -> None:
        # The same for all of this process's life: it need not wait for a lease of its own.
        self._owner = self.new_id()
        self._most = self.wanted.most
        self._backoff = Backoff(
            chance=self.chance, shortest=timedelta(seconds=1), longest=LONGEST_PAUSE
        )

    async def tick(self) -> float:
        """One batch, if this process may read and there is one."""
        began = self.clock.monotonic()
        try:
            held = self._held or await self._hold()
            if held is None:
                return LOOK_EVERY
            found = await self._read(held)
            self._backoff.reset()
        except LeaseLost:
            await self._close()
            return 0.0
        except QuotaExceeded as error:
            # Runs must end first. What fits is taken one by one, and the rest waits where it is.
            self._most = 1
            return await self._failed(error)
        except (SourceBroken, InvalidInput, NotFound) as error:
            return await self._failed(error)
        except RotaError:
            # Not ours to judge, but the batch was not taken: the next pass begins anew.
            await self._close()
            raise
        if found:
            return 0.0
        return max(0.0, self.wanted.every.total_seconds() - (self.clock.monotonic() - began))

    async def let_go(self) -> None:
        """Stop reading, so that nobody has to wait for the lease to run out."""
        held = self._held
        await self._close()
        if held is not None:
            try:
                async with self.connections.acquire() as conn:
                    await sources.release(conn, held)
            except RotaError:
                return  # then they wait

    async def _hold(self) -> Hold | None:
        wanted = self.wanted
        async with self.connections.acquire() as conn:
            tenant_id = (await names.tenant_ids(conn, [wanted.tenant]))[wanted.tenant]
            reader = Reader(tenant_id=tenant_id, name=wanted.name, owner=self._owner)
            held = await sources.hold(conn, reader, kind=wanted.kind, shown=self.shown, ttl=TTL)
        if held is None:
            return None
        self._held, self._renewed = held, self.clock.monotonic()
        self.emit(SourceHeld(source=wanted.name, kind=wanted.kind))
        with broken():
            self._source = wanted.make()
        await self._ask(self._source.open(held.position))
        return held

    async def _read(self, held: Hold) -> bool:
        """Read, take, acknowledge; whether there was anything."""
        assert self._source is not None  # noqa: S101
        await self._look_at_lag(self._source)
        batch = await self._ask(self._source.read(most=self._most, within=WITHIN))
        if batch.position is None:
            await self._renew(held)
            return False
        if len(batch.position) > LONGEST_POSITION:
            raise SourceBroken(f"a position of {len(batch.position)} characters is too long")
        await self._take(held, batch)
        await self._ask(self._source.acknowledge(batch.position))
        self._most = min(self.wanted.most, self._most * 2)
        return True

    async def _take(self, held: Hold, batch: Batch) -> None:
        """The events, their runs and the position: all of it is committed, or nothing."""
        events, refused = self._events(batch.messages)
        async with self.connections.acquire() as conn:
            async with transaction(conn):
                now = await database_time(conn)
                taken = await take(conn, held.reader.tenant_id, events, now=now, new_id=self.new_id)
                progress = Progress(
                    position=batch.position,
                    taken=len(events) - taken.duplicates,
                    refused=len(refused),
                    lag=self._lag,
                    error=refused[-1].reason if refused else None,
                )
                await sources.advance(conn, held, progress, ttl=TTL)
            if taken.made:
                await hints.give(conn, hints.RUNS)
        self._renewed = self.clock.monotonic()
        for each in refused:
            self.emit(each)
        if events:
            fresh, name = progress.taken, self.wanted.name
            self.emit(EventsTaken(source=name, count=fresh, duplicates=taken.duplicates))

    def _events(self, messages: Sequence[Message]) -> tuple[list[NewEvent], list[MessageRefused]]:
        """Every message as an event, and those that are none and may be passed over."""
        events, refused = [], []
        now = self.clock.now()
        for message in messages:
            try:
                event = event_of(message, self.wanted.reading)
                checked(event, event_id=self.new_id(), now=now)
                events.append(event)
            except InvalidInput as error:
                reason = f"message {message.id}: {error}"
                if not self.wanted.skips_bad:
                    # The ones before it are taken one by one, so that only what follows waits.
                    self._most = 1
                    raise SourceBroken(reason) from error
                name, told = self.wanted.name, said(reason)
                refused.append(MessageRefused(source=name, message=message.id, reason=told))
        return events, refused

    async def _look_at_lag(self, source: Source) -> None:
        now = self.clock.monotonic()
        if now - self._looked >= LOOK_AT_LAG_EVERY:
            self._lag, self._looked = await self._ask(source.lag()), now

    async def _renew(self, held: Hold) -> None:
        """Nothing came. Say now and then that this process still reads."""
        if self.clock.monotonic() - self._renewed < RENEW_EVERY.total_seconds():
            return
        async with self.connections.acquire() as conn:
            await sources.advance(conn, held, Progress(lag=self._lag), ttl=TTL)
        self._renewed = self.clock.monotonic()

    async def _failed(self, error: Exception) -> float:
        """Close it, say why, and let another process try."""
        held, pause, reason = self._held, self._backoff.pause(), said(str(error))
        await self._close()
        if held is not None:
            async with self.connections.acquire() as conn:
                await sources.fail(conn, held, reason)
        name, kind = self.wanted.name, self.wanted.kind
        self.emit(SourceFailed(source=name, kind=kind, reason=reason, pause=pause))
        return pause.total_seconds()

    async def _ask(self, answer: Awaitable[T]) -> T:
        with broken():
            async with asyncio.timeout(LIMIT):
                return await answer

    async def _close(self) -> None:
        source, self._source, self._held = self._source, None, None
        self._lag, self._looked = None, float("-inf")
        if source is not None:
            with suppress(SourceBroken):
                await self._ask(source.close())


@contextmanager
def broken() -> Iterator[None]:
    """What a source raises: foreign code, so it may be anything."""
    try:
        yield
    except TimeoutError:
        raise SourceBroken("it did not answer in time") from None
    except Exception as error:  # a plug-in may raise anything; that is an answer, too
        raise SourceBroken(f"{type(error).__name__}: {error}") from error


def said(text: str) -> str:
    """A reason as it is shown: one line, not too long, without passwords."""
    line = " ".join(text.split())
    line = USER_INFO.sub("***@", "".join(char for char in line if char.isprintable()))
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class LastWord:
    """The duty of one source, and letting it go when it is told to stop."""

    duty: Duty
    listening: ListeningToSource

    @property
    def name(self) -> str:
        return self.duty.name

    async def run(self, stop: Halt, /) -> None:
        await self.duty.run(stop)
        await self.listening.let_go()
