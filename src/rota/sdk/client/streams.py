"""Parses server-sent events and remembers a follower's position between connections.

It has no sockets: bytes go in, events come out. A stream remembers the id of the last event, so
that a new connection continues after it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from rota.core.clock import ClockSource
from rota.sdk.client.generated.schemas import LogLine

T = TypeVar("T")


class FeedEvent(Struct, frozen=True, kw_only=True):
    """An event of the feed; docs/reference/feed.md lists the types. To continue after this event,
    pass its `id` as `after`.

    The type "lagged" means that events were dropped: `missed` counts them by type, if known.
    """

    type: str
    at: datetime
    id: str = ""
    job_id: str | None = None
    job_name: str | None = None
    run_id: str | None = None
    status: str | None = None
    attempt: int | None = None
    progress: float | None = None
    message: str | None = None
    missed: dict[str, int] = {}


class ServerSentEvent(NamedTuple):
    id: str
    type: str
    data: bytes


@dataclass(slots=True)
class ServerSentEventParser:
    """Splits a stream of bytes into events; an event may span several chunks."""

    _rest: bytes = b""
    _id: str = ""
    _type: str = ""
    _data: list[bytes] = field(default_factory=list)

    def feed_bytes(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in (raw.removesuffix(b"\r") for raw in lines):
            if line:
                self._read(line)
            elif self._data:
                yield ServerSentEvent(self._id, self._type or "message", b"\n".join(self._data))
                self._type, self._data = "", []

    def _read(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"id":
                self._id = value.decode(errors="replace")
            case b"event":
                self._type = value.decode(errors="replace")
            case b"data":
                self._data.append(value)
            case _:
                pass


class FollowedStream(Generic[T]):
    """The position of one follower. `is_over` is true once the stream has ended."""

    def __init__(self, after: str | None) -> None:
        self.after = after
        self.is_over = False
        self._reader = ServerSentEventParser()

    def start_connection(self) -> dict[str, str]:
        """Start a new connection and return the headers that tell where to continue."""
        self._reader = ServerSentEventParser()
        return {} if self.after is None else {"Last-Event-ID": self.after}

    def feed_bytes(self, chunk: bytes) -> Iterator[T]:
        for event in self._reader.feed_bytes(chunk):
            if event.id:
                self.after = event.id
            yield from self.read_event(event)

    def read_event(self, event: ServerSentEvent) -> Iterator[T]:
        raise NotImplementedError

    def on_disconnect(self) -> Iterator[T]:
        """Yield what the follower must know about a lost connection; a new one will follow."""
        yield from ()


class LogStream(FollowedStream[LogLine]):
    """The log of a run, up to its end."""

    def read_event(self, event: ServerSentEvent) -> Iterator[LogLine]:
        if event.type == "end":
            self.is_over = True
        elif event.type == "line":
            yield msgspec.json.decode(event.data, type=LogLine)


class FeedStream(FollowedStream[FeedEvent]):
    """The feed of all events; it has no end."""

    def __init__(self, after: str | None, clock: ClockSource) -> None:
        super().__init__(after)
        self._clock = clock

    def read_event(self, event: ServerSentEvent) -> Iterator[FeedEvent]:
        if event.type != "quiet":
            feed_event = msgspec.json.decode(event.data, type=FeedEvent)
            yield msgspec.structs.replace(feed_event, id=event.id)

    def on_disconnect(self) -> Iterator[FeedEvent]:
        # Before the first event there is no id to continue from: events until the next connection
        # are lost, and their number is unknown.
        if self.after is None:
            yield FeedEvent(type="lagged", at=self._clock.now())
