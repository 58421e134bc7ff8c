"""Turns two listings into a plan: files to copy, to compare and to delete. Accesses no files.

Both listings are read in one order, in which the files of a folder directly follow the position of
a file with the folder's name. So a file that blocks a folder, or a folder that blocks a file, is a
neighbour in the order, and the planner needs no memory of earlier files.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from rota.executors.sync.spool import Sorter, Spool
from rota.executors.sync.tree import Entry


class Step(NamedTuple):
    """A file to copy; `is_check` if it may be unchanged, which requires a comparison."""

    path: str
    size: int
    is_check: bool


class Removal(NamedTuple):
    path: str
    size: int


def place_of(entry: Entry) -> bytes:
    """Return the sort key of a listing. Names contain no NUL, so `a/b` directly follows `a`."""
    return os.fsencode(entry.path).replace(b"/", b"\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How two files are compared.

    `grain` is the coarser time resolution of the two trees. `nests` means that the target cannot
    have a file and a folder of the same name.
    """

    mirror: bool
    checksum: bool
    nests: bool
    grain: int


@dataclass(slots=True)
class Plan:
    """The work of an attempt, in this order: `steps`, `obstacles`, `late`, `removals`.

    Obstacles are files of the target that block the late copies. Only a mirror deletes, so only a
    mirror has the last three.
    """

    steps: Spool[Step] = field(default_factory=lambda: Spool(Step))
    obstacles: Spool[Removal] = field(default_factory=lambda: Spool(Removal))
    late: Spool[Step] = field(default_factory=lambda: Spool(Step))
    removals: Spool[Removal] = field(default_factory=lambda: Spool(Removal))
    same: int = 0
    bytes: int = 0
    sources: int = 0
    targets: int = 0

    @property
    def files(self) -> int:
        return self.steps.count + self.late.count

    @property
    def deletions(self) -> int:
        return self.obstacles.count + self.removals.count

    def close(self) -> None:
        for spool in (self.steps, self.obstacles, self.late, self.removals):
            spool.close()


def new_listing() -> Sorter[Entry]:
    return Sorter(Entry, place_of)


@dataclass(slots=True)
class Side:
    """The position in one listing: its last file and the next."""

    last: str = ""
    ahead: Entry | None = None
    count: int = 0

    def see(self, entry: Entry | None, ahead: Entry | None) -> None:
        self.ahead = ahead
        if entry is not None:
            self.last = entry.path
            self.count += 1


class Planner:
    """Builds a plan in batches: it runs in a thread and must be able to stop."""

    def __init__(self, comparison: Comparison) -> None:
        self.plan = Plan()
        self._comparison = comparison

    def steps(self, sources: Sorter[Entry], targets: Sorter[Entry]) -> Iterator[None]:
        """Build the plan; yield after every 1,000 files."""
        here, there = Side(), Side()
        for number, pair in enumerate(paired(distinct(iter(sources)), distinct(iter(targets)))):
            here.see(pair.source, pair.next_source)
            there.see(pair.target, pair.next_target)
            if pair.source is not None:
                is_blocked = self._blocks(pair.source, there)
                self._add_source(pair.source, pair.target, is_blocked=is_blocked)
            elif pair.target is not None and self._comparison.mirror:
                removal = Removal(pair.target.path, pair.target.size)
                blocks = self._blocks(pair.target, here)
                (self.plan.obstacles if blocks else self.plan.removals).add(removal)
            if number % 1000 == 999:
                yield
        self.plan.sources, self.plan.targets = here.count, there.count

    def _blocks(self, entry: Entry, other: "Side") -> bool:
        """Return whether the other side has a folder of this name, or a file as its parent."""
        if not (self._comparison.nests and self._comparison.mirror):
            return False
        below = other.ahead is not None and other.ahead.path.startswith(f"{entry.path}/")
        return below or (bool(other.last) and entry.path.startswith(f"{other.last}/"))

    def _add_source(self, source: Entry, target: Entry | None, *, is_blocked: bool) -> None:
        is_check = False
        if target is not None and target.size == source.size:
            if self._comparison.checksum or source.mtime is None or target.mtime is None:
                is_check = True
            elif same_time(source.mtime, target.mtime, self._comparison.grain):
                self.plan.same += 1
                return
        step = Step(source.path, source.size, is_check)
        (self.plan.late if is_blocked else self.plan.steps).add(step)
        self.plan.bytes += source.size


def same_time(one: int, other: int, grain: int) -> bool:
    return one // grain == other // grain


def distinct(entries: Iterator[Entry]) -> Iterator[Entry]:
    """Drop duplicates: a folder that changes while it is listed may name a file twice."""
    last: str | None = None
    for entry in entries:
        if entry.path != last:
            yield entry
        last = entry.path


class Pair(NamedTuple):
    """The entries of one path in both listings, and the next entry of each."""

    source: Entry | None
    target: Entry | None
    next_source: Entry | None
    next_target: Entry | None


def paired(sources: Iterator[Entry], targets: Iterator[Entry]) -> Iterator[Pair]:
    source, target = next(sources, None), next(targets, None)
    here, there = key_of(source), key_of(target)
    while source is not None or target is not None:
        is_source, is_target = here <= there, there <= here
        pair = source if is_source else None, target if is_target else None
        if is_source:
            source = next(sources, None)
            here = key_of(source)
        if is_target:
            target = next(targets, None)
            there = key_of(target)
        yield Pair(*pair, source, target)


def key_of(entry: Entry | None) -> tuple[bool, bytes]:
    """Return the sort key of an entry; the end of a listing (None) sorts last."""
    return (True, b"") if entry is None else (False, place_of(entry))
