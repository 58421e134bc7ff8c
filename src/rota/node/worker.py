"""Runs a worker: it claims runs, executes them and records their outcomes.

The tiers stop in this order: first claiming, then execution (current runs may finish), then
recording of the last outcomes, and finally the heartbeat that keeps their leases.
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
from rota.core.attempt import StopReason
from rota.core.lease import Lease, LeaseValidity
from rota.engine.dispatch.hints import HintListener, HintSender
from rota.engine.dispatch.limited_claims import LimitedClaims
from rota.engine.dispatch.run_claimer import QueueClaimState, RunClaimer
from rota.engine.dispatch.served_tenants import ServedTenantIds
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.attempt_effects import DatabaseEffects
from rota.engine.execution.attempt_pool import AttemptLoopParts, AttemptPool, AttemptPoolCallbacks
from rota.engine.execution.drain_service import DrainService
from rota.engine.execution.heartbeat import Heartbeat
from rota.engine.execution.job_spec_cache import JobSpecCache
from rota.engine.execution.stall_monitor import StallMonitor
from rota.engine.graphs.advancer import GraphAdvancer
from rota.engine.maintenance.run_rescuer import RunRescuer
from rota.engine.observability.tracing import TraceWriter
from rota.engine.recording.log_writer import LogWriter, LogWriterService
from rota.engine.recording.outcome_recorder import OutcomeRecorder, OutcomeRecorderService
from rota.node.breaking import breakers_of
from rota.node.clock import open_clock_monitor
from rota.node.keyfiles import opening_key
from rota.node.loading import load_served
from rota.node.plugins import MakeExecutors, executors_of
from rota.node.process import Place, Write, run_process
from rota.node.registering import register_schedules, unserved
from rota.node.shell_user import check_shell_user, find_exposed_keys
from rota.node.worker_session import Member, describe_served, leave, register
from rota.runtime.clock_offset import ClockOffset
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, ServiceContext
from rota.runtime.tiers import Tier
from rota.store import hints
from rota.store.driver import Pool
from rota.store.pool import DatabaseAccess, DedicatedConnection, open_pool
from rota.store.roles import DatabaseRole
from rota.store.sessions import HeartbeatResponse

SOON: Final = timedelta(seconds=5)
# Runs that are due within this time are claimed early; equal to the scheduler's own lead time.
AHEAD: Final = timedelta(milliseconds=12)
# Time after the drain for cancelled handlers to clean up.
AFTER_DRAIN: Final = timedelta(minutes=11)


class Lines(NamedTuple):
    """Dedicated connections, one per duty."""

    claims: DedicatedConnection
    records: DedicatedConnection
    advances: DedicatedConnection
    hints: DedicatedConnection
    ears: DedicatedConnection


class OpenWorker(NamedTuple):
    """The tiers of a worker, and the function that wakes it when runs are ready."""

    tiers: list[Tier]
    woken: Callable[[], None]
    # The served tenants in words; None while there is only one tenant.
    serves: str | None = None


@dataclass(slots=True)
class Wakes:
    """The pulses of a worker's duties, and the signals that wake them."""

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
        for notify in self.freed:
            notify()
        self.claiming.wake()


async def run_worker(
    settings: Settings, *, app: str | None, ready: Callable[[str], object], write: Write
) -> int:
    """Run a process that is only a worker. `ready` prints what it serves."""
    check_shell_user(settings)
    make_executors = executors_of(settings, app=app)
    declared = None if app is None else load_served(app).app

    @asynccontextmanager
    async def open_worker_tiers(process: Place) -> AsyncIterator[list[Tier]]:
        if declared is not None:
            await register_schedules(declared, process.database.access, process.ground)
        async with (
            open_clock_monitor(process.database.access, process.ground) as clocks,
            open_worker(
                settings,
                process.database.access,
                process.ground,
                make_executors,
                drain=process.stop.drain.set,
                traces=process.traces,
            ) as opened,
        ):
            queues = ", ".join(settings.worker.queues)
            ready(f"worker ready: {settings.worker.slots} slots, queues: {queues}")
            if opened.serves is not None:
                ready(opened.serves)
            for warning in find_exposed_keys(settings):
                ready(warning)
            for queue in unserved(declared, settings.worker.queues):
                ready(f"Jobs of this app use queue {queue!r}, which this worker does not serve")
            yield [*opened.tiers, clocks.tier]

    return await run_process(
        settings,
        name="rota worker",
        open_tiers=open_worker_tiers,
        write=write,
        roles=(DatabaseRole.WORKER,),
    )


