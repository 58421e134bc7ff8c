"""Measures how many finished runs the event relay reads, and how long its passes take.

One run in a hundred has failed. The consumer counts events and writes nothing. Measured twice: with
a consumer that asks only for failures, as alerts do for healthy jobs, and with one that asks for
every success. First the relay catches up with a backlog; then another connection ends 20,000 runs
per second while the relay does its passes.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from rota.core.ids import rebuild_ids
from rota.core.outgoing_events import OutgoingEvent, RelayInterests
from rota.engine.relay.relay import Relay
from rota.store import interning
from rota.store.driver import Connection
from rota.store.pool import open_pool
from rota_bench import database
from rota_bench.errors import BenchFailed
from rota_bench.handlers import NOOP
from rota_bench.measures import compute_spread
from rota_bench.trial import Trial
from rota_bench.workload import WorkloadWriter

RUNS_PER_S: Final = 20_000
# Runs that end in one transaction, as a worker records them.
ENDED_PER_COMMIT: Final = 500
FAILED_ONE_IN: Final = 100


class CountingConsumer:
    """Counts events. `succeeded_tenants` are those whose successes it asks for."""

    name = "bench"

    def __init__(self, succeeded_tenants: frozenset[int]) -> None:
        self.count = 0
        self._interests = RelayInterests(succeeded_tenants=succeeded_tenants)

    async def read_interests(self, _conn: Connection, /) -> RelayInterests:
        return self._interests

    async def consume(
        self, _conn: Connection, events: Sequence[OutgoingEvent], /, *, now: datetime
    ) -> None:
        del now
        self.count += len(events)


async def measure_relay(trial: Trial) -> dict[str, float]:
    """Measure both consumers, each with a backlog and with runs that end meanwhile."""
    figures: dict[str, float] = {}
    async with (
        trial.open_writer(NOOP) as to,
        open_pool(trial.access, size=2) as pool,
    ):
        tenant_id = (await interning.find_tenant_ids(to.conn, [to.tenant]))[to.tenant]
        for key, tenants in (
            ("failures", frozenset[int]()),
            ("everything", frozenset({tenant_id})),
        ):
            consumer = CountingConsumer(tenants)
            relay = Relay(
                source=pool,
                consumers=[consumer],
                clock=trial.clock,
                emit=lambda _: None,
                owner=to.new_id(),
                holder="bench",
            )
            # Runs that ended in the seconds before are read by a relay that begins.
            await read_backlog(trial, relay)
            for figure in (measure_backlog, measure_passes):
                before = consumer.count
                figures |= await figure(trial, relay, to, tenant_id, key)
                check_count(
                    consumer.count - before, trial.sizes.relayed, asks_for_all=bool(tenants)
                )
            await relay.release()
    return figures


async def measure_backlog(
    trial: Trial, relay: Relay, to: WorkloadWriter, tenant_id: int, key: str
) -> dict[str, float]:
    """Measure how fast the relay reads runs that have ended already."""
    number = trial.sizes.relayed
    await end_runs(to, tenant_id, number)
    return {f"relay_runs_per_s.{key}": number / await read_backlog(trial, relay)}


async def measure_passes(
    trial: Trial, relay: Relay, to: WorkloadWriter, tenant_id: int, key: str
) -> dict[str, float]:
    """Measure the passes of the relay while runs end, and until all were read."""
    times: list[float] = []
    ending = asyncio.create_task(end_runs(to, tenant_id, trial.sizes.relayed, per_s=RUNS_PER_S))
    is_last = False
    while not is_last:
        is_last = ending.done()
        began = trial.clock.monotonic()
        rest = await relay.tick()
        times.append(1000 * (trial.clock.monotonic() - began))
        is_last = is_last and rest > 0
        await trial.clock.sleep(rest)
    await ending
    return compute_spread(f"relay_pass_ms.{key}", times)


async def end_runs(to: WorkloadWriter, tenant_id: int, number: int, *, per_s: int = 0) -> None:
    """Insert finished runs, in transactions of 500; at a steady rate, or as fast as possible."""
    queue_id = await interning.intern_queue(to.conn, "default")
    policy_id = await interning.intern_policy(to.conn, "{}")
    owners: list[UUID] = [
        to.owners[each % len(to.owners)] for each in range(min(number, ENDED_PER_COMMIT))
    ]
    start = to.clock.monotonic()
    for ended in range(0, number, ENDED_PER_COMMIT):
        if per_s and (rest := start + ended / per_s - to.clock.monotonic()) > 0:
            await to.clock.sleep(rest)
        ids = rebuild_ids(to.new_id(), [to.clock.now()] * len(owners))
        await database.ADD_ENDED_RUNS.one(
            to.conn,
            ids=ids,
            job_ids=owners,
            tenant_id=tenant_id,
            queue_id=queue_id,
            kind_id=to.kind_id,
            policy_id=policy_id,
        )


async def read_backlog(trial: Trial, relay: Relay) -> float:
    """Return the seconds until the relay has read everything."""
    start = trial.clock.monotonic()
    while await relay.tick() == 0:
        continue
    return trial.clock.monotonic() - start


def check_count(events: int, runs: int, *, asks_for_all: bool) -> None:
    wanted = runs if asks_for_all else runs // FAILED_ONE_IN
    if events != wanted:
        raise BenchFailed(
            who="relay", reason=f"handed over {events:,} events instead of {wanted:,}"
        )
