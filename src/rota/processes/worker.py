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
from random import Random
from typing import Final, NamedTuple
from uuid import UUID

from rota.config.settings import Settings
from rota.core.breaker import BreakerRule
from rota.core.executor import Executor
from rota.core.lease import Lease, LeaseValidity
from rota.core.settlement import StopReason
from rota.core.time.tick import FIRE_AHEAD
from rota.engine.dispatch.guarded_claims import LimitedClaims, ServedTenantIds
from rota.engine.dispatch.run_claimer import HintListener, HintSender, QueueClaimState, RunClaimer
from rota.engine.execution.attempt import Attempt, StartAttemptSpan
from rota.engine.execution.attempt_effects import DatabaseEffects
from rota.engine.execution.attempt_pool import (
    AttemptLoopParts,
    AttemptPool,
    AttemptPoolCallbacks,
    DrainService,
    JobSpecCache,
    StallMonitor,
)
from rota.engine.execution.heartbeat import Heartbeat
from rota.engine.execution.pipeline import AttemptPipeline, Breakers
from rota.engine.graphs.advancer import GraphAdvancer
from rota.engine.maintenance.run_rescuer import RunRescuer
from rota.engine.observability.tracing import TraceWriter
from rota.engine.recording.outcome_recorder import (
    LogWriter,
    LogWriterService,
    OutcomeRecorder,
    OutcomeRecorderService,
)
from rota.processes.app_loader import load_handlers
from rota.processes.executor_factory import ExecutorFactory, build_executor_factory
from rota.processes.key_files import read_master_key
from rota.processes.process import ProcessContext, Write, open_clock_monitor, run_process
from rota.processes.schedule_registration import find_unserved_queues, register_schedules
from rota.processes.shell_user import check_shell_user, find_exposed_keys
from rota.processes.worker_session import (
    WorkerMember,
    close_session,
    describe_served,
    register_worker,
)
from rota.runtime.process_health import CheckResult
from rota.runtime.service import Duty, Pulse, ServiceContext, Tier
from rota.store import hints
from rota.store.driver import Pool
from rota.store.pool import DatabaseAccess, DedicatedConnection, open_pool
from rota.store.roles import DatabaseRole
from rota.store.sessions import HeartbeatResponse

STOP_GRACE: Final = timedelta(seconds=5)
# Time after the drain for cancelled handlers to clean up.
CANCEL_GRACE: Final = timedelta(minutes=11)


class WorkerConnections(NamedTuple):
    """Dedicated connections, one per duty."""

    claims: DedicatedConnection
    records: DedicatedConnection
    advances: DedicatedConnection
    hints: DedicatedConnection
    hint_listener: DedicatedConnection


@dataclass(slots=True)
class WorkerSignals:
    """Wakes the services of a worker: each method names what happened and wakes who must know.

    Services receive these methods when they are built, and some of them are also woken. So the
    signals exist first, and `connect` adds the woken services before any service runs.
    """

    claiming: Pulse = field(default_factory=Pulse)
    recording: Pulse = field(default_factory=Pulse)
    advancing: Pulse = field(default_factory=Pulse)
    hinting: Pulse = field(default_factory=Pulse)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _claimer: RunClaimer = field(init=False)
    _advancer: GraphAdvancer = field(init=False)
    _heartbeat: Heartbeat = field(init=False)
    _hint_sender: HintSender = field(init=False)

    def connect(
        self,
        *,
        claimer: RunClaimer,
        advancer: GraphAdvancer,
        heartbeat: Heartbeat,
        hint_sender: HintSender,
    ) -> None:
        """Add the services that the signals wake."""
        self._claimer, self._advancer = claimer, advancer
        self._heartbeat, self._hint_sender = heartbeat, hint_sender

    def wake_claimer(self) -> None:
        """Claim soon, because runs are waiting."""
        self._claimer.on_hint()
        self.claiming.wake()

    def on_runs_created(self) -> None:
        """Claim runs that this process created, and tell the other workers."""
        self.wake_claimer()
        self._hint_sender.send_hint(hints.RUNS_CHANNEL)

    def on_runs_rescued(self) -> None:
        """Tell all workers about rescued runs. Those that ended instead may complete steps."""
        self._hint_sender.send_hint(hints.RUNS_CHANNEL)
        self._advancer.scan_soon()

    def on_runs_cancelled(self) -> None:
        """Ask which runs to stop. Those that ended at once may complete steps."""
        self._heartbeat.beat_now()
        self._advancer.scan_soon()

    def on_steps_completed(self) -> None:
        """Look for the step completions that another process wrote."""
        self._advancer.scan_soon()

    def on_map_items(self) -> None:
        """Start members of a map that a handler extended. Called from the attempt loop's thread."""
        self._loop.call_soon_threadsafe(self._advancer.scan_soon)

    def on_attempts_changed(self) -> None:
        """Record attempts that ended, and claim again if no slot was free."""
        if self._claimer.is_full:
            self.claiming.wake()
        self.recording.wake()

    def on_gates_freed(self) -> None:
        """Claim gated runs, because runs that had passed a gate ended."""
        self._claimer.on_gates_freed()
        self.claiming.wake()


