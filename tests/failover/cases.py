"""Ways in which a cluster gets another leader, under load, and how soon Rota is back."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.faults.client import TICK_KIND
from tests.faults.figures import NANO, Figures, measure_resumption, measure_trial
from tests.faults.trial import Load, Trial
from tests.support.patroni import TTL_S, PatroniCluster, PatroniNode, running_patroni
from tests.support.sink import read_marks

# Patroni needs the time to live of the leader key, and a little more on a busy machine.
NEW_LEADER_S: Final = 2 * TTL_S + 20.0
# How long the old leader stays frozen after there is a new one, if Rota does not come back.
STAYS_FROZEN_S: Final = 30.0
LOOK_S: Final = 0.5

Depose = Callable[[PatroniCluster, PatroniNode], Awaitable[object]]


async def switch_over(cluster: PatroniCluster, leader: PatroniNode) -> None:
    await asyncio.to_thread(cluster.switch_over, leader)


async def kill_leader(_cluster: PatroniCluster, leader: PatroniNode) -> None:
    assert leader.tree is not None
    await asyncio.to_thread(leader.tree.kill)


async def freeze_leader(_cluster: PatroniCluster, leader: PatroniNode) -> None:
    """Patroni and PostgreSQL: the kernel still takes connections, and nobody answers."""
    assert leader.tree is not None
    leader.tree.freeze()


CASES: Final[dict[str, Depose]] = {
    "switchover": switch_over,
    "kill": kill_leader,
    "freeze": freeze_leader,
}


@dataclass(kw_only=True)
class Failover:
    """One change of the leader, seen by a trial."""

    depose: Depose
    cluster: PatroniCluster
    leader_at: float = 0.0

    async def strike(self, trial: Trial) -> None:
        """Depose the leader; the fault is over when another node takes writes."""
        leader = await asyncio.to_thread(self.cluster.find_leader)
        successor = self.cluster.other_node(leader)
        # A switchover is answered when it is done; the new leader is there before.
        deposing = asyncio.ensure_future(self.depose(self.cluster, leader))
        self.leader_at = await asyncio.to_thread(
            self.cluster.wait_for_leader, successor, within=NEW_LEADER_S
        )
        await deposing
        trial.say(f"{successor.name} is leader {self.leader_at - trial.struck_at:.1f} s later")
        trial.over_at = self.leader_at
        trial.direct_url = successor.url
        await self._wait_until_back(trial)
        if self.depose is freeze_leader and leader.tree is not None:
            trial.say("the old leader is thawed")
            leader.tree.thaw()

    async def _wait_until_back(self, trial: Trial) -> None:
        """Until everything is back or is late: the old leader must have no part in it."""
        deadline = self.leader_at + STAYS_FROZEN_S
        while trial.clock.monotonic() < deadline and not self._is_back(trial):
            await trial.clock.sleep(LOOK_S)

    def _is_back(self, trial: Trial) -> bool:
        """Whether something was acknowledged, a tick fired and another run started since."""
        if trial.client.acknowledged[-1].at <= self.leader_at:
            return False
        marks = read_marks(trial.fleet.sink)
        since = [each for each in marks if each.at / NANO > self.leader_at]
        ticks = {each.kind == TICK_KIND for each in since if each.event == "start"}
        return ticks == {True, False}


async def carry_out(
    name: str, folder: Path, *, load: Load, say: Callable[[str], object]
) -> Figures:
    """Run Rota on a cluster and depose its leader; the figures have `new_leader` and `back`."""
    with running_patroni() as cluster:
        trial = Trial(
            folder=folder,
            url=cluster.url,
            direct_url=cluster.nodes[0].url,
            load=load,
            say=say,
        )
        failover = Failover(depose=CASES[name], cluster=cluster)
        await trial.run(failover.strike)
        back: dict[str, Any] = measure_resumption(trial, failover.leader_at)
        return measure_trial(
            trial, new_leader=round(failover.leader_at - trial.struck_at, 1), back=back
        )
