"""Defines what a sink implements: it publishes Rota's events to a broker.

A sink is the mirror of a source (core/source.py). `publish` returns once the broker has stored
every message; Rota then moves the sink's position. After a failure or a crash the same messages are
published again, with the same ids.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkMessage:
    """One event. `key` is equal for all events of one job, whose order a broker may keep by it."""

    id: str
    type: str
    key: str
    body: bytes
    media_type: str


class Sink(Protocol):
    """A connection to a broker. Any method may raise any error; the sink is then closed."""

    async def open(self) -> None: ...

    async def publish(self, messages: Sequence[SinkMessage], /) -> None:
        """Publish messages in order. Return when the broker has stored all of them."""

    async def close(self) -> None: ...
