"""Follows the output of runs, with one query per run for all its followers.

Nothing polls in the background. A follower that has seen everything waits until the next look is
due; the first follower to wake looks, and the others share the result. A follower that is behind
(it began earlier in the output, or reads slowly) reads its missing lines itself.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Final
from uuid import UUID

from rota.core.clock import ClockSource
from rota.core.states import FINAL_STATES
from rota.store import run_views
from rota.store.driver import Connection, ConnectionSource
from rota.store.logs import LOG_START, StoredLogLine
from rota.store.row_level_security import tenant_scope
from rota.store.run_views import RunRow

LogPosition = tuple[int, int]

LOOK_INTERVAL_S: Final = 0.25
# A run without output is looked at less and less often, down to this interval.
QUIET_LOOK_INTERVAL_S: Final = 1.0
QUIET_LOOK_FACTOR: Final = 1.25
LINES_PER_LOOK_MAX: Final = 500
# Concurrent looks, so that followers leave most connections to requests.
LOOKS_AT_ONCE_MAX: Final = 2
# Workers store output before the ending; output of an earlier batch may arrive a moment later.
OUTPUT_SETTLE_S: Final = 0.3
OLD_RUN_AGE: Final = timedelta(minutes=1)


class LogTail:
    """The end of one run's output, shared by its followers. The last look read `lines` after
    `previous_position`, up to `position`.
    """

    def __init__(self, position: LogPosition) -> None:
        self.followers = 0
        self.position = position
        self.previous_position = position
        self.lines: Sequence[StoredLogLine] = ()
        self.is_over = False
        self.next_look_at = 0.0
        self.lock = asyncio.Lock()
        self._ended_at: float | None = None
        self._interval_s = LOOK_INTERVAL_S

    def record_look(
        self, row: RunRow | None, lines: Sequence[StoredLogLine], *, clock: ClockSource
    ) -> None:
        """Store the result of a look."""
        now = clock.monotonic()
        self.previous_position, self.lines = self.position, lines
        if lines:
            self.position = get_position(lines[-1])
            self._interval_s = LOOK_INTERVAL_S
        else:
            self._interval_s = min(QUIET_LOOK_INTERVAL_S, self._interval_s * QUIET_LOOK_FACTOR)
            has_settled = self._ended_at is not None and now - self._ended_at >= OUTPUT_SETTLE_S
            self.is_over = row is None or has_settled
        if row is None or row.state not in FINAL_STATES:
            self._ended_at = None
        elif self._ended_at is None:
            self._interval_s = LOOK_INTERVAL_S
            is_old = row.finished_at is None or clock.now() - row.finished_at > OLD_RUN_AGE
            self._ended_at = now - (OUTPUT_SETTLE_S if is_old else 0.0)
        is_behind = len(lines) >= LINES_PER_LOOK_MAX
        self.next_look_at = now if is_behind else now + self._interval_s


class LogTails:
    """The runs that are followed in this process."""

    def __init__(self, source: ConnectionSource, *, clock: ClockSource) -> None:
        self.looks = 0
        self.is_closed = False
        self._source = source
        self._clock = clock
        self._tails: dict[tuple[int, UUID], LogTail] = {}
        self._looking = asyncio.Semaphore(LOOKS_AT_ONCE_MAX)

    @contextmanager
    def follow(
        self, tenant_id: int, run_id: UUID, *, after: LogPosition | None = None
    ) -> Iterator["LogFollower"]:
        """Follow a run's output from the line after `after`. Default: from the first line."""
        place = after or LOG_START
        tail = self._tails.get((tenant_id, run_id))
        if tail is None or tail.is_over:
            tail = self._tails[tenant_id, run_id] = LogTail(place)
        tail.followers += 1
        try:
            yield LogFollower(self, tail, place, tenant_id=tenant_id, run_id=run_id)
        finally:
            tail.followers -= 1
            if tail.followers == 0 and self._tails.get((tenant_id, run_id)) is tail:
                del self._tails[tenant_id, run_id]

    def close(self) -> None:
        """End all followers after their next look, because this process is stopping."""
        self.is_closed = True

    async def look_at_run(self, tail: LogTail, tenant_id: int, run_id: UUID) -> None:
        """Wait until the next look at a run is due, and look unless another follower did."""
        await self._clock.sleep(max(0.0, tail.next_look_at - self._clock.monotonic()))
        async with tail.lock:
            if self._clock.monotonic() < tail.next_look_at:
                return
            async with self._looking, self._source.acquire() as conn, tenant_scope(conn, tenant_id):
                row = await run_views.get_run(conn, tenant_id=tenant_id, run_id=run_id)
                lines = await read_lines(conn, tenant_id, run_id, tail.position)
            self.looks += 1
            tail.record_look(row, lines, clock=self._clock)

    async def read_missing(
        self, tenant_id: int, run_id: UUID, after: LogPosition
    ) -> Sequence[StoredLogLine]:
        """Read the lines that a follower is missing."""
        async with self._looking, self._source.acquire() as conn, tenant_scope(conn, tenant_id):
            return await read_lines(conn, tenant_id, run_id, after)


class LogFollower:
    """One follower of a run."""

    def __init__(
        self, tails: LogTails, tail: LogTail, position: LogPosition, *, tenant_id: int, run_id: UUID
    ) -> None:
        self._tails = tails
        self._tail = tail
        self._place = position
        self._tenant_id = tenant_id
        self._run_id = run_id

    @property
    def is_cut_off(self) -> bool:
        """Whether no more lines will be returned, although more may exist."""
        return self._tails.is_closed

    @property
    def is_over(self) -> bool:
        """Whether the run has ended and all its output was returned."""
        return self._tail.is_over and self._place >= self._tail.position

    async def next_lines(self) -> Sequence[StoredLogLine]:
        """Wait until the next look and return the new lines, if any."""
        tail = self._tail
        if self._place < tail.position:
            return await self._catch_up()
        if tail.is_over:
            return ()
        await self._tails.look_at_run(tail, self._tenant_id, self._run_id)
        if self._place < tail.previous_position:
            return ()
        return self._take([line for line in tail.lines if get_position(line) > self._place])

    async def _catch_up(self) -> Sequence[StoredLogLine]:
        lines = await self._tails.read_missing(self._tenant_id, self._run_id, self._place)
        self._take(lines)
        if len(lines) < LINES_PER_LOOK_MAX and self._place < self._tail.position:
            # Another follower started after a line that does not exist.
            self._tail.position = self._place
        return lines

    def _take(self, lines: Sequence[StoredLogLine]) -> Sequence[StoredLogLine]:
        if lines:
            self._place = get_position(lines[-1])
        return lines


def get_position(line: StoredLogLine) -> LogPosition:
    return line.attempt, line.seq


async def read_lines(
    conn: Connection, tenant_id: int, run_id: UUID, after: LogPosition
) -> Sequence[StoredLogLine]:
    return await run_views.read_log_lines(
        conn, tenant_id=tenant_id, run_id=run_id, after=after, limit=LINES_PER_LOOK_MAX
    )
