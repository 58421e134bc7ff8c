"""Implements a hierarchical timing wheel: finds due items in constant time.

Time is a whole number of any unit. A level has 64 slots; a slot of the lowest level is one unit
wide, a slot of each further level as wide as the whole level below. An item is at the level of the
highest group of six bits in which its time differs from now. So every item at a lower level is due
before every item at a higher one, the slots of a level are in order, and the next slot is the
lowest bit of the lowest level in use. There is no heap and no comparison, and thousands of items at
one instant are one list. When time reaches a slot of a higher level, its items move down, at most
once per level.

The wheel reads no clock: `take` moves the time. Levels are added as they are needed.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

T = TypeVar("T")

LEVEL_BITS: Final = 6
LEVEL_SLOTS: Final = 1 << LEVEL_BITS
SLOT_MASK: Final = LEVEL_SLOTS - 1


class WheelLevel(Generic[T]):
    """64 slots, and a bit set of the slots in use."""

    __slots__ = ("slots", "used")

    def __init__(self) -> None:
        self.slots: list[list[tuple[int, T]]] = [[] for _ in range(LEVEL_SLOTS)]
        self.used = 0


class TimingWheel(Generic[T]):
    """Holds items by their time. Items with equal times keep their order; an item that is already
    due when it is added follows the items that were due before.
    """

    __slots__ = ("_due", "_levels", "_now")

    def __init__(self, now: int) -> None:
        self._now = now
        self._levels: list[WheelLevel[T]] = []
        self._due: deque[T] = deque()

    def __len__(self) -> int:
        """Count the items. Slow: only for tests and metrics."""
        in_slots = sum(len(slot) for level in self._levels for slot in level.slots)
        return in_slots + len(self._due)

    def add(self, at: int, item: T) -> None:
        """Add an item that `take` returns once the time is `at`."""
        now = self._now
        if at <= now:
            self._due.append(item)
            return
        place = ((at ^ now).bit_length() - 1) // LEVEL_BITS
        while len(self._levels) <= place:
            self._levels.append(WheelLevel())
        level = self._levels[place]
        slot = at >> place * LEVEL_BITS & SLOT_MASK
        level.slots[slot].append((at, item))
        level.used |= 1 << slot

    def take(self, now: int, limit: int) -> list[T]:
        """Remove and return at most `most` items that are due at `now`, earliest first."""
        self._move_to(now)
        due = self._due
        return [due.popleft() for _ in range(min(limit, len(due)))]

    def find_next_at(self) -> int | None:
        """Return when to call `take` next: now if an item is due, otherwise a time before which no
        item is due; None if the wheel is empty.
        """
        if self._due:
            return self._now
        return next((start for _, _, start in self._occupied()), None)

    def _move_to(self, now: int) -> None:
        while (first := next(self._occupied(), None)) is not None:
            level, slot, start = first
            if start > now:
                break
            self._now = start
            items, level.slots[slot] = level.slots[slot], []
            level.used ^= 1 << slot
            for at, item in items:
                self.add(at, item)
        # No slot begins between the old and the new time, so every item stays in its slot.
        self._now = max(self._now, now)

    def _occupied(self) -> Iterator[tuple[WheelLevel[T], int, int]]:
        """Yield the first slot in use of each level, with the time at which it begins."""
        for place, level in enumerate(self._levels):
            if level.used:
                slot = (level.used & -level.used).bit_length() - 1
                above = self._now >> (place + 1) * LEVEL_BITS
                yield level, slot, (above << LEVEL_BITS | slot) << place * LEVEL_BITS
