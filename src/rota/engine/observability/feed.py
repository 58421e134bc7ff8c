"""Streams events of a tenant's runs and jobs as they happen.

One poller per process looks twice a second for all open streams, and not at all while none is open
(store/feed.py explains how it finds new events without extra writes). A stream buffers a bounded
number of events: a slow reader receives a count of the events it missed, by type, and continues. An
event's id is a position to resume from; only after a resume may an event be delivered twice.
Changes between two looks are merged: a run that starts and ends within half a second is delivered
once, as ended.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.commit_window import CommitWindow
from rota.core.errors import InvalidInput, StoreRefused, StoreUnavailable
from rota.core.ids import EPOCH
from rota.store import feed
from rota.store.driver import Connection, ConnectionSource
from rota.store.feed import ChangedRow, FeedPosition, TransactionHorizon
from rota.store.transaction import transaction

FEED_POLL_INTERVAL_S: Final = 0.5
# Events per stream and look: 500 per second. Further events are only counted.
EVENTS_PER_LOOK_MAX: Final = 250
# Events buffered for a slow reader.
BUFFERED_EVENTS_MAX: Final = 1_000
# A stream without events receives its position, so that a resume need not go back far.
QUIET_AFTER: Final = timedelta(seconds=15)
# How far back a resume may reach, and how many events it returns at most.
RESUME_REACH: Final = timedelta(minutes=2)
RESUMED_EVENTS_MAX: Final = 500
# How far back a transaction that writes when the first stream is opened may have begun to.
_FIRST_REACH: Final = timedelta(seconds=30)
# How far back rows are read when a long transaction has ended; beyond, streams receive `lagged`.
LATE_READ_MAX: Final = timedelta(minutes=10)
# Delivered events that a look may find again are remembered: while a transaction that writes is
# open, all since it began.
REMEMBERED_EVENTS_MAX: Final = 50_000
_SUM_UP_EVERY: Final = timedelta(seconds=10)
_SUM_UP: Final = 64
_SUM_UP_ALL: Final = 1_000_000

FeedKey = tuple[int, str, UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedItem:
    """One event. For type "lagged", `missed` counts the skipped events by type; empty if the counts
    are unknown. An event of type "quiet" carries only its id.
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
    # Set for the run of a graph step.
    graph_run_id: UUID | None = None
    missed: tuple[tuple[str, int], ...] = ()


class FeedSubscription:
    """The unread events of one reader. Many streams may be open; each has one reader."""

    def __init__(self, tenant_id: int) -> None:
        self.tenant_id = tenant_id
        self._waiting: deque[FeedItem] = deque()
        self._missed: Counter[str] = Counter()
        self._last: FeedItem | None = None
        self._arrived = asyncio.Event()
        self._closed = False
        self._offered_at: datetime | None = None
        # Events that the resume delivered and the next look may find again.
        self.repeats: frozenset[FeedKey] = frozenset()

    async def next(self) -> list[FeedItem]:
        """Wait for events and return all of them. An empty list means that the feed has ended."""
        while not self._waiting and not self._last and not self._closed:
            self._arrived.clear()
            await self._arrived.wait()
        events = list(self._waiting)
        self._waiting.clear()
        if self._last is not None:
            events.append(build_lagged_item(self._last.id, self._last.at, self._missed))
            self._last = None
            self._missed.clear()
        return events

    def offer(self, events: Sequence[FeedItem], *, now: datetime) -> None:
        """Buffer events for the reader, or count them if the buffer is full."""
        if not events:
            return
        self._offered_at = now
        if self._last is None and len(self._waiting) + len(events) <= BUFFERED_EVENTS_MAX:
            self._waiting.extend(events)
        else:
            self._count(events)
        self._arrived.set()

    def is_quiet(self, now: datetime) -> bool:
        """Return whether the reader is up to date and had no event for a while."""
        if self._offered_at is None:
            self._offered_at = now
        return not self._waiting and self._last is None and now - self._offered_at >= QUIET_AFTER

    def close(self) -> None:
        self._closed = True
        self._arrived.set()

    def _count(self, events: Sequence[FeedItem]) -> None:
        for event in events:
            if event.type == "lagged":
                self._missed.update(dict(event.missed))
            else:
                self._missed[event.type] += 1
        self._last = events[-1]


