"""Schedulers that come and go end up with even shares; claims are dealt fairly (O3, T1, E5)."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from rota.core.lanes import Lane, WaitingLane, deal_slots, fill_by_weight
from rota.core.lease import SHARD_COUNT, plan_shards

NOW = datetime(2026, 7, 1, tzinfo=UTC)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.integers(1, 12), min_size=1), min_size=1, max_size=8))
def test_shards_settle_evenly_after_every_change_of_the_cluster(clusters: list[set[int]]) -> None:
    owners: dict[int, UUID | None] = dict.fromkeys(range(SHARD_COUNT))
    for cluster in clusters:
        live = [UUID(int=n) for n in sorted(cluster)]
        owners = {s: owner if owner in live else None for s, owner in owners.items()}
        before = dict(owners)
        for _ in range(3):
            for me in live:
                turn(me, live, owners)
        held = Counter(owners.values())
        assert sum(held.values()) == SHARD_COUNT
        assert max(held.values()) - min(held[me] for me in live) <= 1
        even = -(-SHARD_COUNT // len(live))
        for me in live:
            kept = sum(1 for s in owners if before[s] == owners[s] == me)
            had = sum(1 for s in before if before[s] == me)
            assert kept >= min(had, even - 1), "a scheduler keeps what it holds within its share"


def turn(me: UUID, live: list[UUID], owners: dict[int, UUID | None]) -> None:
    plan = plan_shards(me, live=live, owners=owners)
    for shard in plan.release:
        assert owners[shard] == me
        owners[shard] = None
    for shard in plan.take:
        assert owners[shard] is None
        owners[shard] = me


tenants = st.dictionaries(st.integers(1, 40), st.integers(1, 500), min_size=1, max_size=30)


@given(tenants, st.integers(1, 400), st.dictionaries(st.integers(1, 40), st.integers(1, 9)))
def test_room_is_filled_and_nobody_is_left_out_while_there_is_room(
    likely: dict[int, int], room: int, weights: dict[int, int]
) -> None:
    turns = list(likely)[:room]

    parts = fill_by_weight(room, turns, estimates=likely, weights=weights)

    assert set(parts) == set(turns)
    if sum(max(1, likely[t]) for t in turns) >= room:
        assert sum(parts.values()) == room
        assert all(parts[t] <= max(1, likely[t]) for t in turns)
    else:
        assert all(parts[t] >= likely[t] for t in turns)


@given(st.integers(2, 50), st.integers(50, 500))
def test_deep_tenants_of_equal_weight_get_equal_parts(number: int, room: int) -> None:
    turns = list(range(1, number + 1))

    parts = fill_by_weight(room, turns, estimates=dict.fromkeys(turns, 10_000), weights={})

    assert max(parts.values()) - min(parts.values()) <= room // number + 1
    assert min(parts.values()) >= room // number


def test_a_heavier_tenant_gets_its_multiple() -> None:
    parts = fill_by_weight(100, [1, 2], estimates={1: 1000, 2: 1000}, weights={1: 3})

    assert parts == {1: 75, 2: 25}


def test_the_turn_goes_round_so_that_every_tenant_is_served() -> None:
    waiting = [WaitingLane(lane=Lane(t, 5), head_at=NOW, estimate=10) for t in range(1, 31)]

    served: list[int] = []
    after = 0
    for _ in range(3):
        shares = deal_slots(waiting, room=10, weights={}, after=after)
        served += [share.lane.tenant for share in shares]
        after = shares[-1].lane.tenant

    assert served == list(range(1, 31))


def test_within_a_tenant_the_higher_priority_goes_first_until_the_lower_has_aged() -> None:
    high = WaitingLane(lane=Lane(1, 1), head_at=NOW, estimate=10)
    low = WaitingLane(lane=Lane(1, 9), head_at=NOW, estimate=10)
    aged = WaitingLane(lane=Lane(1, 9), head_at=NOW - timedelta(minutes=81), estimate=10)

    fresh_order = [s.lane for s in deal_slots([low, high], room=5, weights={}, after=0)]
    aged_order = [s.lane for s in deal_slots([aged, high], room=5, weights={}, after=0)]

    assert fresh_order == [high.lane, low.lane]
    assert aged_order == [aged.lane, high.lane]


@given(st.data())
def test_a_small_tenant_is_dealt_in_however_large_the_others_are(data: st.DataObject) -> None:
    number = data.draw(st.integers(1, 30))
    room = data.draw(st.integers(number + 1, 500))
    big = [
        WaitingLane(lane=Lane(t, 5), head_at=NOW, estimate=100_000) for t in range(1, number + 1)
    ]
    small = WaitingLane(lane=Lane(number + 1, 9), head_at=NOW, estimate=1)

    shares = deal_slots([*big, small], room=room, weights={}, after=data.draw(st.integers(0, 40)))

    assert any(share.lane == small.lane and share.limit >= 1 for share in shares)
