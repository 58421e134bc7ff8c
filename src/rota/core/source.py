"""Defines the interface of sources, the plug-ins that read events.

A source reads events from one place: a table, a folder, a topic. One process of the cluster reads
it at a time and calls, on its own event loop:

    open          continue after `position`, the position of the last committed batch, or None
    read          return the next events, at most `limit`; may wait up to `within` for the first
    acknowledge   the events up to this position, and the runs that they start, are committed
    lag           return how many events wait after the last position, if known
    close         called once, also after an error, and also if `open` failed

Batches are processed one at a time: `read` is not called again before the batch is acknowledged. A
process may die between any two of these calls; then another one opens the source. So a source must
not forget an event before it is acknowledged, and must read unacknowledged events again with the
same ids: Rota accepts an event once per id. Two readers may overlap for a moment if one was
believed dead; this may deliver an event twice, and has no other effect.

After an exception the source is closed, and opened again after a pause. It must not block the loop:
blocking work belongs in a thread. The public test suite is rota.sdk.testing.source_contract.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, runtime_checkable

# The position is stored in a row that is written with every batch.
POSITION_BYTES_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message that a source read. `id` is unique, and the same whenever the message is read.

    `body` is text or bytes of any format, or a JSON value. Headers are strings. `type`, `subject`
    and `time` are set if the source knows them.
    """

    id: str
    body: Any
    headers: Mapping[str, str] | None = None
    type: str | None = None
    subject: str | None = None
    time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The messages that `read` returned. A batch without messages may still move the position.

    `position` is text of the source's own, for `acknowledge` and `open`; None if nothing was read.
    """

    messages: Sequence[Message] = ()
    position: str | None = None


@runtime_checkable
class Source(Protocol):
    """See the module. Entry points of the group `rota.sources` name factories that create a source
    from its options, and raise `InvalidInput` for wrong options.
    """

    async def open(self, position: str | None) -> None:
        """Connect, and continue after this position."""

    async def read(self, *, limit: int, within: timedelta) -> Batch:
        """Return the next events; an empty batch if none arrived in time."""

    async def acknowledge(self, position: str) -> None:
        """Forget the events up to this position: they are committed."""

    async def lag(self) -> int | None:
        """Return how many events wait; None if unknown."""

    async def close(self) -> None:
        """Release all resources."""


EMPTY_BATCH: Final = Batch()