class OpenWorker(NamedTuple):
    """The tiers of a worker, and the signals that wake its services."""

    tiers: list[Tier]
    signals: WorkerSignals
    # The served tenants in words; None while there is only one tenant.
    served_text: str | None = None


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
        signals = WorkerSignals()
        lease_validity = LeaseValidity(lease=build_lease(settings))
        loop_factory = AttemptLoopFactory(
            settings=settings,
            access=access,
            context=context,
            session_id=member.session_id,
            pipeline=AttemptPipeline(
                lease_validity=lease_validity,
                breakers=build_breakers(settings, context),
                start_span=build_span_starter(settings, traces),
            ),
            on_map_items=signals.on_map_items,
            make_executors=make_executors,
            registered_executors=executors,
        )
        attempt_pool = AttemptPool(
            slots=settings.worker.slots,
            kinds=member.kinds,
            make_parts=loop_factory.build_parts,
            job_specs=JobSpecCache(connections.claims),
            callbacks=AttemptPoolCallbacks(
                on_change=signals.on_attempts_changed,
                on_gates_freed=signals.on_gates_freed,
                to_monotonic=context.database_clock.offset.monotonic_when,
            ),
            emit=context.emit,
        )
        stack.push_async_callback(attempt_pool.close)
        parts = WorkerParts(
            member=member,
            attempt_pool=attempt_pool,
            signals=signals,
            connections=connections,
            pool=pool,
            drain=drain,
            lease_validity=lease_validity,
        )
        context.health.count_slots = lambda: (attempt_pool.busy_slots, attempt_pool.slots)
        context.health.add_check("session", partial(check_session, lease_validity, context))
        yield build_tiers(settings, access, context, parts)


