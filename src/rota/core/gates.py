"""Which waiting runs pass the gates they stand at (E4, E7). Room: core.

A gate is shut by the runs that are held behind it now, by its rate, or, if it keeps an order, to
all but the run whose turn it is. Nothing here counts up and down: the store locks the gates, counts
who is held, and hands both in; so a place cannot leak with a dead worker, and two claimers cannot
take the same one (docs/adr/0010-gates.md). Where the candidates come from is flow/dispatch.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.limits import Limit, Limits, admit
from rota.core.overlap import ONE_BY_ONE, Overlap
from rota.core.priority import rank
from rota.core.submission import filled

IN_ORDER: Final = Limits(in_order=True)


class Candidate(NamedTuple):
    """A run that is ready, and every gate it must pass: its own, its queue's, its tenant's."""

    id: UUID
    tenant: int
    priority: int
    ready_at: datetime
    gates: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A gate that is locked, and how it stands: `held` are the runs behind it now, `head` is the
    run whose turn it is at a gate that keeps an order.
    """

    limits: Limits
    held: int = 0
    paid_until: datetime | None = None
    head: UUID | None = None

    def places(self, *, wanted: int, now: datetime) -> int:
        """How many of `wanted` may pass."""
        free = wanted
        if self.limits.most is not None:
            free = min(free, self.limits.most - self.held)
        if self.limits.in_order:
            free = min(free, 1 - self.held)
        if self.limits.rate is not None and free > 0:
            rate = self.limits.rate
            free = admit(rate, paid_until=self.paid_until, wanted=free, now=now).admitted
        return max(0, free)

    def paid(self, *, passed: int, now: datetime) -> datetime | None:
        """The timestamp to store when so many have passed; None without a rate."""
        if self.limits.rate is None:
            return None
        return admit(
            self.limits.rate, paid_until=self.paid_until, wanted=passed, now=now
        ).paid_until


def choose(
    candidates: Iterable[Candidate],
    standings: Mapping[int, Standing],
    *,
    room: int,
    now: datetime,
) -> list[Candidate]:
    """Who passes, at most `room`. A gate that is not in `standings` is locked by somebody else:
    whoever stands at it has to wait for the next claim.
    """
    left = {gate: each.places(wanted=room, now=now) for gate, each in standings.items()}
    chosen: list[Candidate] = []
    for candidate in in_turns(candidates):
        if len(chosen) == room:
            break
        if not all(left.get(gate, 0) for gate in candidate.gates):
            continue
        if any(
            standings[gate].limits.in_order and standings[gate].head != candidate.id
            for gate in candidate.gates
        ):
            continue
        for gate in candidate.gates:
            left[gate] -= 1
        chosen.append(candidate)
    return chosen


def payments(
    passed: Iterable[tuple[int, ...]], standings: Mapping[int, Standing], *, now: datetime
) -> dict[int, datetime]:
    """What to store for the gates with a rate, given the gates of each run that passed."""
    counts = Counter(gate for gates in passed for gate in gates)
    found = (
        (gate, standings[gate].paid(passed=count, now=now))
        for gate, count in counts.items()
        if gate in standings
    )
    return {gate: paid for gate, paid in found if paid is not None}


def in_turns(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """The tenants one after the other, so that none fills the room alone; the runs of each by
    priority with ageing. A run that is given twice comes once.
    """
    tenants: dict[int, list[Candidate]] = defaultdict(list)
    for candidate in dict.fromkeys(candidates):
        tenants[candidate.tenant].append(candidate)
    for mine in tenants.values():
        mine.sort(key=lambda each: (rank(each.priority, each.ready_at), each.id))
    for turn in zip_longest(*tenants.values()):
        yield from (candidate for candidate in turn if candidate is not None)


def capped(wanted: Sequence[tuple[int, int]], left: Mapping[int, int]) -> list[int]:
    """The shares of lanes, given as (tenant, share) in order, cut so that no tenant gets more over
    all its lanes than is `left` for it. A tenant that is not in `left` has no limit.
    """
    rest = dict(left)
    shares: list[int] = []
    for tenant, share in wanted:
        allowed = min(share, rest.get(tenant, share))
        if tenant in rest:
            rest[tenant] -= allowed
        shares.append(allowed)
    return shares


def keys_of(
    job_id: UUID, overlap: Overlap, limits: Sequence[Limit], payload: object
) -> list[tuple[str, Limits]]:
    """The gates that a run with this payload passes, by their keys. First the one that keeps an
    order, which a claim looks for there; then the narrowest.
    """
    found = [
        (f"key:{filled(limit.key, payload, f'limits[{n}].key')}", limit.limits)
        for n, limit in enumerate(limits)
    ]
    found.sort(key=lambda each: (each[1].most is None, each[1].most or 0))
    own = [(f"job:{job_id}", IN_ORDER)] if overlap in ONE_BY_ONE else []
    return [*own, *found]