class LiveFeed:
    """The poller and its streams. `tick` is a duty; `open` may be called at any time."""

    def __init__(self, source: ConnectionSource) -> None:
        self._source = source
        self._streams: list[FeedSubscription] = []
        self._position: FeedPosition | None = None
        self._window: CommitWindow | None = None
        # When each delivered event happened.
        self._delivered: dict[FeedKey, datetime] = {}
        self._summed_up_at: datetime | None = None
        # A stream is opened between two looks, never during one, so that it misses and repeats
        # none.
        self._turn = asyncio.Lock()
        self._is_closed = False

    async def tick(self) -> float:
        """Deliver new events to all streams."""
        async with self._turn:
            if not self._streams:
                self._forget()
            else:
                async with self._source.acquire() as conn:
                    await self._deliver(conn)
        return FEED_POLL_INTERVAL_S

    @asynccontextmanager
    async def open(
        self, tenant_id: int, *, after: str | None = None
    ) -> AsyncIterator[FeedSubscription]:
        """Open a stream of all events from now on, or after the event with this id."""
        last = None if after is None else parse_position(after)
        stream = FeedSubscription(tenant_id)
        async with self._turn, self._source.acquire() as conn:
            await self._begin_stream(conn, stream, last)
            self._streams.append(stream)
        if self._is_closed:
            stream.close()
        try:
            yield stream
        finally:
            self._streams.remove(stream)

    def close(self) -> None:
        """End all streams, including those being opened, after their buffered events."""
        self._is_closed = True
        for stream in self._streams:
            stream.close()

    def _forget(self) -> None:
        self._position = None
        self._window = None
        self._delivered.clear()

    async def _begin_stream(
        self, conn: Connection, stream: FeedSubscription, last: FeedPosition | None
    ) -> None:
        async with transaction(conn):
            horizon = await feed.read_horizon(conn)
            if self._position is None:
                self._position = self._begin_window(horizon)
            if last is None:
                return
            here = format_position(self._position)
            if last.xid > horizon.next or last.since < horizon.now - RESUME_REACH:
                stream.offer([build_lagged_item(here, horizon.now, Counter())], now=horizon.now)
                return
            seen = await feed.read_changes(
                conn, tenant_ids=[stream.tenant_id], position=last, limit=RESUMED_EVENTS_MAX
            )
        shown, missed = select_new_rows(seen, limit=RESUMED_EVENTS_MAX)
        ids = (format_position(last), here)
        stream.offer(build_items(shown, missed, ids=ids, now=horizon.now), now=horizon.now)
        stream.repeats = frozenset(map(get_key, shown))

    def _begin_window(self, horizon: TransactionHorizon) -> FeedPosition:
        self._window = window = CommitWindow(horizon.now - _FIRST_REACH)
        window.observe(horizon.now, horizon.writers)
        window.advance()
        return compute_position(horizon, window)

    async def _deliver(self, conn: Connection) -> None:
        tenants = sorted({stream.tenant_id for stream in self._streams})
        async with transaction(conn):
            horizon = await feed.read_horizon(conn)
            old = self._position or self._begin_window(horizon)
            window = self._window or CommitWindow(horizon.now - _FIRST_REACH)
            window.observe(horizon.now, horizon.writers)
            late = window.late
            is_too_late = late is not None and late[0] < horizon.now - LATE_READ_MAX
            since = window.front if late is None or is_too_late else late[0]
            # Delivered events appear again until their transactions are past; they must not crowd
            # out new ones.
            most = EVENTS_PER_LOOK_MAX + len(self._delivered)
            position = FeedPosition(old.xid, since)
            seen = await feed.read_changes(conn, tenant_ids=tenants, position=position, limit=most)
        window.advance()
        window.advance_late(horizon.now)
        self._position = new = compute_position(horizon, window)
        ids = (format_position(old), format_position(new))
        for tenant_id in tenants:
            rows = [row for row in seen if row.tenant_id == tenant_id]
            self._deliver_to_tenant(tenant_id, rows, ids=ids, now=horizon.now)
        if is_too_late:
            for stream in self._streams:
                stream.offer([build_lagged_item(ids[1], horizon.now, Counter())], now=horizon.now)
        self._trim_delivered(new.xid, window.floor)
        await self._summarize_index(conn, horizon.now)

    def _trim_delivered(self, xid: int, floor: datetime) -> None:
        """Forget events that no look can find again, and the oldest beyond the limit."""
        kept = {key: at for key, at in self._delivered.items() if key[0] >= xid and at >= floor}
        excess = len(kept) - REMEMBERED_EVENTS_MAX
        for key in sorted(kept, key=kept.__getitem__)[:excess] if excess > 0 else ():
            del kept[key]
        self._delivered = kept

    def _deliver_to_tenant(
        self, tenant_id: int, seen: Sequence[ChangedRow], *, ids: tuple[str, str], now: datetime
    ) -> None:
        shown, missed = select_new_rows(seen, limit=EVENTS_PER_LOOK_MAX, known=self._delivered)
        self._delivered.update((get_key(row), row.at) for row in shown)
        events = build_items(shown, missed, ids=ids, now=now)
        for stream in self._streams:
            if stream.tenant_id != tenant_id:
                continue
            if stream.repeats:
                fresh = [row for row in shown if get_key(row) not in stream.repeats]
                stream.repeats = frozenset()
                stream.offer(build_items(fresh, missed, ids=ids, now=now), now=now)
            elif events:
                stream.offer(events, now=now)
            elif stream.is_quiet(now):
                stream.offer([FeedItem(id=ids[1], type="quiet", at=now)], now=now)

    async def _summarize_index(self, conn: Connection, now: datetime) -> None:
        """Keep the data that a look reads small: all of it the first time, later the ends."""
        last = self._summed_up_at
        if last is not None and now - last < _SUM_UP_EVERY:
            return
        self._summed_up_at = now
        # Another process summarizes the table, so the next time will do; or this role does not own
        # it, and autovacuum does the same later.
        with suppress(StoreUnavailable, StoreRefused):
            await feed.summarize_ranges(conn, limit=_SUM_UP_ALL if last is None else _SUM_UP)


