"""Fair shares of a claim among the lanes of a queue (T1, E5). Room: core.

A lane is the waiting runs of one tenant at one priority. A claim walks lanes in the order dealt
here and takes at most each lane's share, so one tenant's backlog cannot delay another's run: free
slots are dealt to tenants by weight, in turns that go on from claim to claim, and what a tenant
cannot use goes to the others. Within a tenant the lane with the lowest rank (priority with ageing)
goes first. Which lanes exist, and what they lately yielded, is remembered by flow/dispatch.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from rota.core.priority import rank


# Named tuples, because a claim makes hundreds of each.
class Lane(NamedTuple):
    tenant: int
    priority: int


class Waiting(NamedTuple):
    """What is known of a lane: its oldest ready time, and how many it likely holds."""

    lane: Lane
    head_at: datetime
    likely: int


class Share(NamedTuple):
    lane: Lane
    most: int


def deal(
    waiting: Iterable[Waiting], *, room: int, weights: Mapping[int, int], after: int
) -> tuple[Share, ...]:
    """Deal `room` slots. Tenants greater than `after` come first: the turn goes round.

    Shares may add up to more than the room (a lane may hold less than it seemed); the claim stops
    when the room is full. Every tenant that is dealt in gets at least one.
    """
    lanes: dict[int, list[Waiting]] = defaultdict(list)
    for each in waiting:
        lanes[each.lane.tenant].append(each)
    turns = sorted(lanes, key=lambda tenant: (tenant <= after, tenant))[:room]
    likely = {tenant: sum(each.likely for each in lanes[tenant]) for tenant in turns}
    parts = fill(room, turns, likely=likely, weights=weights)
    first: list[Share] = []
    rest: list[Share] = []
    for tenant in turns:
        mine = lanes[tenant]
        if len(mine) > 1:
            mine.sort(key=lambda each: rank(each.lane.priority, each.head_at))
        best, *others = mine
        first.append(Share(lane=best.lane, most=parts[tenant]))
        rest.extend(Share(lane=other.lane, most=parts[tenant]) for other in others)
    return (*first, *rest)


def fill(
    room: int, tenants: Sequence[int], *, likely: Mapping[int, int], weights: Mapping[int, int]
) -> dict[int, int]:
    """Water-filling: by weight, nobody more than it likely needs while another wants more.

    What all together do not need is dealt by weight again, since likely is only a guess.
    """
    parts = dict.fromkeys(tenants, 0)
    open_ = list(tenants)
    left = room
    while open_ and left > 0:
        total = sum(weights.get(tenant, 1) for tenant in open_)
        given = 0
        still: list[int] = []
        for tenant in open_:
            fair = max(1, left * weights.get(tenant, 1) // total)
            lacks = max(1, likely[tenant]) - parts[tenant]
            part = min(fair, lacks, left - given)
            parts[tenant] += part
            given += part
            if part < lacks:
                still.append(tenant)
        left -= given
        open_ = still if given else []
    for tenant in tenants if left > 0 else ():
        parts[tenant] += max(1, left * weights.get(tenant, 1) // max(1, len(tenants)))
    return parts
