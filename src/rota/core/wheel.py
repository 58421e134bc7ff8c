"""A hierarchical timing wheel: what comes due when, in constant time. Room: core.

Time is a whole number of any unit. A level has 64 slots; a slot of the lowest level is one unit
wide, and one of each further level as wide as the whole level below. An item lies at the level of
the highest group of six bits in which its time differs from now. So everything at a lower level
comes before everything at a higher one, within a level the slots are in order, and the next slot is
the lowest bit of the lowest level in use: no heap, no comparing, and thousands at one instant are
one list. When time reaches a slot of a higher level, its items move down, once a level at most.

The wheel asks no clock: time moves when `take` is told so. Levels are added as they are needed.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

T = TypeVar("T")

BITS: Final = 6
SLOTS: Final = 1 << BITS
MASK: Final = SLOTS - 1


class Level(Generic[T]):
    """64 slots, and a number whose bits say which of them hold something."""

    __slots__ = ("slots", "used")

    def __init__(self) -> None:
        self.slots: list[list[tuple[int, T]]] = [[] for _ in range(SLOTS)]
        self.used = 0


class Wheel(Generic[T]):
    """Items by their time. Equal times keep the order of adding; an item that is late when it is
    added comes after those that were due before.
    """

    __slots__ = ("_levels", "_now", "_ripe")

    def __init__(self, now: int) -> None:
        self._now = now
        self._levels: list[Level[T]] = []
        self._ripe: deque[T] = deque()

    def __len__(self) -> int:
        """How many items it holds. For tests and figures: it counts them."""
        lying = sum(len(slot) for level in self._levels for slot in level.slots)
        return lying + len(self._ripe)

    def add(self, at: int, item: T) -> None:
        """Let `take` return the item once it is told that it is `at`."""
        now = self._now
        if at <= now:
            self._ripe.append(item)
            return
        place = ((at ^ now).bit_length() - 1) // BITS
        while len(self._levels) <= place:
            self._levels.append(Level())
        level = self._levels[place]
        slot = at >> place * BITS & MASK
        level.slots[slot].append((at, item))
        level.used |= 1 << slot

    def take(self, now: int, most: int) -> list[T]:
        """Take out at most `most` of the items due at `now` or before, soonest first."""
        self._move_to(now)
        ripe = self._ripe
        return [ripe.popleft() for _ in range(min(most, len(ripe)))]

    def next_at(self) -> int | None:
        """When to look next: now if something is due, else a time before which nothing is."""
        if self._ripe:
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
        # No slot begins between the old and the new time, so every item stays where it belongs.
        self._now = max(self._now, now)

    def _occupied(self) -> Iterator[tuple[Level[T], int, int]]:
        """The first slot in use of each level, with the time at which it begins."""
        for place, level in enumerate(self._levels):
            if level.used:
                slot = (level.used & -level.used).bit_length() - 1
                above = self._now >> (place + 1) * BITS
                yield level, slot, (above << BITS | slot) << place * BITS
