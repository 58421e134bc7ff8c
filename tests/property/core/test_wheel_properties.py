"""The timing wheel against a sorted list, for any story of adding and taking (P2)."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from rota.engine.scheduling.agenda import TimingWheel


@dataclass
class SortedList:
    """The same by sorting: an item waits at its time, or at the time of adding if that is later."""

    now: int
    items: list[tuple[int, int]] = field(default_factory=list)

    def add(self, at: int, item: int) -> None:
        self.items.append((max(at, self.now), item))
        self.items.sort(key=lambda each: each[0])

    def take(self, now: int, most: int) -> list[int]:
        self.now = max(self.now, now)
        due = [each for each in self.items if each[0] <= self.now][:most]
        self.items = self.items[len(due) :]
        return [item for _, item in due]


distances = st.one_of(
    st.integers(-100, 200),
    st.integers(0, 50_000),
    st.integers(0, 1 << 40),
    st.sampled_from([63, 64, 4095, 4096, 262_143, 262_144]),
)
steps = st.one_of(
    st.tuples(st.just("add"), distances),
    st.tuples(st.just("take"), st.tuples(distances, st.integers(0, 5))),
)


@given(start=st.integers(0, 1 << 50), story=st.lists(steps, max_size=60))
def test_a_wheel_gives_what_a_sorted_list_gives(
    start: int, story: list[tuple[str, object]]
) -> None:
    wheel: TimingWheel[int] = TimingWheel(start)
    plain = SortedList(start)

    for number, (what, value) in enumerate(story):
        if what == "add":
            assert isinstance(value, int)
            wheel.add(plain.now + value, number)
            plain.add(plain.now + value, number)
            continue
        assert isinstance(value, tuple)
        now, most = plain.now + value[0], value[1]
        assert wheel.take(now, most) == plain.take(now, most)
        assert len(wheel) == len(plain.items)
        soonest = wheel.find_next_at()
        assert (soonest is None) == (not plain.items)
        if soonest is not None:
            assert soonest <= max(plain.now, plain.items[0][0])


@given(start=st.integers(0, 1 << 50), added=st.lists(distances, min_size=1, max_size=40))
def test_resting_until_the_next_time_misses_nothing_and_ends(start: int, added: list[int]) -> None:
    wheel: TimingWheel[int] = TimingWheel(start)
    for number, distance in enumerate(added):
        wheel.add(start + distance, number)

    taken: list[int] = []
    looks = 0
    while (soonest := wheel.find_next_at()) is not None:
        taken += wheel.take(soonest, limit=100)
        looks += 1

    order = sorted(range(len(added)), key=lambda number: max(added[number], 0))
    assert taken == order
    assert looks <= 8 * len(added)
