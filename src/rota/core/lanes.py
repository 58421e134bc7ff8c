"""Divides the slots of a claim fairly among the lanes of a queue (T1, E5).

A lane is the waiting runs of one tenant at one priority. A claim visits the lanes in the order
returned here and takes at most each lane's share, so that one tenant's backlog cannot delay another
tenant's runs. Free slots are divided among tenants by weight, round-robin from claim to claim; what
a tenant cannot use goes to the others. Within a tenant the lane with the lowest rank (priority with
ageing) is first. engine/dispatch remembers which lanes exist and how many runs they recently had.

Orders waiting runs by priority with ageing (E5), so that low priority never starves.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from rota.core.errors import InvalidInput

PRIORITY_FIRST: Final = 0
PRIORITY_LAST: Final = 9
PRIORITY_NAMES: Final = {"high": 1, "medium": 5, "normal": 5, "low": 9}
DEFAULT_PRIORITY: Final = PRIORITY_NAMES["normal"]
AGE_STEP: Final = timedelta(minutes=10)


def parse_priority(value: str | int) -> int:
    """Parse a name, or a number from 0 (first) to 9 (last)."""
    number = PRIORITY_NAMES.get(value.strip().lower()) if isinstance(value, str) else value
    if number is None or isinstance(number, bool) or not PRIORITY_FIRST <= number <= PRIORITY_LAST:
        wanted = "expected 'high', 'normal', 'low', or a number from 0 to 9"
        raise InvalidInput("priority", value, wanted)
    return number


def compute_rank(priority: int, ready_at: datetime) -> datetime:
    """Return the sort key among one tenant's waiting runs: smaller is first."""
    return ready_at + priority * AGE_STEP


# Named tuples, because a claim creates hundreds of each.
class Lane(NamedTuple):
    tenant: int
    priority: int


class WaitingLane(NamedTuple):
    """A lane with its oldest ready time and its estimated number of runs."""

    lane: Lane
    head_at: datetime
    estimate: int


class LaneShare(NamedTuple):
    lane: Lane
    limit: int


def deal_slots(
    waiting: Iterable[WaitingLane], *, room: int, weights: Mapping[int, int], after: int
) -> tuple[LaneShare, ...]:
    """Divide `room` slots. Tenants with ids above `after` come first: round-robin.

    Shares may add up to more than `room`, because a lane may hold fewer runs than estimated; the
    claim stops when all slots are used. Every tenant that takes part gets at least one slot.
    """
    lanes: dict[int, list[WaitingLane]] = defaultdict(list)
    for lane in waiting:
        lanes[lane.lane.tenant].append(lane)
    turns = sorted(lanes, key=lambda tenant: (tenant <= after, tenant))[:room]
    likely = {tenant: sum(lane.estimate for lane in lanes[tenant]) for tenant in turns}
    parts = fill_by_weight(room, turns, estimates=likely, weights=weights)
    first: list[LaneShare] = []
    rest: list[LaneShare] = []
    for tenant in turns:
        own_lanes = lanes[tenant]
        if len(own_lanes) > 1:
            own_lanes.sort(key=lambda lane: compute_rank(lane.lane.priority, lane.head_at))
        best, *others = own_lanes
        first.append(LaneShare(lane=best.lane, limit=parts[tenant]))
        rest.extend(LaneShare(lane=other.lane, limit=parts[tenant]) for other in others)
    return (*first, *rest)


def fill_by_weight(
    room: int, tenants: Sequence[int], *, estimates: Mapping[int, int], weights: Mapping[int, int]
) -> dict[int, int]:
    """Divide slots by weight (water-filling). No tenant gets more than it likely needs while
    another tenant needs more. Remaining slots are divided by weight again: `likely` is an estimate.
    """
    parts = dict.fromkeys(tenants, 0)
    open_ = list(tenants)
    left = room
    while open_ and left > 0:
        total = sum(weights.get(tenant, 1) for tenant in open_)
        used = 0
        unsatisfied: list[int] = []
        for tenant in open_:
            fair = max(1, left * weights.get(tenant, 1) // total)
            lacks = max(1, estimates[tenant]) - parts[tenant]
            part = min(fair, lacks, left - used)
            parts[tenant] += part
            used += part
            if part < lacks:
                unsatisfied.append(tenant)
        left -= used
        open_ = unsatisfied if used else []
    for tenant in tenants if left > 0 else ():
        parts[tenant] += max(1, left * weights.get(tenant, 1) // max(1, len(tenants)))
    return parts
