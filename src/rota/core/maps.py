"""How far a map is, when it has failed, and what its members are called. Room: core.

A map is a step with many members. Its counters move under the lock of its graph run; what they
mean is decided here. Making the members is flow/graphs/mapping.py.

The members of a step have ids that follow each other: the time of the graph run, 50 bits that are
a hash of (graph run, step, round), and 24 bits of member. So a page of members is a range of the
primary key, in their order, and no index has to say so; and making a member twice is impossible.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.ids import stamped, time_of

MOST_MEMBERS: Final = 1_000_000
# Members that are made and have not ended; a map may ask for fewer.
WINDOW: Final = 5_000
BATCH: Final = 1_000
# As many results as a later step may read as one list.
MOST_RESULTS: Final = 1_000
_MEMBER_BITS: Final = 24
_MEMBER_DIGITS: Final = _MEMBER_BITS // 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """`total` is None until the source has ended. `made` are all that ever became runs; `again` of
    them ended badly before and wait to go again.
    """

    total: int | None
    handed: int
    made: int
    again: int
    succeeded: int
    failed: int
    cancelled: int

    @property
    def ended(self) -> int:
        return self.succeeded + self.failed + self.cancelled

    @property
    def alive(self) -> int:
        return self.made - self.again - self.ended

    @property
    def is_complete(self) -> bool:
        """All are made, and all have ended."""
        return self.made == self.total and self.alive == 0 and self.again == 0

    def room(self, window: int) -> int:
        """How many more may be made now, of those that are known."""
        return max(0, min(window - self.alive, self.again + self.handed - self.made))


def sentence(count: Count, error: str | None) -> str:
    """Why a map failed: how many did, and the first error."""
    total = "those made so far" if count.total is None else f"{count.total:,}"
    bad = count.failed + count.cancelled
    word = "member" if bad == 1 else "members"
    what = "were cancelled" if not count.failed else "failed"
    if bad == 1:
        what = what.replace("were", "was")
    first = "" if error is None else f"; the first: {error}"
    return f"{bad:,} {word} of {total} {what}{first}"


def progress(count: Count) -> str:
    """How far it is, in words: 612,000 of 1,000,000."""
    if count.total is None:
        return f"{count.ended:,} of {count.handed:,} so far"
    return f"{count.ended:,} of {count.total:,}"


class Which(NamedTuple):
    """A map: the graph run, the number of the step, and the round in which all of it began."""

    run_id: UUID
    step: int
    base: int = 0

    @property
    def prefix(self) -> str:
        """What the ids of all its members begin with, in hexadecimal digits."""
        name = self.run_id.bytes + self.step.to_bytes(4, "big") + self.base.to_bytes(2, "big")
        tail = blake2b(name, digest_size=10, person=b"rota member").digest()
        return stamped(time_of(self.run_id), tail).hex[:-_MEMBER_DIGITS]

    def member_id(self, member: int) -> UUID:
        """The id of a member's run; a retry has the same."""
        return UUID(f"{self.prefix}{member:0{_MEMBER_DIGITS}x}")

    @property
    def last_id(self) -> UUID:
        """No member has a greater one."""
        return self.member_id((1 << _MEMBER_BITS) - 1)

    def id_before(self, member: int) -> UUID:
        """Greater than the ids of all members before this one, and smaller than its own."""
        return UUID(int=self.member_id(member).int - 1)