def compute_position(horizon: TransactionHorizon, window: CommitWindow) -> FeedPosition:
    """Return the position to resume from: with the rows of open writers, unless these would make
    every resume reach too far back.
    """
    is_near = window.floor >= horizon.now - RESUME_REACH / 2
    return FeedPosition(horizon.oldest, window.floor if is_near else window.front)


def select_new_rows(
    seen: Iterable[ChangedRow], *, limit: int, known: Iterable[FeedKey] = ()
) -> tuple[list[ChangedRow], Counter[str]]:
    """Return the oldest unknown rows, and how many more there are of each type."""
    rows = list(seen)
    known_keys = set(known)
    fresh = sorted(
        (row for row in rows if get_key(row) not in known_keys), key=lambda row: (row.at, row.what)
    )
    missed = Counter(row.what for row in fresh[limit:])
    totals = {row.what: row.total for row in rows}
    returned = Counter(row.what for row in rows)
    for type_, total in totals.items():
        missed[type_] += max(0, total - returned[type_])
    return fresh[:limit], +missed


def build_items(
    rows: Sequence[ChangedRow], missed: Counter[str], *, ids: tuple[str, str], now: datetime
) -> list[FeedItem]:
    """Convert rows to events. All but the last carry the id from before them: a reader that is cut
    off in between receives all of them again instead of missing some.
    """
    before, after = ids
    events = [build_item(row, before) for row in rows]
    if missed:
        events.append(build_lagged_item(after, now, missed))
    elif events:
        events[-1] = replace(events[-1], id=after)
    return events


def build_item(row: ChangedRow, id_: str) -> FeedItem:
    return FeedItem(
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


def build_lagged_item(id_: str, at: datetime, missed: Counter[str]) -> FeedItem:
    return FeedItem(id=id_, type="lagged", at=at, missed=tuple(sorted(missed.items())))


def get_key(row: ChangedRow) -> FeedKey:
    """Return the identity of a row: its transaction, its type and its run or job."""
    return row.xid, row.what, row.run_id or row.job_id


def format_position(position: FeedPosition) -> str:
    """Format a position as an event id; its time is rounded down to milliseconds."""
    return f"{position.xid}-{(position.since - EPOCH) // timedelta(milliseconds=1)}"


def parse_position(text: str) -> FeedPosition:
    xid, _, since = text.partition("-")
    if not (is_number(xid) and is_number(since)):
        raise InvalidInput("Last-Event-ID", text, "expected the id of an event of this feed")
    try:
        return FeedPosition(int(xid), EPOCH + timedelta(milliseconds=int(since)))
    except OverflowError:
        raise InvalidInput(
            "Last-Event-ID", text, "expected the id of an event of this feed"
        ) from None


def is_number(text: str) -> bool:
    """Return whether the text is digits that fit into PostgreSQL's bigint."""
    return text.isascii() and text.isdigit() and len(text) <= 18
