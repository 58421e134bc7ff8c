"""Schedulers of the storm: they take shards, read what is due, freeze, and fire.

Their clocks are wrong by up to 200 ms, they are frozen between reading and firing, they repeat a
batch as one does whose answer was lost, and they are killed in the middle of a statement.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID, uuid4

from rota.core.ids import derive_tick_run_id
from rota.store import cursors, sessions
from rota.store.cursors import DueTick, ShardOwnership, TickFiring
from rota.store.driver import Connection
from tests.chaos.storm.ledger import Lease, nanoseconds
from tests.chaos.storm.sea import EVERY, SHARD_TTL, SHARDS, Sea

BATCH = 200


@dataclass(kw_only=True)
class Scheduler:
    sea: Sea
    owner: UUID = field(default_factory=uuid4)
    leases: dict[int, Lease] = field(default_factory=dict)

    async def live(self) -> None:
        """One life, until the end or until it is killed. Nobody restarts with an old name."""
        ledger = self.sea.ledger
        skew = timedelta(seconds=ledger.chance.uniform(-0.2, 0.2))
        async with self.sea.opened() as conn:
            while not self.sea.is_over:
                await self._hold(conn)
                if self.sea.happens(0.05):
                    await ledger.pause(3 * SHARD_TTL.total_seconds())
                due = await cursors.read_due(
                    conn, shards=list(self.leases), before=ledger.wall() + skew, limit=BATCH
                )
                if self.sea.happens(0.1):
                    await ledger.pause(3 * SHARD_TTL.total_seconds())
                if due:
                    await self._fire(conn, due)
                await ledger.pause(0.02)

    async def _hold(self, conn: Connection) -> None:
        ledger = self.sea.ledger
        sent = ledger.now()
        held = await sessions.hold_shards(conn, owner=self.owner, shards=SHARDS, ttl=SHARD_TTL)
        for shard, epoch in held.items():
            known = self.leases.get(shard)
            if known is not None and known.token == epoch:
                known.until = sent + nanoseconds(SHARD_TTL)
            else:
                self.leases[shard] = ledger.grant(f"shard {shard}", epoch, sent=sent, ttl=SHARD_TTL)
        if self.sea.happens(0.02):
            await self._release(conn)

    async def _release(self, conn: Connection) -> None:
        chosen = list(self.leases)[:2]
        sent = self.sea.ledger.now()
        for shard in chosen:
            lease = self.leases.pop(shard)
            lease.until = min(lease.until, sent)
        await sessions.release_shards(conn, owner=self.owner, shards=chosen)

    async def _fire(self, conn: Connection, due: list[DueTick]) -> None:
        ledger = self.sea.ledger
        firings = {derive_tick_run_id(each.job_id, each.tick_at): firing(each) for each in due}
        ownership = ShardOwnership(
            owner=self.owner, epochs={shard: lease.token for shard, lease in self.leases.items()}
        )
        for _ in range(2 if self.sea.happens(0.2) else 1):
            sent = ledger.now()
            decided = await cursors.fire_ticks(conn, ownership, list(firings.values()))
            ledger.count("ticks", len(decided))
            ledger.count("ticks refused", len(firings) - len(decided))
            for each in decided:
                shard = firings[each.run_id].due.shard
                ledger.used(f"shard {shard}", ownership.epochs[shard], sent=sent)
            # What came back may run and end before the same batch is sent again.
            await ledger.pause(0.05)


def firing(due: DueTick) -> TickFiring:
    return TickFiring(
        due=due,
        run_id=derive_tick_run_id(due.job_id, due.tick_at),
        next_tick_at=due.tick_at + EVERY,
        next_fire_at=due.tick_at + EVERY,
    )
