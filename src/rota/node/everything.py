"""Runs all of Rota in one process, for `rota up`.

It runs the API, a scheduler, a worker and the maintenance duties, on the embedded database or a
server. Other processes can join the same database at any time.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Final, NamedTuple

from rota.config.settings import Settings
from rota.core.ids import build_id
from rota.node.api import Open, open_api, publish_api
from rota.node.database import Database
from rota.node.demo.jobs import plant
from rota.node.demo.telling import Telling
from rota.node.loading import load_served
from rota.node.plugins import executors_of
from rota.node.process import Place, Write, run_process
from rota.node.registering import register_schedules, unserved
from rota.node.scheduler import open_scheduler
from rota.node.shell_user import check_shell_user, find_exposed_keys
from rota.node.sources import check_sources, open_sources
from rota.node.upkeep import upkeep
from rota.node.worker import open_worker
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, ServiceContext
from rota.runtime.tiers import Tier
from rota.store.embedded import Embedded
from rota.store.pool import open_connection, open_pool
from rota.store.roles import DatabaseRole
from rota.store.server_check import read_database_time

# How soon the embedded server is restarted if its monitor was killed with it.
LOOK_AFTER_EVERY: Final = timedelta(seconds=2)
SOON: Final = timedelta(seconds=5)
DEMO: Final = "rota.node.demo.handlers:handlers"


class Up(NamedTuple):
    """What `ready` receives once everything runs; `planted` counts the new example jobs."""

    database: Database
    planted: int | None
    api: Open


async def run_everything(
    settings: Settings,
    *,
    demo: bool,
    ready: Callable[[Up], object],
    write: Write,
    say: Write,
    app: str | None = None,
) -> int:
    """Run until stopped, and return the exit code.

    `say` prints messages, such as the runs of the example jobs. `app` is `module:attribute` of the
    app or handlers that the worker serves.
    """
    check_sources(settings)
    check_shell_user(settings)
    served = DEMO if demo else app
    declared = None if served is None else load_served(served).app

    @asynccontextmanager
    async def open_tiers(process: Place) -> AsyncIterator[list[Tier]]:
        async with (
            open_api(
                settings,
                process.database.access,
                process.ground,
                process.meter,
                traces=process.traces,
            ) as api,
            open_everything(process, app=served, demo=demo, say=say) as tiers,
        ):
            if declared is not None:
                await register_schedules(declared, process.database.access, process.ground)
            planted = await plant_demo(process) if demo else None
            with publish_api(settings, api.url, make_folder=True):
                ready(Up(process.database, planted, api))
                for warning in find_exposed_keys(settings):
                    say(warning)
                for queue in unserved(declared, settings.worker.queues):
                    say(f"Jobs of this app use queue {queue!r}, which this worker does not serve")
                # The API stops first; the scheduler and the worker still process what it accepted.
                yield [*api.tiers, *tiers]

    return await run_process(
        settings, name="rota up", open_tiers=open_tiers, write=write, roles=tuple(DatabaseRole)
    )


@asynccontextmanager
async def open_everything(
    place: Place, *, app: str | None, demo: bool, say: Callable[[str], object]
) -> AsyncIterator[list[Tier]]:
    """Yield the tiers of scheduler, worker and maintenance, in the order in which they stop."""
    settings, access, context = place.settings, place.database.access, place.ground
    make_executors = executors_of(settings, app=app)
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(open_pool(access, size=4))
        worker = await stack.enter_async_context(
            open_worker(
                settings,
                access,
                context,
                make_executors,
                drain=place.stop.drain.set,
                traces=place.traces,
            )
        )
        scheduler = await stack.enter_async_context(
            open_scheduler(
                settings,
                access,
                context,
                fired=lambda _queue_ids: worker.woken(),
                traces=place.traces,
            )
        )
        if worker.serves is not None:
            say(worker.serves)
        sources = await stack.enter_async_context(open_sources(settings, access, context))
        duties = upkeep(settings.retention, pool, context, freed=worker.woken)
        if demo:
            outcome_printer = Telling(source=pool, say=say, name_begins="demo: ")
            duties.append(Duty("printing outcomes", outcome_printer.tick, Pulse(), context))
        if place.database.embedded is not None:
            duties.append(looking_after(place.database.embedded, context))
        yield [*sources, *scheduler, *worker.tiers, Tier(duties, grace=SOON)]


async def plant_demo(place: Place) -> int:
    """Create the missing example jobs and return their number."""
    context = place.ground
    async with open_connection(place.database.access) as conn:
        now = await read_database_time(conn)
        return await plant(conn, now=now, new_id=lambda: build_id(now, context.rng.randbytes(10)))


def looking_after(embedded: Embedded, ground: ServiceContext) -> Duty:
    async def tick() -> float:
        await asyncio.to_thread(embedded.ensure_running)
        return LOOK_AFTER_EVERY.total_seconds()

    # Crash recovery may take minutes, and nothing else waits for this duty.
    return Duty("embedded database", tick, Pulse(), ground, limit=timedelta(minutes=10))
