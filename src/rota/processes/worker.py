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
from rota.processes.app_loader import load_handlers
from rota.processes.circuit_breakers import build_breakers
from rota.processes.clock import open_clock_monitor
from rota.processes.executor_factory import ExecutorFactory, build_executor_factory
from rota.processes.key_files import read_master_key
from rota.processes.process import ProcessContext, Write, run_process
from rota.processes.schedule_registration import find_unserved_queues, register_schedules
from rota.processes.shell_user import check_shell_user, find_exposed_keys
from rota.processes.worker_session import (
    WorkerMember,
    close_session,
    describe_served,
    register_worker,
)
from rota.runtime.clock_offset import ClockOffset
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, ServiceContext
from rota.runtime.tiers import Tier
from rota.store import hints
from rota.store.driver import Pool
from rota.store.pool import DatabaseAccess, DedicatedConnection, open_pool
from rota.store.roles import DatabaseRole
from rota.store.sessions import HeartbeatResponse

STOP_GRACE: Final = timedelta(seconds=5)
# Runs that are due within this time are claimed early; equal to the scheduler's own lead time.
CLAIM_AHEAD: Final = timedelta(milliseconds=12)
# Time after the drain for cancelled handlers to clean up.
CANCEL_GRACE: Final = timedelta(minutes=11)


class WorkerConnections(NamedTuple):
    """Dedicated connections, one per duty."""

    claims: DedicatedConnection
    records: DedicatedConnection
    advances: DedicatedConnection
    hints: DedicatedConnection
    hint_listener: DedicatedConnection


class OpenWorker(NamedTuple):
    """The tiers of a worker, and the function that wakes it when runs are ready."""

    tiers: list[Tier]
    wake: Callable[[], None]
    # The served tenants in words; None while there is only one tenant.
    served_text: str | None = None


@dataclass(slots=True)
class WorkerSignals:
    """The pulses of a worker's duties, and the signals that wake them."""

    claiming: Pulse
    recording: Pulse
    advancing: Pulse
    hinting: Pulse

    gate_listeners: list[Callable[[], None]] = field(default_factory=list)
    is_claimer_full: Callable[[], bool] = lambda: True
    announce_new_runs: Callable[[], object] = lambda: None

    def notify_attempts_changed(self) -> None:
        if self.is_claimer_full():
            self.claiming.wake()
        self.recording.wake()

    def notify_gates_freed(self) -> None:
        for notify in self.gate_listeners:
            notify()
        self.claiming.wake()


async def run_worker(
    settings: Settings, *, app: str | None, ready: Callable[[str], object], write: Write
) -> int:
    """Run a process that is only a worker. `ready` prints what it serves."""
    check_shell_user(settings)
    make_executors = build_executor_factory(settings, app=app)
    declared = None if app is None else load_handlers(app).app

    @asynccontextmanager
    async def open_worker_tiers(process: ProcessContext) -> AsyncIterator[list[Tier]]:
        if declared is not None:
            await register_schedules(declared, process.database.access, process.context)
        async with (
            open_clock_monitor(process.database.access, process.context) as clocks,
            open_worker(
                settings,
                process.database.access,
                process.context,
                make_executors,
                drain=process.stop.drain.set,
                traces=process.traces,
            ) as opened,
        ):
            queues = ", ".join(settings.worker.queues)
            ready(f"worker ready: {settings.worker.slots} slots, queues: {queues}")
            if opened.served_text is not None:
                ready(opened.served_text)
            for warning in find_exposed_keys(settings):
                ready(warning)
            for queue in find_unserved_queues(declared, settings.worker.queues):
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
    context: ServiceContext,
    make_executors: ExecutorFactory,
    *,
    drain: Callable[[], object],
    traces: TraceWriter | None = None,
) -> AsyncIterator[OpenWorker]:
    """Register the worker and yield its tiers; close its session at the end of the block."""
    async with AsyncExitStack() as stack:
        executors = make_executors()
        member = await register_worker(settings, access, context, executors)
        stack.push_async_callback(close_session, access, member.session_id)
        connections = WorkerConnections(
            *(DedicatedConnection(access, hot=True) for _ in WorkerConnections._fields)
        )
        for connection in connections:
            stack.callback(connection.close)
        pool = await stack.enter_async_context(open_pool(access, size=2))
        signals = WorkerSignals(Pulse(), Pulse(), Pulse(), Pulse())
        advancer = GraphAdvancer(
            source=connections.advances,
            on_runs_created=lambda: signals.announce_new_runs(),  # noqa: PLW0108 - set later, in open_tiers
            on_gates_freed=signals.notify_gates_freed,
            wake=signals.advancing.wake,
            monotonic=context.clock.monotonic,
            emit=context.emit,
        )
        wake_advancer = partial(asyncio.get_running_loop().call_soon_threadsafe, advancer.scan_soon)
        offset, breakers = context.database_clock.offset, build_breakers(settings, context)
        trust = LeaseValidity(lease=build_lease(settings))
        trace = (
            None
            if traces is None
            else partial(traces.start_attempt, queue=get_single_queue(settings))
        )
        # The first attempt loop uses the executors whose kinds were registered.
        unused = [executors]

        def make_kit(noted: Callable[[Attempt], None]) -> AttemptLoopParts:
            effects = DatabaseEffects(
                access,
                session_id=member.session_id,
                now=context.database_clock.now,
                on_output=noted,
                on_map_items=wake_advancer,
                get_master_key=partial(read_master_key, settings),
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
                signals.notify_attempts_changed, signals.notify_gates_freed, offset.monotonic_when
            ),
            emit=context.emit,
        )
        stack.push_async_callback(attempt_pool.close)
        parts = WorkerParts(
            member, attempt_pool, signals, connections, pool, drain, offset, trust, advancer
        )
        yield build_tiers(settings, access, context, parts)


