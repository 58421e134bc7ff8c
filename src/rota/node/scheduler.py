"""A scheduler process: holds shards and fires what is due in them. Room: node.

The tiers let go in this order: first nothing more is read or fired, then the last hints are given,
and only then do the shards go back, so that another scheduler takes them at once.
"""

import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple

from rota.config.settings import Scheduler, Settings
from rota.core.ids import stamped
from rota.core.lease import Lease
from rota.flow.dispatch.hinting import Hinting, Listening
from rota.flow.observe.tracing import Traces
from rota.flow.schedule.agenda import Agenda
from rota.flow.schedule.firing import Fired, FiringDue, Traced
from rota.flow.schedule.leasing import LastLease, Leasing
from rota.flow.schedule.minding_calendars import MindingCalendars
from rota.flow.schedule.reading import Reading
from rota.flow.schedule.rulebook import Rulebook
from rota.flow.schedule.tenure import Tenure
from rota.node.clock import open_clock_monitor
from rota.node.process import Place, Write, run_process
from rota.node.sources import check_sources, open_sources
from rota.node.upkeep import upkeep
from rota.runtime.offset import Offset
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, Ground
from rota.runtime.tiers import Tier
from rota.store import hints
from rota.store.pool import Access, Line, open_pool
from rota.store.roles import DatabaseRole

SOON: Final = timedelta(seconds=5)
# Connections for the upkeep, which any node may do and none must.
UPKEEP: Final = 2


class Lines(NamedTuple):
    """Connections that one duty each keeps for itself. Two fire: each has half of the shards."""

    leases: Line
    reads: Line
    even_fires: Line
    odd_fires: Line
    hints: Line
    ears: Line
    calendars: Line


@dataclass(frozen=True, slots=True)
class Parts:
    """What the duties of a scheduler share."""

    lines: Lines
    tenure: Tenure
    offset: Offset
    agendas: tuple[Agenda, ...]
    wakes: tuple[Pulse, ...]
    fired: Fired | None
    traced: Traced | None


async def run_scheduler(settings: Settings, *, ready: Callable[[str], object], write: Write) -> int:
    """A process that is a scheduler and nothing else; `ready` is told once it is up."""
    check_sources(settings)

    @asynccontextmanager
    async def open_tiers(place: Place) -> AsyncIterator[list[Tier]]:
        access, ground = place.database.access, place.ground
        async with (
            open_clock_monitor(access, ground) as clocks,
            open_pool(access, size=UPKEEP) as pool,
            open_scheduler(settings, access, ground, traces=place.traces) as opened,
            open_sources(settings, access, ground) as sources,
        ):
            # Workers find by polling what a rescue has freed.
            duties = upkeep(settings.retention, pool, ground, freed=lambda: None)
            ready("scheduler ready")
            yield [*sources, *opened, Tier(duties, grace=SOON), clocks.tier]

    return await run_process(
        settings,
        name="rota scheduler",
        open_tiers=open_tiers,
        write=write,
        roles=(DatabaseRole.SERVICE,),
    )


@asynccontextmanager
async def open_scheduler(
    settings: Settings,
    access: Access,
    ground: Ground,
    *,
    fired: Fired | None = None,
    traces: Traces | None = None,
) -> AsyncIterator[list[Tier]]:
    """Yield what a scheduler runs. `fired` is called before other processes hear that runs wait,
    for a process that also has a worker.
    """
    async with AsyncExitStack() as stack:
        lines = Lines(
            leases=Line(access),
            reads=Line(access, hot=True),
            even_fires=Line(access, hot=True),
            odd_fires=Line(access, hot=True),
            hints=Line(access),
            ears=Line(access),
            calendars=Line(access),
        )
        for line in lines:
            stack.callback(line.close)
        wakes = (Pulse(), Pulse())
        rulebook = Rulebook()
        parts = Parts(
            lines=lines,
            tenure=Tenure(lease=lease_of(settings.scheduler)),
            offset=ground.database_clock.offset,
            agendas=tuple(Agenda(rulebook=rulebook, wake=pulse.wake) for pulse in wakes),
            wakes=wakes,
            fired=fired,
            traced=None if traces is None else traces.fired,
        )
        yield scheduler_tiers(settings.scheduler, ground, parts)


def scheduler_tiers(settings: Scheduler, ground: Ground, parts: Parts) -> list[Tier]:
    """What a scheduler runs, in the order it lets go."""
    lines = parts.lines
    reading_pulse, hinting_pulse, calendars_pulse = Pulse(), Pulse(), Pulse()
    hinting = Hinting(line=lines.hints, pulse=hinting_pulse)

    def fired(queue_ids: frozenset[int]) -> None:
        if parts.fired is not None:
            parts.fired(queue_ids)
        hinting.hint(hints.RUNS)

    reading = Reading(
        source=lines.reads,
        tenure=parts.tenure,
        offset=parts.offset,
        agendas=parts.agendas,
        look_ahead=settings.look_ahead,
        clock=ground.clock,
        pulse=reading_pulse,
        emit=ground.emit,
    )
    # The agendas have one rulebook.
    minding = MindingCalendars(source=lines.calendars, rulebook=parts.agendas[0].rulebook)

    def jobs_changed() -> None:
        reading.hurry()
        calendars_pulse.wake()

    listening = Listening(line=lines.ears, wakes={hints.JOBS: jobs_changed})
    return [
        Tier(
            [
                *firing(settings, ground, parts, fired),
                Duty("reading", reading.tick, reading_pulse, ground),
                Duty("listening", listening.tick, Pulse(), ground),
                Duty("minding calendars", minding.tick, calendars_pulse, ground),
            ],
            grace=SOON,
        ),
        Tier([Duty("hinting", hinting.tick, hinting_pulse, ground)], grace=SOON),
        Tier([leasing(ground, parts, reading_pulse)], grace=SOON),
    ]


def firing(settings: Scheduler, ground: Ground, parts: Parts, fired: Fired) -> list[Duty]:
    lines = (parts.lines.even_fires, parts.lines.odd_fires)
    duties = []
    for name, line, agenda, wake in zip(
        ("even", "odd"), lines, parts.agendas, parts.wakes, strict=True
    ):
        due = FiringDue(
            source=line,
            tenure=parts.tenure,
            offset=parts.offset,
            agenda=agenda,
            batch=settings.batch,
            clock=ground.clock,
            fired=fired,
            emit=ground.emit,
            traced=parts.traced,
        )
        duties.append(Duty(f"firing {name} shards", due.tick, wake, ground))
    return duties


def leasing(ground: Ground, parts: Parts, reading_pulse: Pulse) -> LastLease:
    duty = Leasing(
        source=parts.lines.leases,
        tenure=parts.tenure,
        offset=parts.offset,
        clock=ground.clock,
        name=f"{socket.gethostname()}:{os.getpid()}",
        new_id=lambda: stamped(ground.database_clock.now(), ground.chance.randbytes(10)),
        emit=ground.emit,
        moved=reading_pulse.wake,
    )
    return LastLease(duty=Duty("leasing", duty.tick, Pulse(), ground), leasing=duty)


def lease_of(settings: Scheduler) -> Lease:
    return Lease(
        ttl=settings.lease, renew_every=settings.renew_every, stop_after=settings.stop_after
    )
