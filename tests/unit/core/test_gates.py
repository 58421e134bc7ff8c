"""Who passes the gates: limits on those at work, rates, order, turns of tenants (E4, E7, T1)."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from rota.core.gates import (
    Candidate,
    GateState,
    cap_shares,
    choose_candidates,
    compute_payments,
    order_by_turns,
)
from rota.core.limits import NO_LIMITS, GateLimits, RateLimit

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


def run(number: int, *gates: int, tenant: int = 1, priority: int = 5, age: int = 0) -> Candidate:
    ready_at = NOW - timedelta(seconds=age)
    return Candidate(UUID(int=number), tenant, priority, ready_at, gates)


def ids(chosen: list[Candidate]) -> list[int]:
    return [candidate.id.int for candidate in chosen]


def test_a_gate_lets_through_what_is_free_beside_those_held() -> None:
    waiting = [run(n, 7) for n in range(5)]
    standings = {7: GateState(limits=GateLimits(max_running=3), held=1)}

    chosen = choose_candidates(waiting, standings, room=10, now=NOW)

    assert ids(chosen) == [0, 1]


def test_a_limit_that_was_lowered_below_those_held_lets_nobody_through() -> None:
    chosen = choose_candidates(
        [run(1, 7)], {7: GateState(limits=GateLimits(max_running=2), held=9)}, room=1, now=NOW
    )

    assert chosen == []


def test_a_run_passes_only_if_all_of_its_gates_let_it() -> None:
    standings = {
        1: GateState(limits=GateLimits(max_running=1)),
        2: GateState(limits=GateLimits(max_running=1), held=1),
        3: GateState(limits=NO_LIMITS, held=99),
    }

    chosen = choose_candidates([run(1, 1, 2), run(2, 1, 3), run(3, 3)], standings, room=10, now=NOW)

    assert ids(chosen) == [2, 3]


def test_a_gate_that_somebody_else_has_locked_keeps_its_runs_waiting() -> None:
    chosen = choose_candidates(
        [run(1, 1, 2), run(2, 1)],
        {1: GateState(limits=GateLimits(max_running=5))},
        room=10,
        now=NOW,
    )

    assert ids(chosen) == [2]


def test_an_ordered_gate_lets_only_its_head_through() -> None:
    standing = GateState(limits=GateLimits(in_order=True), head=UUID(int=2))

    chosen = choose_candidates([run(1, 7), run(2, 7), run(3, 7)], {7: standing}, room=10, now=NOW)

    assert ids(chosen) == [2]


def test_an_ordered_gate_is_shut_while_one_is_held() -> None:
    standing = GateState(limits=GateLimits(in_order=True), held=1, head=UUID(int=2))

    assert choose_candidates([run(2, 7)], {7: standing}, room=10, now=NOW) == []


def test_a_rate_lets_its_burst_through_and_is_paid_for_what_passed() -> None:
    rate = RateLimit(count=60, per=timedelta(minutes=1), burst=3)
    standing = GateState(limits=GateLimits(rate=rate))
    waiting = [run(n, 7) for n in range(9)]

    chosen = choose_candidates(waiting, {7: standing}, room=10, now=NOW)
    paid = compute_payments([candidate.gates for candidate in chosen[:2]], {7: standing}, now=NOW)

    assert len(chosen) == 3
    assert paid == {7: NOW + timedelta(seconds=2)}


def test_gates_without_a_rate_are_not_written() -> None:
    standings = {7: GateState(limits=GateLimits(max_running=3))}

    assert compute_payments([(7,), (7,), (9,)], standings, now=NOW) == {}


def test_tenants_take_turns_and_each_goes_by_priority_with_ageing() -> None:
    flood = [run(n, n, tenant=1) for n in range(10)]
    urgent = run(20, 20, tenant=2, priority=1)
    aged = run(21, 21, tenant=2, priority=9, age=7200)

    order = list(order_by_turns([*flood, urgent, aged]))

    assert [candidate.id.int for candidate in order[:4]] == [0, 21, 1, 20]


def test_a_run_that_was_found_twice_passes_once() -> None:
    standings = {7: GateState(limits=GateLimits(max_running=3))}

    assert ids(choose_candidates([run(1, 7), run(1, 7)], standings, room=10, now=NOW)) == [1]


def test_a_tenants_cap_holds_over_all_its_lanes() -> None:
    lanes = [(1, 4), (2, 9), (1, 4), (1, 4)]

    assert cap_shares(lanes, {1: 6}) == [4, 9, 2, 0]


standing = st.builds(
    GateState,
    limits=st.builds(
        GateLimits,
        max_running=st.none() | st.integers(1, 6),
        rate=st.none() | st.just(RateLimit(count=10, per=timedelta(seconds=1), burst=4)),
        in_order=st.booleans(),
    ),
    held=st.integers(0, 6),
    head=st.integers(0, 29).map(lambda n: UUID(int=n)),
)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 29), st.lists(st.integers(0, 4), min_size=1, unique=True).map(tuple)
        ),
        max_size=30,
        unique_by=lambda pair: pair[0],
    ),
    st.dictionaries(st.integers(0, 4), standing),
    st.integers(0, 12),
)
def test_no_gate_is_ever_passed_by_more_than_it_has_places(
    wanted: list[tuple[int, tuple[int, ...]]], standings: dict[int, GateState], room: int
) -> None:
    candidates = [run(number, *gates, tenant=number % 3) for number, gates in wanted]

    chosen = choose_candidates(candidates, standings, room=room, now=NOW)

    passed = Counter(gate for candidate in chosen for gate in candidate.gates)
    assert len(chosen) <= room
    for gate, count in passed.items():
        limits = standings[gate].limits
        assert limits.max_running is None or standings[gate].held + count <= limits.max_running
        assert not limits.in_order or standings[gate].held + count == 1
        assert limits.rate is None or count <= limits.rate.burst
    # Nobody waits in front of an open door.
    if len(chosen) < room:
        for candidate in candidates:
            gates = [standings.get(gate) for gate in candidate.gates]
            shut = [
                each is None
                or each.count_free(wanted=room, now=NOW) <= passed[gate]
                or (each.limits.in_order and each.head != candidate.id)
                for gate, each in zip(candidate.gates, gates, strict=True)
            ]
            assert candidate in chosen or any(shut)