@dataclass(frozen=True, slots=True)
class WorkerParts:
    member: WorkerMember
    attempt_pool: AttemptPool
    signals: WorkerSignals
    connections: WorkerConnections
    pool: Pool
    drain: Callable[[], object]
    offset: ClockOffset
    trust: LeaseValidity
    advancing: GraphAdvancer


def build_tiers(
    settings: Settings, access: DatabaseAccess, context: ServiceContext, parts: WorkerParts
) -> OpenWorker:
    """Build the tiers of a worker, in the order in which they stop."""
    member, attempt_pool, signals = parts.member, parts.attempt_pool, parts.signals
    connections, advancer = parts.connections, parts.advancing
    hint_sender = HintSender(line=connections.hints, pulse=signals.hinting)
    claimer = RunClaimer(
        source=connections.claims,
        queues=[QueueClaimState(queue_id=queue_id) for queue_id in member.queue_ids],
        claims=LimitedClaims(
            session_id=member.session_id,
            queue_ids=member.queue_ids,
            kind_ids=tuple(member.kinds),
            clock=context.clock,
            ahead=CLAIM_AHEAD,
            served_tenants=ServedTenantIds(served=member.served, queues=member.queues),
        ),
        free_slots=lambda: attempt_pool.free_slots,
        start_runs=attempt_pool.start_runs,
        start_gated_runs=partial(attempt_pool.start_runs, is_gated=True),
        held_runs=attempt_pool.held_runs,
        clock=context.clock,
        offset=parts.offset,
    )
    signals.gate_listeners.append(claimer.on_gates_freed)
    signals.is_claimer_full = lambda: claimer.is_full
    heartbeat = Heartbeat(
        access=access,
        session_id=member.session_id,
        attempts=attempt_pool,
        lease_validity=parts.trust,
        apply_response=lambda beat: apply_heartbeat_response(beat, attempt_pool, parts.drain),
        end_process=os._exit,
        emit=context.emit,
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

    signals.announce_new_runs = announce_new_runs
    hint_listener = HintListener(
        line=connections.hint_listener,
        callbacks={
            hints.RUNS_CHANNEL: wake_claimer,
            hints.CANCELS_CHANNEL: check_cancellations,
            hints.STEP_COMPLETIONS_CHANNEL: advancer.scan_soon,
        },
    )
    stall_monitor = StallMonitor(
        pool=attempt_pool, clock=context.clock, limit=settings.worker.blocked_after
    )
    rescuer = RunRescuer(
        source=parts.pool,
        on_runs_waiting=announce_rescued_runs,
        emit=context.emit,
        monotonic=context.clock.monotonic,
    )
    drain = settings.worker.drain
    tiers = [
        Tier(
            [
                Duty("claiming", claimer.tick, signals.claiming, context),
                Duty("listening", hint_listener.tick, Pulse(), context),
            ],
            grace=STOP_GRACE,
        ),
        Tier(
            [DrainService(pool=attempt_pool, clock=context.clock, drain=drain)],
            grace=drain + CANCEL_GRACE,
        ),
        Tier(
            [
                build_recording_duty(context, parts),
                build_log_duty(context, parts),
                Duty("monitoring stalls", stall_monitor.tick, Pulse(), context),
            ],
            # While the database is unreachable, the last outcomes wait as long as current runs may.
            grace=max(STOP_GRACE, drain),
        ),
        Tier(
            [
                Duty("rescuing", rescuer.tick, Pulse(), context),
                Duty("advancing", advancer.tick, signals.advancing, context),
                Duty("hinting", hint_sender.tick, signals.hinting, context),
                heartbeat,
            ],
            grace=STOP_GRACE,
        ),
    ]
    return OpenWorker(tiers, wake_claimer, describe_served(member))


def build_recording_duty(context: ServiceContext, parts: WorkerParts) -> OutcomeRecorderService:
    attempt_pool = parts.attempt_pool
    duty = OutcomeRecorder(
        source=parts.connections.records,
        session_id=parts.member.session_id,
        take_ended=attempt_pool.take_ended,
        return_ended=attempt_pool.return_ended,
        release_runs=attempt_pool.release_runs,
        take_last_output=attempt_pool.take_last_output,
        now=context.database_clock.now,
        monotonic=context.clock.monotonic,
        rng=context.rng,
        emit=context.emit,
        advance_graphs=parts.advancing.advance_soon,
        scan_completions=parts.advancing.scan_soon,
    )
    return OutcomeRecorderService(
        duty=Duty("recording", duty.tick, parts.signals.recording, context),
        recorder=duty,
        clock=context.clock,
    )


def build_log_duty(context: ServiceContext, parts: WorkerParts) -> LogWriterService:
    duty = LogWriter(source=parts.pool, take_output=parts.attempt_pool.take_output)
    return LogWriterService(duty=Duty("writing logs", duty.tick, Pulse(), context), writer=duty)


def apply_heartbeat_response(
    beat: HeartbeatResponse, attempt_pool: AttemptPool, drain: Callable[[], object]
) -> None:
    """Apply the response of a heartbeat: cancel runs, and drain if asked to."""
    attempt_pool.stop_runs(beat.cancelling, StopReason.CANCEL)
    if beat.draining:
        drain()


def get_single_queue(settings: Settings) -> str | None:
    """Return the queue that the worker serves, if it serves exactly one."""
    queues = settings.worker.queues
    return queues[0] if len(queues) == 1 else None


def build_lease(settings: Settings) -> Lease:
    worker = settings.worker
    return Lease(ttl=worker.lease, renew_every=worker.beat_every, stop_after=worker.stop_after)
