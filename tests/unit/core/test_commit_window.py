"""A window that follows the writers of a table misses no row, in whatever order they commit."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from rota.core.commit_window import NO_END, WRITE_MARGIN, CommitWindow, ReadTransactions

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def test_without_writers_the_front_follows_the_time() -> None:
    window = CommitWindow(NOON)
    window.observe(at(60), [])
    window.advance()

    assert window.front == window.floor == at(60) - WRITE_MARGIN


def test_a_short_writer_holds_the_front_and_a_long_one_the_floor() -> None:
    window = CommitWindow(NOON)
    for second in range(60):
        window.observe(at(second), ["a"] if second >= 10 else [])
        window.advance()
        if second == 15:
            assert window.front == at(9) - WRITE_MARGIN
    assert window.front == at(59) - WRITE_MARGIN
    assert window.floor == at(9) - WRITE_MARGIN
    window.observe(at(60), [])

    assert window.late == (at(9) - WRITE_MARGIN, at(59) - WRITE_MARGIN)
    window.advance_late(at(30))
    assert window.late == (at(30), at(59) - WRITE_MARGIN)
    window.advance_late(at(59))
    assert window.late is None


def test_a_clock_that_goes_back_moves_the_front_back() -> None:
    window = CommitWindow(NOON)
    window.observe(at(100), [])
    window.advance()
    window.observe(at(50), [])

    assert window.front == at(50) - WRITE_MARGIN


def test_transactions_are_forgotten_with_their_rows_and_beyond_the_limit() -> None:
    read = ReadTransactions(3)
    read.add([(7, at(1)), (5, at(2))], since=NOON, until=at(5))
    read.add([(7, at(9))], since=at(5), until=None)
    assert read.list_sorted() == ([5, 7], [NOON, NOON], [at(5), NO_END])
    read.forget(at(3))
    assert read.list_sorted() == ([7], [NOON], [NO_END])
    read.add([(number, at(10 + number)) for number in range(1, 6)], since=at(4), until=None)
    read.forget(at(0))

    assert read.list_sorted()[0] == [3, 4, 5]


@dataclass
class Row:
    number: int
    time: datetime
    committed: datetime


class Table:
    """A table as PostgreSQL shows it: rows are visible from their commit on."""

    def __init__(self, rng: Random) -> None:
        self.rows: list[Row] = []
        self.spans: list[tuple[str, datetime, datetime]] = []
        for number in range(60):
            began = rng.uniform(0, 200)
            lasts = rng.choice([0.1, 0.1, 2, 30, 120])
            times = sorted(began + rng.uniform(0, lasts) for _ in range(rng.randint(1, 4)))
            ended = at(began + lasts)
            # A statement takes its time before its lock.
            locked = at(times[0] + rng.uniform(0, 5))
            self.rows += [Row(number, at(time), max(ended, locked)) for time in times]
            self.spans.append((str(number), locked, max(ended, locked)))

    def list_writers(self, now: datetime) -> list[str]:
        return [name for name, locked, ended in self.spans if locked <= now < ended]

    def read(
        self, now: datetime, read: ReadTransactions, *, since: datetime, until: datetime | None
    ) -> list[Row]:
        known = {number: (low, high) for number, low, high in zip(*read.list_sorted(), strict=True)}
        return [
            row
            for row in self.rows
            if row.committed <= now
            and row.time >= since
            and (until is None or row.time < until)
            and not (
                row.number in known and known[row.number][0] <= row.time < known[row.number][1]
            )
        ]


@pytest.mark.parametrize("seed", range(200))
def test_every_row_is_read_whatever_the_order_of_commits(seed: int) -> None:
    rng = Random(seed)
    table = Table(rng)
    window, read = CommitWindow(NOON), ReadTransactions(1_000)
    found: list[int] = []
    second, is_behind = 0.0, False
    while second < 500 or is_behind or window.late is not None:
        # A pause of the reader now and then, and a restart that knows only the floor.
        second += rng.choice([0.5, 0.5, 0.5, 40]) if second < 500 else 0.5
        now = at(second)
        if seed % 2 and rng.random() < 0.02 and second < 500:
            window, read = CommitWindow(window.floor), ReadTransactions(1_000)
        window.observe(now, table.list_writers(now))
        if window.late is not None:
            until = min(window.late[0] + timedelta(seconds=20), window.late[1])
            found += [id(row) for row in table.read(now, read, since=window.late[0], until=until)]
            window.advance_late(until)
        end: datetime | None = window.front + timedelta(seconds=rng.choice([1, 10, 60]))
        if end is not None and end >= now - WRITE_MARGIN:
            end = None
        since, is_behind = window.front, end is not None
        rows = table.read(now, read, since=since, until=end)
        read.add(((row.number, row.time) for row in rows), since=since, until=end)
        found += [id(row) for row in rows]
        window.advance(end)
        read.forget(window.floor)

    assert {id(row) for row in table.rows} == set(found)
