"""Server-sent events, and what a follower keeps between two connections. Room: sdk/client.

No sockets here: bytes go in, events come out. A stream remembers the id of the last event, so that
whoever connects again goes on after it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from rota.core.clock import Clock
from rota.sdk.client.generated.shapes import LogLine

T = TypeVar("T")


class FeedEvent(Struct, frozen=True, kw_only=True):
    """Something that happened, as docs/reference/feed.md lists it. `id` is where to go on from.

    The type "lagged" says that something was left out: how much of which type is in `missed`, if
    anybody knows.
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


class Event(NamedTuple):
    id: str
    type: str
    data: bytes


@dataclass(slots=True)
class EventReader:
    """Cuts bytes into events, wherever the network has cut them."""

    _rest: bytes = b""
    _id: str = ""
    _type: str = ""
    _data: list[bytes] = field(default_factory=list)

    def take(self, chunk: bytes) -> Iterator[Event]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in (each.removesuffix(b"\r") for each in lines):
            if line:
                self._read(line)
            elif self._data:
                yield Event(self._id, self._type or "message", b"\n".join(self._data))
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


class Stream(Generic[T]):
    """What one follower has seen. `is_over` says that nothing more will come."""

    def __init__(self, after: str | None) -> None:
        self.after = after
        self.is_over = False
        self._reader = EventReader()

    def begin(self) -> dict[str, str]:
        """A new connection: the headers that say where to go on."""
        self._reader = EventReader()
        return {} if self.after is None else {"Last-Event-ID": self.after}

    def take(self, chunk: bytes) -> Iterator[T]:
        for event in self._reader.take(chunk):
            if event.id:
                self.after = event.id
            yield from self.read(event)

    def read(self, event: Event) -> Iterator[T]:
        raise NotImplementedError

    def cut(self) -> Iterator[T]:
        """The connection broke, and another one will follow: what the reader is told of it."""
        yield from ()


class LogStream(Stream[LogLine]):
    """The output of a run, up to its end."""

    def read(self, event: Event) -> Iterator[LogLine]:
        if event.type == "end":
            self.is_over = True
        elif event.type == "line":
            yield msgspec.json.decode(event.data, type=LogLine)


class FeedStream(Stream[FeedEvent]):
    """What happens; it never ends by itself."""

    def __init__(self, after: str | None, clock: Clock) -> None:
        super().__init__(after)
        self._clock = clock

    def read(self, event: Event) -> Iterator[FeedEvent]:
        if event.type != "quiet":
            found = msgspec.json.decode(event.data, type=FeedEvent)
            yield msgspec.structs.replace(found, id=event.id)

    def cut(self) -> Iterator[FeedEvent]:
        # Before the first event there is no place to go on from: what happens until the next
        # connection is lost, and nobody will know how much it was.
        if self.after is None:
            yield FeedEvent(type="lagged", at=self._clock.now())
