"""The state machine: hypothesis chooses what happens, and finds the shortest story that goes wrong.

What must hold is checked after every step of every deed (changes.py, standing.py), and in the end
everything must come to an end (healing.py). There is one rule, because hypothesis would leave
whole rules out of an example, and without workers that claim there is nothing to disturb.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from rota.store.driver import Connection
from tests.simulation import deeds
from tests.simulation.clients import Clients
from tests.simulation.cluster import SCHEDULERS, WORKERS, Cluster
from tests.simulation.deeds import Deed
from tests.simulation.healing import heal
from tests.simulation.plans import Plan, cadences, periodic, plans
from tests.simulation.wire import Fault

T = TypeVar("T")

some = st.integers(0, 5)
endings = st.sampled_from(list(deeds.OUTCOMES))
# Mostly short: what happens within a lease is most of what happens.
times = st.sampled_from([0.01, 0.3, 1, 1, 2, 2, 2.5, 3, 3, 5, 6.1, 10.1, 30])
schedulers = st.sampled_from([*SCHEDULERS, *SCHEDULERS, "A'", "B'"])
workers = st.sampled_from([*WORKERS, *WORKERS, "X'", "Y'"])
scheduling = ("leasing", "reading", "firing", "firing")
working = ("claiming", "claiming", "recording", "rescuing", "expiring")
crowds = st.sampled_from(
    [(*SCHEDULERS, *WORKERS), (*SCHEDULERS, *WORKERS), SCHEDULERS, ("B", "A"), WORKERS, ("Y", "A")]
)
# A beat is sent within its lease or not at all (engine/execution/heartbeat.py): it does not stop.
stopping = st.one_of(
    st.tuples(schedulers, st.sampled_from(scheduling)),
    st.tuples(workers, st.sampled_from(working)),
)
passing = st.one_of(stopping, stopping, st.tuples(workers, st.just("beating")))
# Leasing has the most statements by far.
statements = st.sampled_from([1, 1, 2, 2, 3, 4, 5, 6, 7])
later = st.sampled_from([0, 0, 1, 2, 3])

# Each with the number of tickets it has in the draw; shrinking prefers the first.
CHANCES: dict[str, tuple[int, st.SearchStrategy[Deed]]] = {
    "life": (
        8,
        st.builds(deeds.LifeGoesOn, times, st.lists(endings, max_size=3).map(tuple), crowds),
    ),
    "time": (2, st.builds(deeds.TimePasses, times)),
    "node": (2, st.builds(deeds.NodeWorks, st.one_of(schedulers, workers))),
    "tick": (4, st.builds(deeds.DutyTicks, passing)),
    "stop": (5, st.builds(deeds.DutyStops, later, stopping, statements)),
    "go on": (4, st.builds(deeds.DutyGoesOn, some, st.sampled_from([None, None, 1, 2]))),
    "mishap": (
        5,
        st.builds(deeds.DutyHasMishap, later, stopping, st.integers(0, 2), st.sampled_from(Fault)),
    ),
    "shards": (1, st.builds(deeds.ShardsMove, schedulers, schedulers)),
    "shards back": (
        3,
        st.builds(
            deeds.ShardsComeBack, schedulers, schedulers, st.sampled_from([0, 2]), st.integers(1, 3)
        ),
    ),
    "outage": (2, st.builds(deeds.DatabaseIsAway, st.sampled_from([1, 6.1, 10.1, 60]), workers)),
    "replaced": (1, st.builds(deeds.NodeIsReplaced, st.sampled_from([*SCHEDULERS, *WORKERS]))),
    "ending": (6, st.builds(deeds.AttemptEnds, some, endings, st.booleans())),
    "out of sight": (1, st.builds(deeds.WorkerLosesSight, some)),
    "lost": (3, st.builds(deeds.AttemptIsTakenForLost, some)),
    "dead": (2, st.builds(deeds.WorkerIsTakenForDead, st.sampled_from(WORKERS))),
    "job": (1, st.builds(deeds.JobIsWritten, plans)),
    "submission": (
        1,
        st.builds(deeds.SubmissionIsWritten, plans, st.sampled_from([0.0, 1.0, 1.0, 4.0])),
    ),
    "run": (2, st.builds(deeds.RunIsWanted, some)),
    "runs": (1, st.builds(deeds.RunsAreHandedIn, some, st.sampled_from([0.0, 3.0]))),
    "cancel": (2, st.builds(deeds.RunIsCancelled, some, st.booleans())),
    "replay": (2, st.builds(deeds.RunIsReplayed, some)),
    "change": (2, st.builds(deeds.JobIsChanged, some, st.one_of(st.none(), st.none(), cadences))),
    "delete": (1, st.builds(deeds.JobIsDeleted, some)),
    "pause": (1, st.builds(deeds.QueueIsPaused)),
}
TICKETS = [name for name, (number, _) in CHANCES.items() for _ in range(number)]
anything = st.sampled_from(TICKETS).flatmap(lambda name: CHANCES[name][1])


class Simulation(RuleBasedStateMachine):
    """`runner` and `conn` are given by whoever runs it: one loop, one connection."""

    runner: ClassVar[asyncio.Runner]
    conn: ClassVar[Connection]

    def __init__(self) -> None:
        super().__init__()
        self.is_broken = False
        self.cluster: Cluster = self.run(Cluster.open(self.conn))

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        try:
            return self.runner.run(doing)
        except BaseException:
            self.is_broken = True
            raise

    def teardown(self) -> None:
        if self.is_broken:
            self.runner.run(self.cluster.close())
        else:
            self.run(heal(self.cluster))

    @initialize(first=periodic, second=periodic, limit=st.sampled_from([None, None, 2]))
    def begin(self, first: Plan, second: Plan, limit: int | None) -> None:
        """Two jobs, perhaps a limit for all, shards that are held, and the first runs."""
        clients = Clients(self.cluster)
        if limit is not None:
            self.run(clients.limit_queue(limit))
        self.run(clients.write_job(first))
        self.run(clients.write_job(second))
        for _ in range(2):
            self.run(deeds.LifeGoesOn(2).happen(self.cluster))

    @rule(deed=anything)
    def happens(self, deed: Deed) -> None:
        self.run(deed.happen(self.cluster))