@dataclass(slots=True, kw_only=True)
class AttemptLoopFactory:
    """Builds the parts of a worker's attempt loops.

    The first loop uses the executors whose kinds were registered. A loop that replaces a blocked
    one gets new executors.
    """

    settings: Settings
    access: DatabaseAccess
    context: ServiceContext
    session_id: UUID
    pipeline: AttemptPipeline
    on_map_items: Callable[[], object]
    make_executors: ExecutorFactory
    registered_executors: tuple[Executor, ...] | None

    def build_parts(self, on_output: Callable[[Attempt], None]) -> AttemptLoopParts:
        executors, self.registered_executors = self.registered_executors, None
        effects = DatabaseEffects(
            self.access,
            session_id=self.session_id,
            now=self.context.database_clock.now,
            on_output=on_output,
            on_map_items=self.on_map_items,
            get_master_key=partial(read_master_key, self.settings),
        )
        return AttemptLoopParts(
            executors=self.make_executors() if executors is None else executors,
            effects=effects,
            pipeline=self.pipeline,
            stops_all_for_lease=self.settings.worker.on_database_outage == "stop",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerParts:
    """What the duties of a worker share."""

    member: WorkerMember
    attempt_pool: AttemptPool
    signals: WorkerSignals
    connections: WorkerConnections
    pool: Pool
    drain: Callable[[], object]
    lease_validity: LeaseValidity


def build_tiers(
    settings: Settings, access: DatabaseAccess, context: ServiceContext, parts: WorkerParts
) -> OpenWorker:
    """Build the tiers of a worker, in the order in which they stop."""
    signals = parts.signals
    attempt_pool = parts.attempt_pool
    hint_sender = HintSender(line=parts.connections.hints, pulse=signals.hinting)
    claimer = build_claimer(context, parts)
    advancer = GraphAdvancer(
        source=parts.connections.advances,
        on_runs_created=signals.on_runs_created,
        on_gates_freed=signals.on_gates_freed,
        wake=signals.advancing.wake,
        monotonic=context.clock.monotonic,
        emit=context.emit,
    )
    heartbeat = Heartbeat(
        access=access,
        session_id=parts.member.session_id,
        attempts=attempt_pool,
        lease_validity=parts.lease_validity,
        apply_response=partial(
            apply_heartbeat_response, attempt_pool=attempt_pool, drain=parts.drain
        ),
        end_process=os._exit,
        emit=context.emit,
    )
    signals.connect(
        claimer=claimer, advancer=advancer, heartbeat=heartbeat, hint_sender=hint_sender
    )
    hint_listener = HintListener(
        line=parts.connections.hint_listener,
        callbacks={
            hints.RUNS_CHANNEL: signals.wake_claimer,
            hints.CANCELS_CHANNEL: signals.on_runs_cancelled,
            hints.STEP_COMPLETIONS_CHANNEL: signals.on_steps_completed,
        },
    )
    stall_monitor = StallMonitor(
        pool=attempt_pool, clock=context.clock, limit=settings.worker.blocked_after
    )
    rescuer = RunRescuer(
        source=parts.pool,
        on_runs_waiting=signals.on_runs_rescued,
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
                build_recording_duty(context, parts, advancer),
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
    return OpenWorker(tiers, signals, describe_served(parts.member))


def build_claimer(context: ServiceContext, parts: WorkerParts) -> RunClaimer:
    member, attempt_pool = parts.member, parts.attempt_pool
    return RunClaimer(
        source=parts.connections.claims,
        queues=[
            QueueClaimState(queue_id=queue_id, name=member.queues[queue_id])
            for queue_id in member.queue_ids
        ],
        claims=LimitedClaims(
            session_id=member.session_id,
            queue_ids=member.queue_ids,
            kind_ids=tuple(member.kinds),
            clock=context.clock,
            # What the scheduler decides ahead is claimed ahead.
            ahead=FIRE_AHEAD,
            served_tenants=ServedTenantIds(served=member.served, queues=member.queues),
        ),
        free_slots=lambda: attempt_pool.free_slots,
        start_runs=attempt_pool.start_runs,
        start_gated_runs=partial(attempt_pool.start_runs, is_gated=True),
        held_runs=attempt_pool.list_held_runs,
        clock=context.clock,
        offset=context.database_clock.offset,
        emit=context.emit,
    )


def check_session(validity: LeaseValidity, context: ServiceContext) -> CheckResult:
    """Check that the worker may start attempts: its last heartbeat is recent."""
    left_s = validity.start_until - context.clock.monotonic()
    if left_s == float("inf"):
        return CheckResult("the worker has not sent a heartbeat yet")
    age_s = validity.lease.stop_after.total_seconds() - left_s
    if left_s > 0:
        return CheckResult(age_s=age_s)
    return CheckResult(f"the last successful heartbeat was {age_s:.0f} s ago", age_s)


def build_recording_duty(
    context: ServiceContext, parts: WorkerParts, advancer: GraphAdvancer
) -> OutcomeRecorderService:
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
        advance_graphs=advancer.advance_soon,
        scan_completions=advancer.scan_soon,
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


def build_span_starter(settings: Settings, traces: TraceWriter | None) -> StartAttemptSpan | None:
    """Return what starts the span of an attempt. A span names the queue if there is only one."""
    if traces is None:
        return None
    queues = settings.worker.queues
    return partial(traces.start_attempt, queue=queues[0] if len(queues) == 1 else None)


def build_breakers(settings: Settings, context: ServiceContext) -> Breakers:
    worker = settings.worker
    rule = BreakerRule(
        after=worker.breaker_after, pause=worker.breaker_pause, longest=worker.breaker_longest
    )
    # A separate random generator: the attempt thread uses it.
    return Breakers(
        rule,
        monotonic=context.clock.monotonic,
        rng=Random(context.rng.getrandbits(64)),
        emit=context.emit,
    )


def build_lease(settings: Settings) -> Lease:
    worker = settings.worker
    return Lease(ttl=worker.lease, renew_every=worker.beat_every, stop_after=worker.stop_after)
