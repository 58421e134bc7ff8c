"""Decides which waiting runs pass the gates of their limits (E4, E7).

A gate closes when too many of its runs are running, when its rate is used up, or, if it keeps an
order, for every run except the next one. There are no counters to maintain: the store locks the
gates and counts the running runs for each claim. So a dead worker cannot leak a slot, and two
claimers cannot take the same one (docs/adr/0010-gates.md). engine/dispatch finds the candidates.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.lanes import compute_rank
from rota.core.limits import GateLimits, JobLimit, admit_starts
from rota.core.overlap import SEQUENTIAL_OVERLAPS, Overlap
from rota.core.submissions import fill_key

IN_ORDER_LIMITS: Final = GateLimits(in_order=True)


class Candidate(NamedTuple):
    """A ready run and all gates that it must pass: its own, its queue's, its tenant's."""

    id: UUID
    tenant: int
    priority: int
    ready_at: datetime
    gates: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateState:
    """The state of a locked gate: `held` is the number of its running runs, `head` is the next run
    of a gate that keeps an order.
    """

    limits: GateLimits
    held: int = 0
    paid_until: datetime | None = None
    head: UUID | None = None

    def count_free(self, *, wanted: int, now: datetime) -> int:
        """Return how many of `wanted` runs may pass."""
        free = wanted
        if self.limits.max_running is not None:
            free = min(free, self.limits.max_running - self.held)
        if self.limits.in_order:
            free = min(free, 1 - self.held)
        if self.limits.rate is not None and free > 0:
            rate = self.limits.rate
            free = admit_starts(rate, paid_until=self.paid_until, wanted=free, now=now).admitted
        return max(0, free)

    def compute_paid_until(self, *, passed: int, now: datetime) -> datetime | None:
        """Return the timestamp to store after `passed` runs passed; None without a rate."""
        if self.limits.rate is None:
            return None
        return admit_starts(
            self.limits.rate, paid_until=self.paid_until, wanted=passed, now=now
        ).paid_until


def choose_candidates(
    candidates: Iterable[Candidate],
    gate_states: Mapping[int, GateState],
    *,
    room: int,
    now: datetime,
) -> list[Candidate]:
    """Return the candidates that pass, at most `room`.

    Another transaction holds the lock of a gate that is not in `standings`; runs of such a gate
    wait for the next claim.
    """
    left = {gate: state.count_free(wanted=room, now=now) for gate, state in gate_states.items()}
    chosen: list[Candidate] = []
    for candidate in order_by_turns(candidates):
        if len(chosen) == room:
            break
        if not all(left.get(gate, 0) for gate in candidate.gates):
            continue
        if any(
            gate_states[gate].limits.in_order and gate_states[gate].head != candidate.id
            for gate in candidate.gates
        ):
            continue
        for gate in candidate.gates:
            left[gate] -= 1
        chosen.append(candidate)
    return chosen


def compute_payments(
    passed: Iterable[tuple[int, ...]], gate_states: Mapping[int, GateState], *, now: datetime
) -> dict[int, datetime]:
    """Return the timestamps to store for gates with a rate, given the gates of each passed run."""
    counts = Counter(gate for gates in passed for gate in gates)
    timestamps = (
        (gate, gate_states[gate].compute_paid_until(passed=count, now=now))
        for gate, count in counts.items()
        if gate in gate_states
    )
    return {gate: paid for gate, paid in timestamps if paid is not None}


def order_by_turns(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates of the tenants in turn, so that no tenant takes all slots. Within a
    tenant they are ordered by priority with ageing. Duplicates are dropped.
    """
    tenants: dict[int, list[Candidate]] = defaultdict(list)
    for candidate in dict.fromkeys(candidates):
        tenants[candidate.tenant].append(candidate)
    for runs in tenants.values():
        runs.sort(key=lambda run: (compute_rank(run.priority, run.ready_at), run.id))
    for turn in zip_longest(*tenants.values()):
        yield from (candidate for candidate in turn if candidate is not None)


def cap_shares(wanted: Sequence[tuple[int, int]], left: Mapping[int, int]) -> list[int]:
    """Return the shares of lanes, given as (tenant, share) in order, reduced so that all lanes of a
    tenant together get at most what is `left` for it. A tenant that is not in `left` has no limit.
    """
    rest = dict(left)
    shares: list[int] = []
    for tenant, share in wanted:
        allowed = min(share, rest.get(tenant, share))
        if tenant in rest:
            rest[tenant] -= allowed
        shares.append(allowed)
    return shares


def build_gate_keys(
    job_id: UUID, overlap: Overlap, limits: Sequence[JobLimit], payload: object
) -> list[tuple[str, GateLimits]]:
    """Return the gates of a run with this payload, as keys and limits. The gate that keeps an order
    is first, where the claim expects it; the others follow with the smallest limit first.
    """
    shared = [
        (f"key:{fill_key(limit.key, payload, f'limits[{n}].key')}", limit.gate_limits)
        for n, limit in enumerate(limits)
    ]
    shared.sort(key=lambda gate: (gate[1].max_running is None, gate[1].max_running or 0))
    own = [(f"job:{job_id}", IN_ORDER_LIMITS)] if overlap in SEQUENTIAL_OVERLAPS else []
    return [*own, *shared]
