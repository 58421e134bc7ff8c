"""The live feed: what happens to a tenant's runs and jobs, as it happens. Room: flow/observe.

One poller per process looks twice a second for all streams that are open, and not at all while none
is (store/feed.py says how it finds what is new without anything being written for it). A stream
holds a bounded number of events: one that is read too slowly is told how many it missed, of which
sort, and goes on. An event's id is a position to resume from; after a resume, and only then, an
event may be told twice. What happens between two looks is told by where it led: a run that starts
and ends within half a second is told once, as ended.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.errors import InvalidInput, StoreRefused, StoreUnavailable
from rota.core.ids import EPOCH
from rota.store import feed
from rota.store.driver import Connection, Source
from rota.store.feed import Horizon, Position, Seen
from rota.store.transaction import transaction

EVERY: Final = 0.5
# For one stream and look: 500 events a second. What is more is counted.
MOST: Final = 250
# The events that wait for a slow reader.
ROOM: Final = 1_000
# A stream without news is told where it stands, so that a resume need not go back far.
QUIET: Final = timedelta(seconds=15)
# How far back a resume may reach, and how many events it brings at most.
REACH: Final = timedelta(minutes=2)
MOST_REPLAYED: Final = 500
# A statement's time is taken when it begins, its transaction's number when it writes; between them
# lie at most the five seconds of the statement time-out.
_MARGIN: Final = timedelta(seconds=6)
# Nobody waits longer for a transaction to end. It could hold the feed up for hours, and what the
# engine writes is committed within seconds or never (store/pool.py).
_LONGEST: Final = timedelta(seconds=30)
_SUM_UP_EVERY: Final = timedelta(seconds=10)
_SUM_UP: Final = 64
_SUM_UP_ALL: Final = 1_000_000

Key = tuple[int, str, UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEvent:
    """Something that happened. `missed` belongs to the type "lagged": how many events of which type
    were left out; empty if nobody knows. The type "quiet" says nothing but its id.
    """

    id: str
    type: str
    at: datetime
    job_id: UUID | None = None
    job_name: str | None = None
    run_id: UUID | None = None
    state: str | None = None
    attempt: int | None = None
    progress: float | None = None
    message: str | None = None
    # Of the run of a step.
    graph_run_id: UUID | None = None
    missed: tuple[tuple[str, int], ...] = ()


class Stream:
    """What one reader has not read yet. Many may be open; each has one reader."""

    def __init__(self, tenant_id: int) -> None:
        self.tenant_id = tenant_id
        self._waiting: deque[FeedEvent] = deque()
        self._missed: Counter[str] = Counter()
        self._last: FeedEvent | None = None
        self._arrived = asyncio.Event()
        self._closed = False
        self._told_at: datetime | None = None
        # What the resume told and the next look may find again.
        self.repeats: frozenset[Key] = frozenset()

    async def next(self) -> list[FeedEvent]:
        """Wait for events and take all of them. None at all means that the feed has ended."""
        while not self._waiting and not self._last and not self._closed:
            self._arrived.clear()
            await self._arrived.wait()
        events = list(self._waiting)
        self._waiting.clear()
        if self._last is not None:
            events.append(lagged(self._last.id, self._last.at, self._missed))
            self._last = None
            self._missed.clear()
        return events

    def offer(self, events: Sequence[FeedEvent], *, now: datetime) -> None:
        """Keep events for the reader, or count them if it has not read the ones before."""
        if not events:
            return
        self._told_at = now
        if self._last is None and len(self._waiting) + len(events) <= ROOM:
            self._waiting.extend(events)
        else:
            self._count(events)
        self._arrived.set()

    def is_quiet(self, now: datetime) -> bool:
        """Whether it was told nothing for a while; a reader who is behind knows without."""
        if self._told_at is None:
            self._told_at = now
        return not self._waiting and self._last is None and now - self._told_at >= QUIET

    def close(self) -> None:
        self._closed = True
        self._arrived.set()

    def _count(self, events: Sequence[FeedEvent]) -> None:
        for event in events:
            if event.type == "lagged":
                self._missed.update(dict(event.missed))
            else:
                self._missed[event.type] += 1
        self._last = events[-1]


class Marks:
    """Which number the next transaction had at each look of the last seconds."""

    def __init__(self) -> None:
        self._marks: deque[Horizon] = deque()

    def position(self, horizon: Horizon) -> Position:
        """From where the look after this one has to look."""
        marks = self._marks
        marks.append(horizon)
        while len(marks) > 1 and marks[1].now <= horizon.now - _LONGEST:
            marks.popleft()
        too_long_ago = marks[0].now <= horizon.now - _LONGEST
        xid = max(horizon.oldest, marks[0].next) if too_long_ago else horizon.oldest
        before = [mark.now for mark in marks if mark.next <= xid]
        return Position(xid, before[-1] - _MARGIN if before else horizon.now - _LONGEST)


class Feed:
    """The poller and its streams. `tick` is a duty; `open` may be called at any time."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._streams: list[Stream] = []
        self._position: Position | None = None
        self._marks = Marks()
        self._told: set[Key] = set()
        self._summed_up_at: datetime | None = None
        # A stream is opened between two looks, never during one: it would miss or repeat some.
        self._turn = asyncio.Lock()
        self._is_closed = False

    async def tick(self) -> float:
        """Tell all streams what is new."""
        async with self._turn:
            if not self._streams:
                self._forget()
            else:
                async with self._source.acquire() as conn:
                    await self._tell(conn)
        return EVERY

    @asynccontextmanager
    async def open(self, tenant_id: int, *, after: str | None = None) -> AsyncIterator[Stream]:
        """A stream of all that happens from now on, or after the event with this id."""
        last = None if after is None else parse_position(after)
        stream = Stream(tenant_id)
        async with self._turn, self._source.acquire() as conn:
            await self._begin(conn, stream, last)
            self._streams.append(stream)
        if self._is_closed:
            stream.close()
        try:
            yield stream
        finally:
            self._streams.remove(stream)

    def close(self) -> None:
        """End all streams, also those that are being opened: their readers get what waits, and
        then nothing.
        """
        self._is_closed = True
        for stream in self._streams:
            stream.close()

    def _forget(self) -> None:
        self._position = None
        self._marks = Marks()
        self._told.clear()

    async def _begin(self, conn: Connection, stream: Stream, last: Position | None) -> None:
        async with transaction(conn):
            horizon = await feed.horizon(conn)
            if self._position is None:
                self._position = self._marks.position(horizon)
            if last is None:
                return
            here = position_text(self._position)
            if last.xid > horizon.next or last.since < horizon.now - REACH:
                stream.offer([lagged(here, horizon.now, Counter())], now=horizon.now)
                return
            seen = await feed.look(
                conn, tenant_ids=[stream.tenant_id], position=last, most=MOST_REPLAYED
            )
        told, missed = cut(seen, most=MOST_REPLAYED)
        ids = (position_text(last), here)
        stream.offer(events_of(told, missed, ids=ids, now=horizon.now), now=horizon.now)
        stream.repeats = frozenset(map(key_of, told))

    async def _tell(self, conn: Connection) -> None:
        tenants = sorted({stream.tenant_id for stream in self._streams})
        async with transaction(conn):
            horizon = await feed.horizon(conn)
            old = self._position or self._marks.position(horizon)
            # Those that were told come again until their transactions are past; they must not crowd
            # out the new ones.
            most = MOST + len(self._told)
            seen = await feed.look(conn, tenant_ids=tenants, position=old, most=most)
        self._position = new = self._marks.position(horizon)
        ids = (position_text(old), position_text(new))
        for tenant_id in tenants:
            mine = [row for row in seen if row.tenant_id == tenant_id]
            self._hand_out(tenant_id, mine, ids=ids, now=horizon.now)
        self._told = {key for key in self._told if key[0] >= new.xid}
        await self._sum_up(conn, horizon.now)

    def _hand_out(
        self, tenant_id: int, seen: Sequence[Seen], *, ids: tuple[str, str], now: datetime
    ) -> None:
        told, missed = cut(seen, most=MOST, known=self._told)
        self._told.update(map(key_of, told))
        events = events_of(told, missed, ids=ids, now=now)
        for stream in self._streams:
            if stream.tenant_id != tenant_id:
                continue
            if stream.repeats:
                fresh = [row for row in told if key_of(row) not in stream.repeats]
                stream.repeats = frozenset()
                stream.offer(events_of(fresh, missed, ids=ids, now=now), now=now)
            elif events:
                stream.offer(events, now=now)
            elif stream.is_quiet(now):
                stream.offer([FeedEvent(id=ids[1], type="quiet", at=now)], now=now)

    async def _sum_up(self, conn: Connection, now: datetime) -> None:
        """Keep what a look reads small. At first there may be much; later the ends are enough."""
        last = self._summed_up_at
        if last is not None and now - last < _SUM_UP_EVERY:
            return
        self._summed_up_at = now
        # Somebody tidies the table, and the next time will do; or it is not ours, and autovacuum
        # does the same, later.
        with suppress(StoreUnavailable, StoreRefused):
            await feed.summarize(conn, most=_SUM_UP_ALL if last is None else _SUM_UP)


