"""A worker process: claims runs, carries them out, records them. Room: node.

The tiers let go in this order: first no more claims, then what runs may end, then the last endings
are stored, and only then does the heartbeat stop vouching for them.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple

from rota.config.settings import Settings
from rota.core.attempt import Stopping
from rota.core.lease import Lease, LeaseTrust
from rota.flow.dispatch.claiming import Claiming, QueueView
from rota.flow.dispatch.hinting import Hinting, Listening
from rota.flow.dispatch.limiting import Limiting
from rota.flow.dispatch.served import TenantScope
from rota.flow.execute.attempt import Attempt
from rota.flow.execute.briefing import Briefing
from rota.flow.execute.crew import Calls, Crew, Kit
from rota.flow.execute.effects import StageEffects
from rota.flow.execute.executing import Executing
from rota.flow.execute.overseeing import Overseeing
from rota.flow.execute.vouching import Vouching
from rota.flow.graphs.advancing import Advancing
from rota.flow.observe.tracing import Traces
from rota.flow.record.noting import LastNotes, Noting
from rota.flow.record.recording import LastRecords, Recording
from rota.flow.record.rescuing import Rescuing
from rota.node.breaking import breakers_of
from rota.node.clock import open_clock_monitor
from rota.node.keyfiles import opening_key
from rota.node.loading import load_served
from rota.node.plugins import MakeExecutors, executors_of
from rota.node.process import Place, Write, run_process
from rota.node.registering import register_schedules, unserved
from rota.node.shell_user import check_shell_user, find_exposed_keys
from rota.node.worker_session import Member, describe_served, leave, register
from rota.runtime.offset import Offset
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, Ground
from rota.runtime.tiers import Tier
from rota.store import hints
from rota.store.driver import Pool
from rota.store.pool import Access, Line, open_pool
from rota.store.roles import DatabaseRole
from rota.store.sessions import Beat

SOON: Final = timedelta(seconds=5)
# What is due so soon is claimed already; the scheduler decides it no earlier (flow/schedule).
AHEAD: Final = timedelta(milliseconds=12)
# What follows the drain: the grace of handlers that are cancelled, and their clean-up.
AFTER_DRAIN: Final = timedelta(minutes=11)


class Lines(NamedTuple):
    """Connections that one duty each keeps for itself."""

    claims: Line
    records: Line
    advances: Line
    hints: Line
    ears: Line


class OpenWorker(NamedTuple):
    """What a worker runs, and whom to tell that runs wait."""

    tiers: list[Tier]
    woken: Callable[[], None]
    # Whose runs it takes, in words; None while there is one tenant.
    serves: str | None = None


@dataclass(slots=True)
class Wakes:
    """The pulses of a worker, and who rings them."""

    claiming: Pulse
    recording: Pulse
    advancing: Pulse
    hinting: Pulse

    freed: list[Callable[[], None]] = field(default_factory=list)
    lacks_room: Callable[[], bool] = lambda: True
    made: Callable[[], object] = lambda: None

    def changed(self) -> None:
        if self.lacks_room():
            self.claiming.wake()
        self.recording.wake()

    def gates_freed(self) -> None:
        for tell in self.freed:
            tell()
        self.claiming.wake()


async def run_worker(
    settings: Settings, *, app: str | None, ready: Callable[[str], object], write: Write
) -> int:
    """A process that is a worker and nothing else; `ready` is told what it serves."""
    check_shell_user(settings)
    make_executors = executors_of(settings, app=app)
    declared = None if app is None else load_served(app).app

    @asynccontextmanager
    async def opening(place: Place) -> AsyncIterator[list[Tier]]:
        if declared is not None:
            await register_schedules(declared, place.database.access, place.ground)
        async with (
            open_clock_monitor(place.database.access, place.ground) as clocks,
            open_worker(
                settings,
                place.database.access,
                place.ground,
                make_executors,
                drain=place.stop.drain.set,
                traces=place.traces,
            ) as opened,
        ):
            queues = ", ".join(settings.worker.queues)
            ready(f"worker ready: {settings.worker.slots} slots for {queues}")
            if opened.serves is not None:
                ready(opened.serves)
            for warning in find_exposed_keys(settings):
                ready(warning)
            for queue in unserved(declared, settings.worker.queues):
                ready(f"jobs of this app wait in {queue!r}, which this worker does not serve")
            yield [*opened.tiers, clocks.tier]

    return await run_process(
        settings,
        name="rota worker",
        open_tiers=opening,
        write=write,
        roles=(DatabaseRole.WORKER,),
    )


@asynccontextmanager
async def open_worker(
    settings: Settings,
    access: Access,
    ground: Ground,
    make_executors: MakeExecutors,
    *,
    drain: Callable[[], object],
    traces: Traces | None = None,
) -> AsyncIterator[OpenWorker]:
    """Register the worker and yield what it runs; end its session when the block is left."""
    async with AsyncExitStack() as stack:
        executors = make_executors()
        member = await register(settings, access, ground, executors)
        stack.push_async_callback(leave, access, member.session_id)
        lines = Lines(*(Line(access, hot=True) for _ in Lines._fields))
        for line in lines:
            stack.callback(line.close)
        pool = await stack.enter_async_context(open_pool(access, size=2))
        wakes = Wakes(Pulse(), Pulse(), Pulse(), Pulse())
        advancing = Advancing(
            source=lines.advances,
            made=lambda: wakes.made(),  # noqa: PLW0108 — it is known only once the tiers are
            freed=wakes.gates_freed,
            wake=wakes.advancing.wake,
            monotonic=ground.clock.monotonic,
            emit=ground.emit,
        )
        look = partial(asyncio.get_running_loop().call_soon_threadsafe, advancing.look)
        offset, breakers = ground.database_clock.offset, breakers_of(settings, ground)
        trust = LeaseTrust(lease=lease_of(settings))
        trace = None if traces is None else partial(traces.attempt, queue=only(settings))
        # The first stage takes the executors that told us their kinds.
        ready = [executors]

        def make_kit(noted: Callable[[Attempt], None]) -> Kit:
            effects = StageEffects(
                access,
                session_id=member.session_id,
                now=ground.database_clock.now,
                noted=noted,
                handed_out=look,
                master=partial(opening_key, settings),
            )
            made = ready.pop() if ready else make_executors()
            return Kit(
                executors=made,
                effects=effects,
                trust=trust,
                breakers=breakers,
                trace=trace,
                stops_all_for_lease=settings.worker.on_database_outage == "stop",
            )

        crew = Crew(
            slots=settings.worker.slots,
            kinds=member.kinds,
            make_kit=make_kit,
            briefing=Briefing(lines.claims),
            calls=Calls(wakes.changed, wakes.gates_freed, offset.reached),
            emit=ground.emit,
        )
        stack.push_async_callback(crew.close)
        parts = Parts(member, crew, wakes, lines, pool, drain, offset, trust, advancing)
        yield open_tiers(settings, access, ground, parts)


@dataclass(frozen=True, slots=True)
class Parts:
    member: Member
    crew: Crew
    wakes: Wakes
    lines: Lines
    pool: Pool
    drain: Callable[[], object]
    offset: Offset
    trust: LeaseTrust
    advancing: Advancing


def open_tiers(settings: Settings, access: Access, ground: Ground, parts: Parts) -> OpenWorker:
    """What a worker runs, in the order it lets go."""
    member, crew, wakes = parts.member, parts.crew, parts.wakes
    lines, advancing = parts.lines, parts.advancing
    hinting = Hinting(line=lines.hints, pulse=wakes.hinting)
    claiming = Claiming(
        source=lines.claims,
        queues=[QueueView(queue_id=queue_id) for queue_id in member.queue_ids],
        limits=Limiting(
            session_id=member.session_id,
            queue_ids=member.queue_ids,
            kind_ids=tuple(member.kinds),
            clock=ground.clock,
            ahead=AHEAD,
            scope=TenantScope(served=member.served, queues=member.queues),
        ),
        free=lambda: crew.free,
        begin=crew.begin,
        begin_gated=partial(crew.begin, gated=True),
        held_runs=crew.held_runs,
        clock=ground.clock,
        offset=parts.offset,
    )
    wakes.freed.append(claiming.gates_freed)
    wakes.lacks_room = lambda: claiming.is_full
    vouching = Vouching(
        access=access,
        session_id=member.session_id,
        attempts=crew,
        trust=parts.trust,
        heed=lambda beat: heed(beat, crew, parts.drain),
        end=os._exit,
        emit=ground.emit,
    )

    def woken() -> None:
        claiming.woken()
        wakes.claiming.wake()

    def made() -> None:
        woken()
        hinting.hint(hints.RUNS)

    def cancels() -> None:
        vouching.hurry()
        advancing.look()

    def rescued() -> None:
        hinting.hint(hints.RUNS)
        advancing.look()

    wakes.made = made
    listening = Listening(
        line=lines.ears,
        wakes={hints.RUNS: woken, hints.CANCELS: cancels, hints.MARKS: advancing.look},
    )
    overseeing = Overseeing(crew=crew, clock=ground.clock, limit=settings.worker.blocked_after)
    rescuing = Rescuing(
        source=parts.pool, freed=rescued, emit=ground.emit, monotonic=ground.clock.monotonic
    )
    drain = settings.worker.drain
    tiers = [
        Tier(
            [
                Duty("claiming", claiming.tick, wakes.claiming, ground),
                Duty("listening", listening.tick, Pulse(), ground),
            ],
            grace=SOON,
        ),
        Tier(
            [Executing(crew=crew, clock=ground.clock, drain=drain)],
            grace=drain + AFTER_DRAIN,
        ),
        Tier(
            [
                recording(ground, parts),
                noting(ground, parts),
                Duty("overseeing", overseeing.tick, Pulse(), ground),
            ],
            # If the database is away, the last endings wait for it as running work may wait.
            grace=max(SOON, drain),
        ),
        Tier(
            [
                Duty("rescuing", rescuing.tick, Pulse(), ground),
                Duty("advancing", advancing.tick, wakes.advancing, ground),
                Duty("hinting", hinting.tick, wakes.hinting, ground),
                vouching,
            ],
            grace=SOON,
        ),
    ]
    return OpenWorker(tiers, woken, describe_served(member))


def recording(ground: Ground, parts: Parts) -> LastRecords:
    crew = parts.crew
    duty = Recording(
        source=parts.lines.records,
        session_id=parts.member.session_id,
        take=crew.take_ended,
        give_back=crew.put_back_ended,
        forget=crew.forget,
        last_words=crew.take_last_words,
        now=ground.database_clock.now,
        monotonic=ground.clock.monotonic,
        chance=ground.chance,
        emit=ground.emit,
        advance=parts.advancing.kick,
        look=parts.advancing.look,
    )
    return LastRecords(
        duty=Duty("recording", duty.tick, parts.wakes.recording, ground),
        recording=duty,
        clock=ground.clock,
    )


def noting(ground: Ground, parts: Parts) -> LastNotes:
    duty = Noting(source=parts.pool, take=parts.crew.take_notes)
    return LastNotes(duty=Duty("noting", duty.tick, Pulse(), ground), noting=duty)


def heed(beat: Beat, crew: Crew, drain: Callable[[], object]) -> None:
    """Do what the heartbeat brought back."""
    crew.stop(beat.cancelling, Stopping.CANCEL)
    if beat.draining:
        drain()


def only(settings: Settings) -> str | None:
    """The queue that it serves, if it serves one."""
    queues = settings.worker.queues
    return queues[0] if len(queues) == 1 else None


def lease_of(settings: Settings) -> Lease:
    worker = settings.worker
    return Lease(ttl=worker.lease, renew_every=worker.beat_every, stop_after=worker.stop_after)
