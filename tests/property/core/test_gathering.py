"""However events arrive, together or one by one, each is in one run, and in the right one (S7)."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from rota.core.event_rules.event import EVENT_BYTES_MAX
from rota.core.event_rules.grouping import AddedEvent, EventBatch, add_to_batch
from rota.core.ids import derive_event_run_id
from rota.core.time.trigger import AllOf, BatchGrouping, Debounce, EventPattern, Trigger

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
JOB = UUID(int=1)
# When the next event comes, how large it is, which of the wanted it can be, and whether it is
# handed in together with the one before.
ARRIVALS = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.sampled_from([10, EVENT_BYTES_MAX // 3]),
        st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True).map(tuple),
        st.booleans(),
    ),
    max_size=30,
)
WANTED = tuple(EventPattern(type=name) for name in "abc")


class Played:
    """The runs that came of it: for each its members by part, and when it was over."""

    def __init__(self, trigger: Trigger) -> None:
        self.trigger = trigger
        self.pile: EventBatch | None = None
        self.members: dict[UUID, dict[int, int]] = {}
        self.joined: dict[int, UUID] = {}
        self.closed: dict[UUID, datetime] = {}
        self.given_up: set[UUID] = set()

    def take(self, added: list[AddedEvent], now: datetime) -> None:
        folded = add_to_batch(
            self.trigger,
            self.pile,
            added,
            now=now,
            run_id_for=lambda id_: derive_event_run_id(JOB, id_, at=now),
        )
        self.pile = folded.open
        for member in folded.members.values():
            self.members.setdefault(member.run_id, {})[member.part] = member.event_id.int
        self.joined |= {event.int: run_id for event, run_id in folded.run_ids.items()}
        self.closed |= {pile.run_id: now for pile in (*folded.complete, *folded.timed_out)}
        self.given_up |= {pile.run_id for pile in folded.timed_out}


def played(trigger: Trigger, arrivals: list[tuple[int, int, tuple[int, ...], bool]]) -> Played:
    """Hand them in, some together; those that are together come at the same moment."""
    play, now, together = Played(trigger), NOON, list[AddedEvent]()
    for number, (wait, size, parts, joins) in enumerate(arrivals, start=1):
        if not joins:
            play.take(together, now)
            together = []
            now += timedelta(seconds=wait)
        together.append(AddedEvent(UUID(int=number), size, parts))
    play.take(together, now)
    return play


def apart(
    arrivals: list[tuple[int, int, tuple[int, ...], bool]],
) -> list[tuple[int, int, tuple[int, ...], bool]]:
    """The same at the same moments, but one by one."""
    return [(0 if joins else wait, size, parts, False) for wait, size, parts, joins in arrivals]


TRIGGERS = st.sampled_from(
    [
        Trigger(patterns=WANTED[:1], grouping=BatchGrouping(size=3, within=timedelta(seconds=20))),
        Trigger(
            patterns=WANTED[:1],
            grouping=Debounce(quiet=timedelta(seconds=5), max_wait=timedelta(seconds=15)),
        ),
        Trigger(patterns=WANTED, grouping=AllOf(within=timedelta(seconds=20))),
    ]
)


@given(TRIGGERS, ARRIVALS)
def test_together_or_one_by_one_is_the_same(
    trigger: Trigger, arrivals: list[tuple[int, int, tuple[int, ...], bool]]
) -> None:
    first, second = played(trigger, arrivals), played(trigger, apart(arrivals))

    assert (first.members, first.joined) == (second.members, second.joined)
    assert (first.closed, first.given_up) == (second.closed, second.given_up)
    assert first.pile == second.pile


@given(TRIGGERS, ARRIVALS)
def test_each_event_is_in_one_run_which_is_not_too_large_nor_too_late(
    trigger: Trigger, arrivals: list[tuple[int, int, tuple[int, ...], bool]]
) -> None:
    play = played(trigger, arrivals)

    assert set(play.joined) == set(range(1, len(arrivals) + 1))
    left = set() if play.pile is None else {play.pile.run_id}
    assert set(play.joined.values()) == set(play.closed) | left
    sizes = {number: size for number, (_, size, _, _) in enumerate(arrivals, start=1)}
    for run_id, members in play.members.items():
        mine = [number for number, joined in play.joined.items() if joined == run_id]
        match trigger.grouping:
            case BatchGrouping(size=size):
                assert [members[part] for part in sorted(members)] == mine
                assert len(mine) <= size
                assert sum(sizes[number] for number in mine) <= max(EVENT_BYTES_MAX, sizes[mine[0]])
            case Debounce():
                assert members == {0: mine[-1]}
            case _:
                assert set(members.values()) <= set(mine)
                complete = run_id in play.closed and run_id not in play.given_up
                assert (len(members) == len(WANTED)) == complete