@asynccontextmanager
async def open_worker(
    settings: Settings,
    access: DatabaseAccess,
    ground: ServiceContext,
    make_executors: MakeExecutors,
    *,
    drain: Callable[[], object],
    traces: TraceWriter | None = None,
) -> AsyncIterator[OpenWorker]:
    """Register the worker and yield its tiers; close its session at the end of the block."""
    async with AsyncExitStack() as stack:
        executors = make_executors()
        member = await register(settings, access, ground, executors)
        stack.push_async_callback(leave, access, member.session_id)
        connections = Lines(*(DedicatedConnection(access, hot=True) for _ in Lines._fields))
        for connection in connections:
            stack.callback(connection.close)
        pool = await stack.enter_async_context(open_pool(access, size=2))
        signals = Wakes(Pulse(), Pulse(), Pulse(), Pulse())
        advancer = GraphAdvancer(
            source=connections.advances,
            on_runs_created=lambda: signals.made(),  # noqa: PLW0108 - set later, in open_tiers
            on_gates_freed=signals.gates_freed,
            wake=signals.advancing.wake,
            monotonic=ground.clock.monotonic,
            emit=ground.emit,
        )
        wake_advancer = partial(asyncio.get_running_loop().call_soon_threadsafe, advancer.scan_soon)
        offset, breakers = ground.database_clock.offset, breakers_of(settings, ground)
        trust = LeaseValidity(lease=lease_of(settings))
        trace = None if traces is None else partial(traces.start_attempt, queue=only(settings))
        # The first attempt loop uses the executors whose kinds were registered.
        unused = [executors]

        def make_kit(noted: Callable[[Attempt], None]) -> AttemptLoopParts:
            effects = DatabaseEffects(
                access,
                session_id=member.session_id,
                now=ground.database_clock.now,
                on_output=noted,
                on_map_items=wake_advancer,
                get_master_key=partial(opening_key, settings),
            )
            return AttemptLoopParts(
                executors=unused.pop() if unused else make_executors(),
                effects=effects,
                lease_validity=trust,
                breakers=breakers,
                start_span=trace,
                stops_all_for_lease=settings.worker.on_database_outage == "stop",
            )

        attempt_pool = AttemptPool(
            slots=settings.worker.slots,
            kinds=member.kinds,
            make_parts=make_kit,
            job_specs=JobSpecCache(connections.claims),
            callbacks=AttemptPoolCallbacks(
                signals.changed, signals.gates_freed, offset.monotonic_when
            ),
            emit=ground.emit,
        )
        stack.push_async_callback(attempt_pool.close)
        parts = Parts(
            member, attempt_pool, signals, connections, pool, drain, offset, trust, advancer
        )
        yield open_tiers(settings, access, ground, parts)


@dataclass(frozen=True, slots=True)
class Parts:
    member: Member
    crew: AttemptPool
    wakes: Wakes
    lines: Lines
    pool: Pool
    drain: Callable[[], object]
    offset: ClockOffset
    trust: LeaseValidity
    advancing: GraphAdvancer


