"""All of Rota in one process, for one machine: `rota up`. Room: node.

The API, a scheduler, a worker and the upkeep around them, on the embedded database or on a server.
Other processes may join on the same database at any time: nothing here assumes to be alone.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Final, NamedTuple

from rota.config.settings import Settings
from rota.core.ids import stamped
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
from rota.runtime.service import Duty, Ground
from rota.runtime.tiers import Tier
from rota.store.embedded import Embedded
from rota.store.fitness import database_time
from rota.store.pool import open_connection, open_pool
from rota.store.roles import DatabaseRole

# How soon the embedded server comes back when its keeper was killed with it.
LOOK_AFTER_EVERY: Final = timedelta(seconds=2)
SOON: Final = timedelta(seconds=5)
DEMO: Final = "rota.node.demo.handlers:handlers"


class Up(NamedTuple):
    """What is told once all is up; `planted` counts the example jobs that were written."""

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
    """Run until told to stop, and return the exit code. `say` hears of the example jobs' runs;
    `app` is `module:attribute` of what the worker serves.
    """
    check_sources(settings)
    check_shell_user(settings)
    served = DEMO if demo else app
    declared = None if served is None else load_served(served).app

    @asynccontextmanager
    async def opening(place: Place) -> AsyncIterator[list[Tier]]:
        async with (
            open_api(
                settings, place.database.access, place.ground, place.meter, traces=place.traces
            ) as api,
            open_everything(place, app=served, demo=demo, say=say) as tiers,
        ):
            if declared is not None:
                await register_schedules(declared, place.database.access, place.ground)
            planted = await plant_demo(place) if demo else None
            with publish_api(settings, api.url, make_folder=True):
                ready(Up(place.database, planted, api))
                for warning in find_exposed_keys(settings):
                    say(warning)
                for queue in unserved(declared, settings.worker.queues):
                    say(f"jobs of this app wait in {queue!r}, which this worker does not serve")
                # The API lets go first: what it accepted is still fired and run for a moment.
                yield [*api.tiers, *tiers]

    return await run_process(
        settings, name="rota up", open_tiers=opening, write=write, roles=tuple(DatabaseRole)
    )


@asynccontextmanager
async def open_everything(
    place: Place, *, app: str | None, demo: bool, say: Callable[[str], object]
) -> AsyncIterator[list[Tier]]:
    """What runs, in the order it lets go."""
    settings, access, ground = place.settings, place.database.access, place.ground
    make_executors = executors_of(settings, app=app)
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(open_pool(access, size=4))
        worker = await stack.enter_async_context(
            open_worker(
                settings,
                access,
                ground,
                make_executors,
                drain=place.stop.drain.set,
                traces=place.traces,
            )
        )
        scheduler = await stack.enter_async_context(
            open_scheduler(
                settings,
                access,
                ground,
                fired=lambda _queue_ids: worker.woken(),
                traces=place.traces,
            )
        )
        if worker.serves is not None:
            say(worker.serves)
        sources = await stack.enter_async_context(open_sources(settings, access, ground))
        duties = upkeep(settings.retention, pool, ground, freed=worker.woken)
        if demo:
            telling = Telling(source=pool, say=say, name_begins="demo: ")
            duties.append(Duty("telling", telling.tick, Pulse(), ground))
        if place.database.embedded is not None:
            duties.append(looking_after(place.database.embedded, ground))
        yield [*sources, *scheduler, *worker.tiers, Tier(duties, grace=SOON)]


async def plant_demo(place: Place) -> int:
    """Write the example jobs that are not there yet."""
    ground = place.ground
    async with open_connection(place.database.access) as conn:
        now = await database_time(conn)
        return await plant(conn, now=now, new_id=lambda: stamped(now, ground.chance.randbytes(10)))


def looking_after(embedded: Embedded, ground: Ground) -> Duty:
    async def tick() -> float:
        await asyncio.to_thread(embedded.ensure)
        return LOOK_AFTER_EVERY.total_seconds()

    # Recovery after a crash may take minutes, and nothing else waits for this duty.
    return Duty("embedded database", tick, Pulse(), ground, limit=timedelta(minutes=10))
