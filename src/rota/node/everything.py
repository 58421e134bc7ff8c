"""All of Rota in one process, for one machine: `rota up`. Room: node.

So far the database and its upkeep; schedulers, workers and the API join the list of tiers as they
are built.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from random import Random

from rota.config.settings import Settings
from rota.flow.observe.lines import Level
from rota.flow.observe.log import Log
from rota.flow.record.keeping_days import KeepingDays
from rota.node.database import Database, open_database
from rota.runtime.clock import SystemClock
from rota.runtime.collector import relax_collector
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, Ground
from rota.runtime.signals import stop_on_signals
from rota.runtime.stop import Stop
from rota.runtime.tiers import Tier, run_node
from rota.runtime.watchdog import Watchdog
from rota.store.driver import Pool
from rota.store.embedded import Embedded
from rota.store.pool import open_pool

# How soon the embedded server comes back when its keeper was killed with it.
LOOK_AFTER_EVERY = timedelta(seconds=2)


async def run_everything(
    settings: Settings, *, ready: Callable[[Database], object], write: Callable[[str], object]
) -> int:
    """Run until told to stop, and return the exit code. `ready` is called once all is up."""
    relax_collector()
    clock = SystemClock()
    level = Level[settings.log.level.upper()]
    log = Log(level=level, as_json=settings.log.format == "json", now=clock.now, write=write)
    stop = Stop()
    with stop_on_signals(stop), Watchdog() as watchdog:
        ground = Ground(clock=clock, emit=log, chance=Random(), watchdog=watchdog)
        async with (
            open_database(settings.database, name="rota up") as database,
            open_pool(database.access, size=settings.database.pool_max) as pool,
        ):
            ready(database)
            ending = await run_node(tiers(settings, database, pool, ground), stop, ground)
    return ending.exit_code


def tiers(settings: Settings, database: Database, pool: Pool, ground: Ground) -> list[Tier]:
    """What runs, in the order it lets go."""
    days = KeepingDays(
        pool=pool, ahead=settings.retention.partitions_ahead, keep=settings.retention.runs
    )
    upkeep = Duty("keeping days", days.tick, Pulse(), ground)
    services = [upkeep]
    if database.embedded is not None:
        services.append(looking_after(database.embedded, ground))
    return [Tier(services, grace=timedelta(seconds=5))]


def looking_after(embedded: Embedded, ground: Ground) -> Duty:
    async def tick() -> float:
        await asyncio.to_thread(embedded.ensure)
        return LOOK_AFTER_EVERY.total_seconds()

    # Recovery after a crash may take minutes, and nothing else waits for this duty.
    return Duty("embedded database", tick, Pulse(), ground, limit=timedelta(minutes=10))
