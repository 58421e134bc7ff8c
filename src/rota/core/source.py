"""What a source owes Rota, and what it gets: the contract of everything that brings events.
Room: core.

A source reads one place where events wait: a table, a folder, a topic. Exactly one process of the
fleet reads it at a time. That process calls, on its own event loop:

    open          go on behind `position`: what the last batch that was kept said, or None
    read          the next events, at most `most`; it may wait up to `within` for the first one
    acknowledge   the events up to this position, and the runs that they start, are committed
    lag           how many events are known to wait behind the last position, if it can tell
    close         called once, also after an error, and also if `open` failed

Batches come one at a time: `read` is not called again before the batch is acknowledged. A process
may die between any two of these calls, and then another one opens the source. So a source forgets
nothing before it is acknowledged, and what was read and not acknowledged is read again, with the
same ids: Rota takes an event once per id. Two readers may overlap for a moment, when one was
believed dead; that may cost a second delivery and nothing else.

Whatever it raises closes it; it is opened again after a pause. It must not block the loop: what
blocks belongs in a thread. The public test suite is rota.sdk.testing.source_contract.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, runtime_checkable

# The position lies in a row that is written with every batch.
LONGEST_POSITION: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One thing that a source found. `id` is the same whenever it is read, and no other's.

    `body` is text or bytes of whatever format, or a value as JSON has it. Headers are texts.
    `type`, `subject` and `time` are what the source itself knows of the event, if anything.
    """

    id: str
    body: Any
    headers: Mapping[str, str] | None = None
    type: str | None = None
    subject: str | None = None
    time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What `read` found. A batch without messages may still move the position on.

    `position` is the source's own text, for `acknowledge` and `open`; None says nothing was read.
    """

    messages: Sequence[Message] = ()
    position: str | None = None


@runtime_checkable
class Source(Protocol):
    """See the module. Entry points of the group `rota.sources` name callables that make one from
    its options, and raise `InvalidInput` for options that are wrong.
    """

    async def open(self, position: str | None) -> None:
        """Connect, and go on behind this position."""

    async def read(self, *, most: int, within: timedelta) -> Batch:
        """The next events; an empty batch when none came in time."""

    async def acknowledge(self, position: str) -> None:
        """What was read up to this position is committed, and need not be kept."""

    async def lag(self) -> int | None:
        """How many events wait, as far as it knows."""

    async def close(self) -> None:
        """Let go of everything."""


NOTHING: Final = Batch()