def open_tiers(
    settings: Settings, access: DatabaseAccess, ground: ServiceContext, parts: Parts
) -> OpenWorker:
    """Build the tiers of a worker, in the order in which they stop."""
    member, attempt_pool, signals = parts.member, parts.crew, parts.wakes
    connections, advancer = parts.lines, parts.advancing
    hint_sender = HintSender(line=connections.hints, pulse=signals.hinting)
    claimer = RunClaimer(
        source=connections.claims,
        queues=[QueueClaimState(queue_id=queue_id) for queue_id in member.queue_ids],
        claims=LimitedClaims(
            session_id=member.session_id,
            queue_ids=member.queue_ids,
            kind_ids=tuple(member.kinds),
            clock=ground.clock,
            ahead=AHEAD,
            served_tenants=ServedTenantIds(served=member.served, queues=member.queues),
        ),
        free_slots=lambda: attempt_pool.free_slots,
        start_runs=attempt_pool.start_runs,
        start_gated_runs=partial(attempt_pool.start_runs, is_gated=True),
        held_runs=attempt_pool.held_runs,
        clock=ground.clock,
        offset=parts.offset,
    )
    signals.freed.append(claimer.on_gates_freed)
    signals.lacks_room = lambda: claimer.is_full
    heartbeat = Heartbeat(
        access=access,
        session_id=member.session_id,
        attempts=attempt_pool,
        lease_validity=parts.trust,
        apply_response=lambda beat: heed(beat, attempt_pool, parts.drain),
        end_process=os._exit,
        emit=ground.emit,
    )

    def wake_claimer() -> None:
        claimer.on_hint()
        signals.claiming.wake()

    def announce_new_runs() -> None:
        wake_claimer()
        hint_sender.send_hint(hints.RUNS_CHANNEL)

    def check_cancellations() -> None:
        heartbeat.beat_now()
        advancer.scan_soon()

    def announce_rescued_runs() -> None:
        hint_sender.send_hint(hints.RUNS_CHANNEL)
        advancer.scan_soon()

    signals.made = announce_new_runs
    hint_listener = HintListener(
        line=connections.ears,
        callbacks={
            hints.RUNS_CHANNEL: wake_claimer,
            hints.CANCELS_CHANNEL: check_cancellations,
            hints.STEP_COMPLETIONS_CHANNEL: advancer.scan_soon,
        },
    )
    stall_monitor = StallMonitor(
        pool=attempt_pool, clock=ground.clock, limit=settings.worker.blocked_after
    )
    rescuer = RunRescuer(
        source=parts.pool,
        on_runs_waiting=announce_rescued_runs,
        emit=ground.emit,
        monotonic=ground.clock.monotonic,
    )
    drain = settings.worker.drain
    tiers = [
        Tier(
            [
                Duty("claiming", claimer.tick, signals.claiming, ground),
                Duty("listening", hint_listener.tick, Pulse(), ground),
            ],
            grace=SOON,
        ),
        Tier(
            [DrainService(pool=attempt_pool, clock=ground.clock, drain=drain)],
            grace=drain + AFTER_DRAIN,
        ),
        Tier(
            [
                recording(ground, parts),
                noting(ground, parts),
                Duty("monitoring stalls", stall_monitor.tick, Pulse(), ground),
            ],
            # While the database is unreachable, the last outcomes wait as long as current runs may.
            grace=max(SOON, drain),
        ),
        Tier(
            [
                Duty("rescuing", rescuer.tick, Pulse(), ground),
                Duty("advancing", advancer.tick, signals.advancing, ground),
                Duty("hinting", hint_sender.tick, signals.hinting, ground),
                heartbeat,
            ],
            grace=SOON,
        ),
    ]
    return OpenWorker(tiers, wake_claimer, describe_served(member))


def recording(ground: ServiceContext, parts: Parts) -> OutcomeRecorderService:
    attempt_pool = parts.crew
    duty = OutcomeRecorder(
        source=parts.lines.records,
        session_id=parts.member.session_id,
        take_ended=attempt_pool.take_ended,
        return_ended=attempt_pool.return_ended,
        release_runs=attempt_pool.release_runs,
        take_last_output=attempt_pool.take_last_output,
        now=ground.database_clock.now,
        monotonic=ground.clock.monotonic,
        rng=ground.rng,
        emit=ground.emit,
        advance_graphs=parts.advancing.advance_soon,
        scan_completions=parts.advancing.scan_soon,
    )
    return OutcomeRecorderService(
        duty=Duty("recording", duty.tick, parts.wakes.recording, ground),
        recorder=duty,
        clock=ground.clock,
    )


def noting(ground: ServiceContext, parts: Parts) -> LogWriterService:
    duty = LogWriter(source=parts.pool, take_output=parts.crew.take_output)
    return LogWriterService(duty=Duty("writing logs", duty.tick, Pulse(), ground), writer=duty)


def heed(beat: HeartbeatResponse, crew: AttemptPool, drain: Callable[[], object]) -> None:
    """Apply the response of a heartbeat: cancel runs, and drain if asked to."""
    crew.stop_runs(beat.cancelling, StopReason.CANCEL)
    if beat.draining:
        drain()


def only(settings: Settings) -> str | None:
    """Return the queue that the worker serves, if it serves exactly one."""
    queues = settings.worker.queues
    return queues[0] if len(queues) == 1 else None


def lease_of(settings: Settings) -> Lease:
    worker = settings.worker
    return Lease(ttl=worker.lease, renew_every=worker.beat_every, stop_after=worker.stop_after)
