"""Computes the progress of a map and the ids of its members.

A map is a step with many members. Its counters change under the lock of its graph run; this module
interprets them. engine/graphs/map_steps.py creates the members.

The members of a step have consecutive ids: the time of the graph run, 50 bits that are a hash of
(graph run, step, round), and 24 bits of member index. So a page of members is a range of the
primary key, in order, without another index; and no member can be created twice.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.ids import build_id, read_id_time

MEMBERS_MAX: Final = 1_000_000
# Maximum number of unfinished members; a map may set a smaller one.
UNFINISHED_MEMBERS_MAX: Final = 5_000
MEMBER_BATCH_MAX: Final = 1_000
# Maximum number of results that a later step can read as one list.
LISTED_RESULTS_MAX: Final = 1_000
_MEMBER_BITS: Final = 24
_MEMBER_DIGITS: Final = _MEMBER_BITS // 4


@dataclass(frozen=True, slots=True, kw_only=True)
class MapCounters:
    """The counters of a map. `total` is None until the source has ended. `made` counts all members
    that became runs; `again` of them failed before and wait for a retry.
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
    def live(self) -> int:
        return self.made - self.again - self.ended

    @property
    def is_complete(self) -> bool:
        """Whether all members were created and have ended."""
        return self.made == self.total and self.live == 0 and self.again == 0

    def count_free(self, window: int) -> int:
        """Return how many more of the known members may be created now."""
        return max(0, min(window - self.live, self.again + self.handed - self.made))


def describe_failure(count: MapCounters, error: str | None) -> str:
    """Describe why a map failed: the number of failed members, and the first error."""
    bad = count.failed + count.cancelled
    if count.total is None:
        members = f"{bad:,} {'member' if bad == 1 else 'members'}"
    else:
        members = f"{bad:,} of {count.total:,} {'member' if count.total == 1 else 'members'}"
    verb = "failed" if count.failed else "was cancelled" if bad == 1 else "were cancelled"
    first = "" if error is None else f"; first error: {error}"
    return f"{members} {verb}{first}"


def describe_progress(count: MapCounters) -> str:
    """Describe the progress of a map, such as 612,000 of 1,000,000."""
    if count.total is None:
        return f"{count.ended:,} of {count.handed:,} so far"
    return f"{count.ended:,} of {count.total:,}"


class MapIdentity(NamedTuple):
    """Identifies a map: the graph run, the index of the step, and the round in which it began."""

    run_id: UUID
    step: int
    base: int = 0

    @property
    def prefix(self) -> str:
        """The common prefix of the ids of all members, in hexadecimal digits."""
        name = self.run_id.bytes + self.step.to_bytes(4, "big") + self.base.to_bytes(2, "big")
        tail = blake2b(name, digest_size=10, person=b"rota member").digest()
        return build_id(read_id_time(self.run_id), tail).hex[:-_MEMBER_DIGITS]

    def derive_member_id(self, member: int) -> UUID:
        """Return the id of a member's run; a retry has the same id."""
        return UUID(f"{self.prefix}{member:0{_MEMBER_DIGITS}x}")

    @property
    def last_id(self) -> UUID:
        """The upper bound of the ids of members."""
        return self.derive_member_id((1 << _MEMBER_BITS) - 1)

    def derive_id_before(self, member: int) -> UUID:
        """Return an id between this member's id and the ids of the members before it."""
        return UUID(int=self.derive_member_id(member).int - 1)
