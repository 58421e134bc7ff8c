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
from rota.executors.sync.tree import TreeEntry


class CopyStep(NamedTuple):
    """A file to copy; `is_check` if it may be unchanged, which requires a comparison."""

    path: str
    size: int
    is_check: bool


class DeleteStep(NamedTuple):
    path: str
    size: int


def sort_key(entry: TreeEntry) -> bytes:
    """Return the sort key of a listing. Names contain no NUL, so `a/b` directly follows `a`."""
    return os.fsencode(entry.path).replace(b"/", b"\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncComparison:
    """How two files are compared.

    `grain` is the coarser time resolution of the two trees. `nests` means that the target cannot
    have a file and a folder of the same name.
    """

    mirror: bool
    checksum: bool
    nests: bool
    grain: int


@dataclass(slots=True)
class SyncPlan:
    """The work of an attempt, in this order: `steps`, `obstacles`, `late`, `removals`.

    Obstacles are files of the target that block the late copies. Only a mirror deletes, so only a
    mirror has the last three.
    """

    steps: Spool[CopyStep] = field(default_factory=lambda: Spool(CopyStep))
    obstacles: Spool[DeleteStep] = field(default_factory=lambda: Spool(DeleteStep))
    late: Spool[CopyStep] = field(default_factory=lambda: Spool(CopyStep))
    removals: Spool[DeleteStep] = field(default_factory=lambda: Spool(DeleteStep))
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


def new_listing() -> Sorter[TreeEntry]:
    return Sorter(TreeEntry, sort_key)


@dataclass(slots=True)
class ListingPosition:
    """The position in one listing: its last file and the next."""

    last: str = ""
    ahead: TreeEntry | None = None
    count: int = 0

    def advance(self, entry: TreeEntry | None, ahead: TreeEntry | None) -> None:
        self.ahead = ahead
        if entry is not None:
            self.last = entry.path
            self.count += 1


class SyncPlanner:
    """Builds a plan in batches: it runs in a thread and must be able to stop."""

    def __init__(self, comparison: SyncComparison) -> None:
        self.plan = SyncPlan()
        self._comparison = comparison

    def build_plan(self, sources: Sorter[TreeEntry], targets: Sorter[TreeEntry]) -> Iterator[None]:
        """Build the plan; yield after every 1,000 files."""
        here, there = ListingPosition(), ListingPosition()
        for number, pair in enumerate(
            pair_entries(drop_duplicates(iter(sources)), drop_duplicates(iter(targets)))
        ):
            here.advance(pair.source, pair.next_source)
            there.advance(pair.target, pair.next_target)
            if pair.source is not None:
                is_blocked = self._blocks(pair.source, there)
                self._add_source(pair.source, pair.target, is_blocked=is_blocked)
            elif pair.target is not None and self._comparison.mirror:
                removal = DeleteStep(pair.target.path, pair.target.size)
                blocks = self._blocks(pair.target, here)
                (self.plan.obstacles if blocks else self.plan.removals).add(removal)
            if number % 1000 == 999:
                yield
        self.plan.sources, self.plan.targets = here.count, there.count

    def _blocks(self, entry: TreeEntry, other: "ListingPosition") -> bool:
        """Return whether the other side has a folder of this name, or a file as its parent."""
        if not (self._comparison.nests and self._comparison.mirror):
            return False
        below = other.ahead is not None and other.ahead.path.startswith(f"{entry.path}/")
        return below or (bool(other.last) and entry.path.startswith(f"{other.last}/"))

    def _add_source(self, source: TreeEntry, target: TreeEntry | None, *, is_blocked: bool) -> None:
        is_check = False
        if target is not None and target.size == source.size:
            if self._comparison.checksum or source.mtime is None or target.mtime is None:
                is_check = True
            elif is_same_time(source.mtime, target.mtime, self._comparison.grain):
                self.plan.same += 1
                return
        step = CopyStep(source.path, source.size, is_check)
        (self.plan.late if is_blocked else self.plan.steps).add(step)
        self.plan.bytes += source.size


def is_same_time(one: int, other: int, grain: int) -> bool:
    return one // grain == other // grain


def drop_duplicates(entries: Iterator[TreeEntry]) -> Iterator[TreeEntry]:
    """Drop duplicates: a folder that changes while it is listed may name a file twice."""
    last: str | None = None
    for entry in entries:
        if entry.path != last:
            yield entry
        last = entry.path


class EntryPair(NamedTuple):
    """The entries of one path in both listings, and the next entry of each."""

    source: TreeEntry | None
    target: TreeEntry | None
    next_source: TreeEntry | None
    next_target: TreeEntry | None


def pair_entries(sources: Iterator[TreeEntry], targets: Iterator[TreeEntry]) -> Iterator[EntryPair]:
    source, target = next(sources, None), next(targets, None)
    here, there = merge_key(source), merge_key(target)
    while source is not None or target is not None:
        is_source, is_target = here <= there, there <= here
        pair = source if is_source else None, target if is_target else None
        if is_source:
            source = next(sources, None)
            here = merge_key(source)
        if is_target:
            target = next(targets, None)
            there = merge_key(target)
        yield EntryPair(*pair, source, target)


def merge_key(entry: TreeEntry | None) -> tuple[bool, bytes]:
    """Return the sort key of an entry; the end of a listing (None) sorts last."""
    return (True, b"") if entry is None else (False, sort_key(entry))
