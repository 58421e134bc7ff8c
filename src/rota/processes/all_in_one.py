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
from rota.processes.alert_channels import check_alert_channels
from rota.processes.api import OpenApi, open_api, publish_api
from rota.processes.app_loader import load_handlers
from rota.processes.database import OpenDatabase
from rota.processes.demo.jobs import OutcomePrinter, create_missing_jobs
from rota.processes.event_sources import check_sources, open_sources
from rota.processes.executor_factory import build_executor_factory
from rota.processes.maintenance import build_maintenance_duties
from rota.processes.outbound import open_outbound
from rota.processes.process import ProcessContext, Write, run_process
from rota.processes.schedule_registration import find_unserved_queues, register_schedules
from rota.processes.scheduler import open_scheduler
from rota.processes.shell_user import check_shell_user, find_exposed_keys
from rota.processes.sinks import check_sinks
from rota.processes.worker import open_worker
from rota.runtime.service import Duty, Pulse, ServiceContext, Tier
from rota.store.embedded import Embedded
from rota.store.pool import open_connection, open_pool, read_database_time
from rota.store.roles import DatabaseRole

# How soon the embedded server is restarted if its monitor was killed with it.
CHECK_INTERVAL: Final = timedelta(seconds=2)
STOP_GRACE: Final = timedelta(seconds=5)
DEMO_HANDLERS: Final = "rota.processes.demo.handlers:handlers"


class StartupReport(NamedTuple):
    """What `ready` receives once everything runs; `planted` counts the new example jobs."""

    database: OpenDatabase
    example_jobs: int | None
    api: OpenApi


async def run_all_in_one(
    settings: Settings,
    *,
    demo: bool,
    ready: Callable[[StartupReport], object],
    write: Write,
    say: Write,
    app: str | None = None,
) -> int:
    """Run until stopped, and return the exit code.

    `say` prints messages, such as the runs of the example jobs. `app` is `module:attribute` of the
    app or handlers that the worker serves.
    """
    check_sources(settings)
    check_sinks(settings)
    check_alert_channels(settings)
    check_shell_user(settings)
    served = DEMO_HANDLERS if demo else app
    declared = None if served is None else load_handlers(served).app

    @asynccontextmanager
    async def open_tiers(process: ProcessContext) -> AsyncIterator[list[Tier]]:
        async with (
            open_api(
                settings,
                process.database.access,
                process.context,
                process.meter,
                traces=process.traces,
                endpoints=process.endpoints,
            ) as api,
            open_services(process, app=served, demo=demo, say=say, api_url=api.url) as tiers,
        ):
            if declared is not None:
                await register_schedules(declared, process.database.access, process.context)
            planted = await create_example_jobs(process) if demo else None
            with publish_api(settings, api.url, make_folder=True):
                ready(StartupReport(process.database, planted, api))
                for warning in find_exposed_keys(settings):
                    say(warning)
                for queue in find_unserved_queues(declared, settings.worker.queues):
                    say(f"Jobs of this app use queue {queue!r}, which this worker does not serve")
                # The API stops first; the scheduler and the worker still process what it accepted.
                yield [*api.tiers, *tiers]

    return await run_process(
        settings, name="rota up", open_tiers=open_tiers, write=write, roles=tuple(DatabaseRole)
    )


@asynccontextmanager
async def open_services(
    process: ProcessContext,
    *,
    app: str | None,
    demo: bool,
    say: Callable[[str], object],
    api_url: str | None = None,
) -> AsyncIterator[list[Tier]]:
    """Yield the tiers of scheduler, worker and maintenance, in the order in which they stop."""
    settings, access, context = process.settings, process.database.access, process.context
    make_executors = build_executor_factory(settings, app=app)
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(open_pool(access, size=4))
        worker = await stack.enter_async_context(
            open_worker(
                settings,
                access,
                context,
                make_executors,
                drain=process.stop.drain.set,
                traces=process.traces,
            )
        )
        scheduler = await stack.enter_async_context(
            open_scheduler(
                settings,
                access,
                context,
                wake_worker=worker.signals.wake_claimer,
                traces=process.traces,
            )
        )
        if worker.served_text is not None:
            say(worker.served_text)
        sources = await stack.enter_async_context(open_sources(settings, access, context))
        outbound = await stack.enter_async_context(
            open_outbound(settings, access, context, api_url=api_url)
        )
        duties = build_maintenance_duties(
            settings.retention, pool, context, on_runs_ready=worker.signals.wake_claimer
        )
        if demo:
            outcome_printer = OutcomePrinter(source=pool, say=say, name_prefix="demo: ")
            duties.append(Duty("printing outcomes", outcome_printer.tick, Pulse(), context))
        if process.database.embedded is not None:
            duties.append(build_database_duty(process.database.embedded, context))
        yield [*sources, *outbound, *scheduler, *worker.tiers, Tier(duties, grace=STOP_GRACE)]


async def create_example_jobs(process: ProcessContext) -> int:
    """Create the missing example jobs and return their number."""
    context = process.context
    async with open_connection(process.database.access) as conn:
        now = await read_database_time(conn)
        return await create_missing_jobs(
            conn, now=now, new_id=lambda: build_id(now, context.rng.randbytes(10))
        )


def build_database_duty(embedded: Embedded, context: ServiceContext) -> Duty:
    async def tick() -> float:
        await asyncio.to_thread(embedded.ensure_running)
        return CHECK_INTERVAL.total_seconds()

    # Crash recovery may take minutes, and nothing else waits for this duty.
    return Duty("embedded database", tick, Pulse(), context, limit=timedelta(minutes=10))