def cut(
    seen: Iterable[Seen], *, most: int, known: Iterable[Key] = ()
) -> tuple[list[Seen], Counter[str]]:
    """The oldest rows that are not known, and how many more there are of each type."""
    rows = list(seen)
    told = set(known)
    fresh = sorted(
        (row for row in rows if key_of(row) not in told), key=lambda row: (row.at, row.what)
    )
    missed = Counter(row.what for row in fresh[most:])
    totals = {row.what: row.total for row in rows}
    returned = Counter(row.what for row in rows)
    for what, total in totals.items():
        missed[what] += max(0, total - returned[what])
    return fresh[:most], +missed


def events_of(
    told: Sequence[Seen], missed: Counter[str], *, ids: tuple[str, str], now: datetime
) -> list[FeedEvent]:
    """Rows as events. All but the last have the id from before them: whoever was cut off in between
    gets all of them again, rather than some of them never.
    """
    before, after = ids
    events = [event_of(row, before) for row in told]
    if missed:
        events.append(lagged(after, now, missed))
    elif events:
        events[-1] = replace(events[-1], id=after)
    return events


def event_of(row: Seen, id_: str) -> FeedEvent:
    return FeedEvent(
        id=id_,
        type=row.what,
        at=row.at,
        job_id=row.job_id,
        job_name=row.name,
        run_id=row.run_id,
        state=row.state,
        attempt=row.attempt,
        progress=row.progress,
        message=row.message,
        graph_run_id=row.graph_run_id,
    )


def lagged(id_: str, at: datetime, missed: Counter[str]) -> FeedEvent:
    return FeedEvent(id=id_, type="lagged", at=at, missed=tuple(sorted(missed.items())))


def key_of(row: Seen) -> Key:
    """What makes a row the same: its transaction, its type and whose it is."""
    return row.xid, row.what, row.run_id or row.job_id


def position_text(position: Position) -> str:
    """A position as an event's id; its time is cut to milliseconds, downwards."""
    return f"{position.xid}-{(position.since - EPOCH) // timedelta(milliseconds=1)}"


def parse_position(text: str) -> Position:
    xid, _, since = text.partition("-")
    if not (is_number(xid) and is_number(since)):
        raise InvalidInput("Last-Event-ID", text, "the id of an event of this feed")
    try:
        return Position(int(xid), EPOCH + timedelta(milliseconds=int(since)))
    except OverflowError:
        raise InvalidInput("Last-Event-ID", text, "the id of an event of this feed") from None


def is_number(text: str) -> bool:
    """Digits that fit into PostgreSQL's bigint."""
    return text.isascii() and text.isdigit() and len(text) <= 18
