"""The jobs of a chaos run: each sort of schedule, handler, guarantee and policy at least once."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from rota.core.outcome import Guarantee
from rota.core.policy import DelayGrowth, Policy, RetryJitter, RetryPolicy

HALF: Final = timedelta(milliseconds=500)
# No jitter: the back-off is then known, and the checker can hold every retry to it.
STEADY: Final = RetryPolicy(
    max_retries=3, growth=DelayGrowth.CONSTANT, base_delay=HALF, jitter=RetryJitter.NONE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dish:
    """A job to ask for. Its ticks are those of `cron_step`, come `every` so often, or the one `at`
    a time; for the last two the schedule is made when it is asked for.
    """

    name: str
    kind: str
    schedule: dict[str, Any] = field(default_factory=dict)
    payload: dict[str, Any] = field(default_factory=dict)
    cron_step: int | None = None
    every: timedelta | None = None
    at: datetime | None = None
    overlap: str = "allow"
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    key: str | None = None
    most: int | None = None
    graph: dict[str, Any] | None = None
    number: int = 1

    @property
    def policy(self) -> Policy:
        return Policy(
            retries=STEADY,
            timeout=timedelta(seconds=20),
            grace=timedelta(seconds=2),
            guarantee=self.guarantee,
        )


def ticking(name: str, kind: str, step: int = 1, **more: Any) -> Dish:
    schedule = {"cron": f"*/{step} * * * * *"} | more.pop("rules", {})
    return Dish(name=name, kind=kind, schedule=schedule, cron_step=step, **more)


# What each step of the graph needs, by its place. Whatever becomes of them, the next ones begin.
NEEDS: Final = ((), (0,), (0,), (0,), (1, 2), (1, 2, 3), (4, 5))


def graph_of(kinds: tuple[str, ...]) -> dict[str, Any]:
    return {
        "steps": [
            {
                "name": f"s{place}",
                "kind": kinds[place % len(kinds)],
                "needs": [f"s{parent}" for parent in needs],
                "when": "always",
                "payload": {"seconds": 0.02, "failures": 1},
            }
            for place, needs in enumerate(NEEDS)
        ]
    }


GRAPH: Final = graph_of(("chaos.quick", "chaos.slow", "chaos.failing"))

MENU: Final = (
    ticking("quick", "chaos.quick", number=6),
    ticking("every other", "chaos.quick", 2, number=4),
    Dish(
        name="interval",
        kind="chaos.quick",
        every=timedelta(seconds=1.5),
        number=3,
    ),
    # A second late is late: the rest of an outage is on record, and one run stands for it or none.
    ticking("punctual", "chaos.quick", rules={"misfire": {"late_after": "1s"}}, number=2),
    ticking(
        "forgetful",
        "chaos.quick",
        rules={"misfire": {"late_after": "1s", "on_outage": "skip"}},
        number=2,
    ),
    ticking("skipping", "chaos.slow", payload={"seconds": 1.4}, overlap="skip", number=2),
    ticking("queueing", "chaos.slow", payload={"seconds": 0.4}, overlap="queue_all", number=2),
    ticking("keeping one", "chaos.slow", payload={"seconds": 1.2}, overlap="queue_one"),
    ticking("failing once", "chaos.failing", 2, payload={"failures": 1}),
    ticking("failing always", "chaos.failing", 5, payload={"failures": 99}),
    ticking("snoozing", "chaos.snoozing", 2),
    ticking(
        "once at most",
        "chaos.slow",
        payload={"seconds": 0.3},
        guarantee=Guarantee.AT_MOST_ONCE,
        number=2,
    ),
    ticking(
        "effect",
        "chaos.effect",
        payload={"seconds": 0.2},
        guarantee=Guarantee.EXACTLY_ONCE,
        number=2,
    ),
    ticking("thread", "chaos.thread", 2, payload={"seconds": 0.3}),
    ticking("process", "chaos.process", 2, payload={"seconds": 0.3}),
    ticking("crasher", "chaos.crasher", 20),
    ticking("graph", "graph", 3, payload={}, graph=GRAPH, number=2),
)
# Paused, resumed and edited again and again.
RESTLESS: Final = ticking("restless", "chaos.quick", number=2)
# Not scheduled: its runs are asked for in bulk, and cancelled.
ON_DEMAND: Final = {"on_demand": True}
BY_HAND: Final = (
    Dish(name="bulk", kind="chaos.quick", schedule=ON_DEMAND, number=4),
    Dish(name="graph", kind="graph", schedule=ON_DEMAND, graph=GRAPH),
    Dish(name="long", kind="chaos.slow", schedule=ON_DEMAND, payload={"seconds": 1.0}),
    Dish(
        name="one at a time",
        kind="chaos.slow",
        schedule=ON_DEMAND,
        payload={"seconds": 0.05},
        key="alone",
        most=1,
    ),
    Dish(
        name="three at a time",
        kind="chaos.slow",
        schedule=ON_DEMAND,
        payload={"seconds": 0.2},
        key="few",
        most=3,
    ),
)
