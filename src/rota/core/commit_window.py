"""Decides which rows of a table are new, although transactions commit out of order.

A row's time is taken when its statement begins, and the row is visible when its transaction
commits, which may be hours later. A reader that remembers the latest time it saw would miss such a
row. A statement locks its table before it writes and keeps the lock until its transaction ends, so
the reader asks PostgreSQL which transactions hold such a lock (the writers) and then reads:

    a writer that was not there at the last look   has no rows from before the last look
    a writer that has ended                        its rows are visible now: read its times again
    no writer                                      every row up to now is visible

Transactions that hold no such lock do not matter, however long they are open: a row that they write
later has a later time. `CommitWindow` tracks the writers of one reader, `ReadTransactions` tells
rows that were read from those that were not.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

# A statement's time is taken when it begins. It locks its tables, or waits for them, within the
# statement time-out of five seconds.
WRITE_MARGIN: Final = timedelta(seconds=6)
# The times of a writer that is open for longer are read again after its end, instead of each time.
SHORT_WRITER_MAX: Final = timedelta(seconds=10)
# The end of a read that has none.
NO_END: Final = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(slots=True)
class CommitWindow:
    """What to read next. Rows before `front` were read, except those of open writers.

    Each look calls `observe` before it reads. It then reads from `front` on and calls `advance`; it
    reads the times in `late` too, if there are any, and calls `advance_late`.
    """

    front: datetime
    # Times that writers which have ended left behind the front.
    late: tuple[datetime, datetime] | None = None
    _writers: dict[str, datetime] = field(default_factory=dict)
    _looked_at: datetime | None = None

    @property
    def floor(self) -> datetime:
        """Every row before this time was read, or will never be committed."""
        behind = [] if self.late is None else [self.late[0]]
        return min([self.front, *behind, *self._writers.values()])

    def observe(self, now: datetime, writers: Collection[str]) -> None:
        """Note the transactions that hold a write lock. The rows must be read after this."""
        last = self._looked_at
        if last is not None and now < last:
            # The server's clock went back, and new rows have times that were read already.
            self.front = min(self.front, now - WRITE_MARGIN)
            last = now
        since = self.front if last is None else last - WRITE_MARGIN
        for writer in [known for known in self._writers if known not in writers]:
            self._add_late(self._writers.pop(writer))
        for writer in writers:
            self._writers.setdefault(writer, since)
        self._looked_at = now

    def advance(self, until: datetime | None = None) -> None:
        """Note that rows from `front` on were read: all, or those before `until`."""
        now = self._looked_at
        if now is None:
            raise RuntimeError("observe must be called first")
        if until is not None:
            self.front = max(self.front, until)
            return
        short = [
            since
            for since in self._writers.values()
            if since >= now - WRITE_MARGIN - SHORT_WRITER_MAX
        ]
        self.front = max(self.front, min([now - WRITE_MARGIN, *short]))

    def advance_late(self, until: datetime) -> None:
        """Note that the late rows before `until` were read."""
        if self.late is not None:
            self.late = None if until >= self.late[1] else (until, self.late[1])

    def _add_late(self, since: datetime) -> None:
        if since < self.front:
            lower = since if self.late is None else min(since, self.late[0])
            self.late = (lower, self.front)


class ReadSpan(NamedTuple):
    """The times of a transaction's rows that were read: from `since` on and before `until`."""

    since: datetime
    until: datetime
    latest: datetime


@dataclass(slots=True)
class ReadTransactions:
    """The transactions whose rows a reader has read, as long as it may find them again.

    All rows of a transaction become visible at once. A read that finds one row of a transaction
    therefore finds all of its rows in the times that it reads. `limit` bounds the memory: beyond
    it, rows of the oldest transactions may be found twice.
    """

    limit: int
    _spans: dict[int, ReadSpan] = field(default_factory=dict)

    def add(
        self, rows: Iterable[tuple[int, datetime]], *, since: datetime, until: datetime | None
    ) -> None:
        """Note rows, as number of the transaction and time, of a read of these times. Reads follow
        each other: `since` is not after the `until` of the read before.
        """
        end = NO_END if until is None else until
        for number, at in rows:
            known = self._spans.get(number)
            if known is None:
                self._spans[number] = ReadSpan(since, end, at)
            elif at > known.latest or end > known.until:
                self._spans[number] = ReadSpan(
                    known.since, max(end, known.until), max(at, known.latest)
                )

    def forget(self, floor: datetime) -> None:
        """Forget transactions with rows before `floor` only, and the oldest beyond the limit."""
        spans = self._spans
        for number in [known for known, span in spans.items() if span.latest < floor]:
            del spans[number]
        excess = len(spans) - self.limit
        if excess > 0:
            for number in sorted(spans, key=lambda known: spans[known].latest)[:excess]:
                del spans[number]

    def list_sorted(self) -> tuple[list[int], list[datetime], list[datetime]]:
        """Return the numbers in order, and from when to when rows of each were read."""
        numbers = sorted(self._spans)
        spans = [self._spans[number] for number in numbers]
        return numbers, [span.since for span in spans], [span.until for span in spans]

    def __len__(self) -> int:
        return len(self._spans)
