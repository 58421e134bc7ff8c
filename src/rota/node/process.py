"""What every process of Rota does around its tiers: log, signals, database. Room: node."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from random import Random

from rota.config.settings import Settings
from rota.core.events import EngineEvent
from rota.flow.observe.lines import Level
from rota.flow.observe.log import Log
from rota.flow.observe.meter import Meter
from rota.flow.observe.tracing import Traces
from rota.node.database import Database, open_database
from rota.node.traces import open_traces
from rota.runtime.clock import SystemClock
from rota.runtime.collector import relax_collector
from rota.runtime.events import RuntimeEvent
from rota.runtime.service import Ground
from rota.runtime.signals import stop_on_signals
from rota.runtime.stop import Stop
from rota.runtime.tiers import Tier, run_node
from rota.runtime.watchdog import Watchdog

Write = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the services of a process stand."""

    settings: Settings
    database: Database
    ground: Ground
    stop: Stop
    meter: Meter
    traces: Traces | None = None


OpenTiers = Callable[[Place], AbstractAsyncContextManager[list[Tier]]]


async def run_process(settings: Settings, *, name: str, open_tiers: OpenTiers, write: Write) -> int:
    """Open the database, run the tiers until told to stop, and return the exit code."""
    async with open_place(settings, name=name, write=write) as place, open_tiers(place) as tiers:
        ending = await run_node(tiers, place.stop, place.ground)
    return ending.exit_code


@asynccontextmanager
async def open_place(settings: Settings, *, name: str, write: Write) -> AsyncIterator[Place]:
    relax_collector()
    # What handlers log goes to the logs of their attempts; at Python's usual level, little would.
    logging.getLogger().setLevel(logging.INFO)
    clock = SystemClock()
    level = Level[settings.log.level.upper()]
    log = Log(level=level, as_json=settings.log.format == "json", now=clock.now, write=write)
    stop, meter = Stop(), Meter()

    def emit(event: RuntimeEvent | EngineEvent) -> None:
        log(event)
        meter(event)

    with stop_on_signals(stop), Watchdog() as watchdog:
        ground = Ground(clock=clock, emit=emit, chance=Random(), watchdog=watchdog)
        async with (
            open_traces(settings, ground) as traces,
            open_database(settings.database, name=name) as database,
        ):
            yield Place(
                settings=settings,
                database=database,
                ground=ground,
                stop=stop,
                meter=meter,
                traces=traces,
            )
