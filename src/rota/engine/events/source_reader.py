"""Reads an event source and ingests its events; one process of the fleet reads each source.

Every process has a duty for each source in its settings. The holder of the source's lease opens and
reads it; the others check every few seconds whether the lease has expired. A batch goes through
these steps:

    read          the batch from the source
    take          store the events, their runs and the position, in one transaction that also checks
                  that the lease is still held
    acknowledge   the batch to the source, after the commit

If the process dies before the commit, the source delivers the batch again. If it dies after the
commit, the batch comes again too, and every event in it is a known duplicate (ingestion.py). A
source that raises is closed, released and tried again later. The same happens while the tenant has
`max_queued` waiting runs: the remaining events wait at the source. An invalid message stops its
source, because skipping it would lose it. With `skips_bad` it is skipped and counted.
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

from rota.contract.source_messages import MessageFormat, build_event
from rota.core.clock import ClockSource
from rota.core.errors import InvalidInput, LeaseLost, NotFound, QuotaExceeded, RotaError
from rota.core.event_rules.event import NewEvent, check_event
from rota.core.log_events import Emit, EventsIngested, MessageSkipped, SourceAcquired, SourceFailed
from rota.core.source import POSITION_BYTES_MAX, Batch, Message, Source
from rota.engine.events.ingestion import ingest_events
from rota.runtime.backoff import Backoff
from rota.runtime.service import Duty, Halt
from rota.store import event_sources, hints, interning
from rota.store.driver import ConnectionSource as Connections
from rota.store.event_sources import SourceLease, SourceProgress, SourceReaderId
from rota.store.pool import read_database_time
from rota.store.transaction import transaction

# Long enough to ingest a batch while the database is slow. A process that stops releases its lease.
SOURCE_LEASE: Final = timedelta(seconds=30)
RENEW_INTERVAL: Final = SOURCE_LEASE / 3
# Seconds between checks while another process reads the source.
LEASE_CHECK_INTERVAL_S: Final = 5.0
READ_WAIT: Final = timedelta(seconds=1)
# Seconds that one call of a source may take. Well below the lease, so that a stuck source is not
# read by two processes for long.
CALL_TIMEOUT_S: Final = 20.0
LAG_INTERVAL_S: Final = 10.0
PAUSE_MAX: Final = timedelta(minutes=1)
REASON_CHARS_MAX: Final = 500
# User and password in a URL, as they may appear in the error of a library.
USER_INFO: Final = re.compile(r"(?<=://)[^\s/@]+@")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredSource:
    """A source as configured. `interval` is the polling interval of a source that cannot wait."""

    name: str
    kind: str
    tenant: str
    reading: MessageFormat
    build_source: Callable[[], Source]
    batch_max: int = 500
    interval: timedelta = timedelta(seconds=1)
    skips_bad: bool = False


class SourceBroken(Exception):
    """A source raised an error or did not answer in time; the text is the reason."""


@dataclass(slots=True, kw_only=True)
class SourceReader:
    """Reads one source as a background duty. `display_name` names this process to people."""

    configured: ConfiguredSource
    connections: Connections
    clock: ClockSource
    rng: Random
    display_name: str
    new_id: Callable[[], UUID]
    emit: Emit
    _held: SourceLease | None = None
    _source: Source | None = None
    _renewed: float = float("-inf")
    _lag: int | None = None
    _looked: float = float("-inf")
    _owner: UUID = field(init=False)
    _most: int = field(init=False)
    _backoff: Backoff = field(init=False)

    def __post_init__(self) -> None:
        # Constant for the life of the process, so that it can take back its own lease at once.
        self._owner = self.new_id()
        self._most = self.configured.batch_max
        self._backoff = Backoff(rng=self.rng, min_pause=timedelta(seconds=1), max_pause=PAUSE_MAX)

    async def tick(self) -> float:
        """Ingest one batch, if this process holds the lease and the source has one."""
        began = self.clock.monotonic()
        try:
            held = self._held or await self._hold()
            if held is None:
                return LEASE_CHECK_INTERVAL_S
            found = await self._read(held)
            self._backoff.reset()
        except LeaseLost:
            await self._close()
            return 0.0
        except QuotaExceeded as error:
            # Runs must end first. Events that fit are ingested one by one; the others wait at the
            # source.
            self._most = 1
            return await self._failed(error)
        except (SourceBroken, InvalidInput, NotFound) as error:
            return await self._failed(error)
        except RotaError:
            # The duty handles this error, but the batch was not ingested: reopen the source.
            await self._close()
            raise
        if found:
            return 0.0
        return max(0.0, self.configured.interval.total_seconds() - (self.clock.monotonic() - began))

    async def release(self) -> None:
        """Stop reading and release the lease, so that another process can read at once."""
        held = self._held
        await self._close()
        if held is not None:
            try:
                async with self.connections.acquire() as conn:
                    await event_sources.release_source(conn, held)
            except RotaError:
                return  # the lease expires

    async def _hold(self) -> SourceLease | None:
        wanted = self.configured
        async with self.connections.acquire() as conn:
            tenant_id = (await interning.find_tenant_ids(conn, [wanted.tenant]))[wanted.tenant]
            reader = SourceReaderId(tenant_id=tenant_id, name=wanted.name, owner=self._owner)
            held = await event_sources.lease_source(
                conn, reader, kind=wanted.kind, reader_name=self.display_name, ttl=SOURCE_LEASE
            )
        if held is None:
            return None
        self._held, self._renewed = held, self.clock.monotonic()
        self.emit(SourceAcquired(source=wanted.name, kind=wanted.kind))
        with translate_source_errors():
            self._source = wanted.build_source()
        await self._ask(self._source.open(held.position))
        return held

    async def _read(self, held: SourceLease) -> bool:
        """Read, ingest and acknowledge one batch; return whether there was one."""
        assert self._source is not None  # noqa: S101
        await self._look_at_lag(self._source)
        batch = await self._ask(self._source.read(limit=self._most, within=READ_WAIT))
        if batch.position is None:
            await self._renew(held)
            return False
        if len(batch.position) > POSITION_BYTES_MAX:
            length = len(batch.position)
            raise SourceBroken(f"its position has {length} characters; limit: {POSITION_BYTES_MAX}")
        await self._take(held, batch)
        await self._ask(self._source.acknowledge(batch.position))
        self._most = min(self.configured.batch_max, self._most * 2)
        return True

    async def _take(self, held: SourceLease, batch: Batch) -> None:
        """Commit the events, their runs and the position, all or nothing."""
        events, refused = self._events(batch.messages)
        async with self.connections.acquire() as conn:
            async with transaction(conn):
                now = await read_database_time(conn)
                taken = await ingest_events(
                    conn, held.reader.tenant_id, events, now=now, new_id=self.new_id
                )
                progress = SourceProgress(
                    position=batch.position,
                    taken=len(events) - taken.duplicates,
                    refused=len(refused),
                    lag=self._lag,
                    error=refused[-1].reason if refused else None,
                )
                await event_sources.store_progress(conn, held, progress, ttl=SOURCE_LEASE)
            if taken.new_run_ids:
                await hints.send_hint(conn, hints.RUNS_CHANNEL)
        self._renewed = self.clock.monotonic()
        for refusal in refused:
            self.emit(refusal)
        if events:
            fresh, name = progress.taken, self.configured.name
            self.emit(EventsIngested(source=name, count=fresh, duplicates=taken.duplicates))

    def _events(self, messages: Sequence[Message]) -> tuple[list[NewEvent], list[MessageSkipped]]:
        """Return the valid messages as events, and the invalid ones that may be skipped."""
        events, refused = [], []
        now = self.clock.now()
        for message in messages:
            try:
                event = build_event(message, self.configured.reading)
                check_event(event, event_id=self.new_id(), now=now)
                events.append(event)
            except InvalidInput as error:
                reason = f"message {message.id}: {error}"
                if not self.configured.skips_bad:
                    # The messages before it are ingested one by one, so that only later ones wait.
                    self._most = 1
                    raise SourceBroken(reason) from error
                name, line = self.configured.name, render_reason(reason)
                refused.append(MessageSkipped(source=name, message=message.id, reason=line))
        return events, refused

    async def _look_at_lag(self, source: Source) -> None:
        now = self.clock.monotonic()
        if now - self._looked >= LAG_INTERVAL_S:
            self._lag, self._looked = await self._ask(source.lag()), now

    async def _renew(self, held: SourceLease) -> None:
        """Renew the lease of an idle source from time to time."""
        if self.clock.monotonic() - self._renewed < RENEW_INTERVAL.total_seconds():
            return
        async with self.connections.acquire() as conn:
            await event_sources.store_progress(
                conn, held, SourceProgress(lag=self._lag), ttl=SOURCE_LEASE
            )
        self._renewed = self.clock.monotonic()

    async def _failed(self, error: Exception) -> float:
        """Close the source, store the reason, and let another process try."""
        held, pause, reason = self._held, self._backoff.next_pause(), render_reason(str(error))
        await self._close()
        if held is not None:
            async with self.connections.acquire() as conn:
                await event_sources.store_error(conn, held, reason)
        name, kind = self.configured.name, self.configured.kind
        self.emit(SourceFailed(source=name, kind=kind, reason=reason, pause=pause))
        return pause.total_seconds()

    async def _ask(self, answer: Awaitable[T]) -> T:
        with translate_source_errors():
            async with asyncio.timeout(CALL_TIMEOUT_S):
                return await answer

    async def _close(self) -> None:
        source, self._source, self._held = self._source, None, None
        self._lag, self._looked = None, float("-inf")
        if source is not None:
            with suppress(SourceBroken):
                await self._ask(source.close())


@contextmanager
def translate_source_errors() -> Iterator[None]:
    """Translate any error of a source, which is plug-in code, to `SourceBroken`."""
    try:
        yield
    except TimeoutError:
        raise SourceBroken(f"it did not answer within {CALL_TIMEOUT_S:g} s") from None
    except Exception as error:  # a plug-in may raise anything
        raise SourceBroken(f"{type(error).__name__}: {error}") from error


def render_reason(text: str) -> str:
    """Return a reason for display: one short line, without passwords."""
    line = " ".join(text.split())
    line = USER_INFO.sub("***@", "".join(char for char in line if char.isprintable()))
    return line if len(line) <= REASON_CHARS_MAX else f"{line[: REASON_CHARS_MAX - 1]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasingDuty:
    """Runs the duty of one source, and releases the source when the process stops."""

    duty: Duty
    reader: SourceReader

    @property
    def name(self) -> str:
        return self.duty.name

    async def run(self, stop: Halt, /) -> None:
        await self.duty.run(stop)
        await self.reader.release()
