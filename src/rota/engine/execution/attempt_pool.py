"""Fills the slots of a worker with attempts and tracks the runs that it holds.

Lives in the engine's event loop. It starts claimed runs on the attempt loop, collects their
endings, and keeps the list of runs that the heartbeat renews: every run from its claim until its
ending is stored. A slot is free as soon as its attempt has ended; but while more endings wait to be
stored than `UNSTORED_ENDINGS_FACTOR` times the slots, the worker claims no new runs.

Caches what a claimed run does not carry itself: its policy, tenant name and job data.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from rota.contract.policy import read_policy_or_unreadable
from rota.core.clock import ClockSource
from rota.core.errors import LeaseLost
from rota.core.executor import AbandoningExecutor, AttemptContext, Executor
from rota.core.graphs.graph import GRAPH_KIND
from rota.core.log_events import AttemptStuck, Emit, LoopBlocked
from rota.core.outcome import Failed, Failure, GraphExpanded, HandedBack, Outcome
from rota.core.policy import DEFAULT_POLICY, Policy
from rota.core.settlement import EndedAttempt, StopReason
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.attempt_effects import DatabaseEffects
from rota.engine.execution.attempt_loop import AttemptLoop
from rota.engine.execution.pipeline import AttemptPipeline, build_ended
from rota.runtime.clock import AlarmClock
from rota.runtime.service import Halt, Pulse
from rota.store import interning, jobs
from rota.store.checkpoints import RunProgress
from rota.store.driver import ConnectionSource
from rota.store.jobs import JobPayload
from rota.store.live_runs import ClaimedRun
from rota.store.logs import LogPiece

# Payloads are at most 256 KB each; larger ones than `CACHED_PAYLOAD_MAX` are read again every time.
CACHED_JOBS_MAX: Final = 50_000
CACHED_PAYLOAD_MAX: Final = 2_000

JobVersion = tuple[UUID, int]


class CachedJobSpec(NamedTuple):
    """The cached data of one job version: its payload, used by runs that carry none, and whether
    its runs must not overlap. A payload that `is_large` is not cached.
    """

    payload: str | None
    forbids_overlap: bool
    is_large: bool


# A job that was deleted since: its runs continue with what they carry.
DELETED_JOB: Final = CachedJobSpec(None, forbids_overlap=False, is_large=False)
# A job version that is not cached yet.
UNCACHED_JOB: Final = CachedJobSpec(None, forbids_overlap=False, is_large=False)


class JobSpecCache:
    def __init__(self, source: ConnectionSource) -> None:
        self._source = source
        self.policies: dict[int, Policy] = {}
        # Tenant names, which never change; "" for a deleted tenant.
        self.tenants: dict[int, str] = {}
        self._known: OrderedDict[JobVersion, CachedJobSpec] = OrderedDict()

    def get_policy(self, policy_id: int) -> Policy:
        return self.policies[policy_id]

    async def load_specs(self, runs: Sequence[ClaimedRun]) -> list[CachedJobSpec]:
        """Load missing policies and tenant names; return the job data of each run."""
        unknown = {run.policy_id for run in runs} - self.policies.keys()
        nameless = {run.tenant_id for run in runs} - self.tenants.keys()
        if nameless:
            await self._name_tenants(nameless)
        known, lacking, specs = self._known, set[JobVersion](), list[CachedJobSpec]()
        for run in runs:
            if run.job_id == run.id:
                # A submission carries all its data itself.
                specs.append(DELETED_JOB)
                continue
            job = known.get((run.job_id, run.job_version), UNCACHED_JOB)
            if job is UNCACHED_JOB or (job.is_large and run.payload is None):
                lacking.add((run.job_id, run.job_version))
            specs.append(job)
        if unknown or lacking:
            found = await self._look_up(unknown, lacking)
            specs = [
                job if job is DELETED_JOB else found.get(version) or known[version]
                for version, job in zip(
                    ((run.job_id, run.job_version) for run in runs), specs, strict=True
                )
            ]
        return specs

    async def _look_up(
        self, unknown: set[int], lacking: set[JobVersion]
    ) -> dict[JobVersion, CachedJobSpec]:
        found: dict[JobVersion, CachedJobSpec] = {}
        async with self._source.acquire() as conn:
            if unknown:
                bodies = await interning.read_policies(conn, sorted(unknown))
                for policy_id, body in bodies.items():
                    self.policies[policy_id] = read_policy_or_unreadable(msgspec.json.decode(body))
            if lacking:
                found = dict.fromkeys(lacking, DELETED_JOB)
                for row in await jobs.read_payloads(conn, sorted(lacking)):
                    found[row.id, row.version] = build_spec(row)
        self._keep(found)
        return found

    async def _name_tenants(self, ids: set[int]) -> None:
        async with self._source.acquire() as conn:
            found = await interning.read_tenant_names(conn, sorted(ids))
        self.tenants |= {tenant_id: found.get(tenant_id, "") for tenant_id in ids}

    def _keep(self, found: dict[JobVersion, CachedJobSpec]) -> None:
        for version, job in found.items():
            self._known[version] = job._replace(payload=None) if job.is_large else job
        while len(self._known) > CACHED_JOBS_MAX:
            self._known.popitem(last=False)


def build_spec(row: JobPayload) -> CachedJobSpec:
    is_large = row.payload is not None and len(row.payload) > CACHED_PAYLOAD_MAX
    return CachedJobSpec(row.payload, row.forbids_overlap, is_large)


# Claiming pauses when more endings than this many times the slots wait to be stored.
UNSTORED_ENDINGS_FACTOR: Final = 2
CLOSE_TIMEOUT_S: Final = 15.0
# Pieces of output per attempt; the limit of an attempt's log is far lower.
LAST_OUTPUT_PIECES_MAX: Final = 10_000
# Attempts that ignored every request to stop; at this many leaked threads the process restarts.
STUCK_ATTEMPTS_MAX: Final = 100
PING_INTERVAL_S: Final = 0.5
DRAIN_CHECK_INTERVAL_S: Final = 0.1


class GraphKindExecutor:
    """Implements the built-in kind `graph`, which every worker claims and none executes. A graph
    run takes no slot and never reaches the attempt loop: once it is claimed, recording lets it wait
    for its steps (engine/graphs).
    """

    kinds: Sequence[str] = (GRAPH_KIND,)

    def read(self, kind: str, payload: Any) -> Any:  # noqa: ARG002 — the contract
        return payload

    async def run(self, spec: Any, context: AttemptContext) -> Outcome:  # noqa: ARG002 — the contract
        return GraphExpanded()

    async def open(self) -> None: ...

    async def close(self) -> None: ...


GRAPH_KIND_EXECUTOR: Final = GraphKindExecutor()


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLoopParts:
    """The parts of an attempt loop; built again when a blocked loop is replaced."""

    executors: tuple[Executor, ...]
    effects: DatabaseEffects
    pipeline: AttemptPipeline
    # Every attempt must end before the lease expires, even if its job allows overlap.
    stops_all_for_lease: bool = False


class AttemptPoolCallbacks(NamedTuple):
    """Callbacks of the pool: slots are free or endings wait (`on_change`), and places behind gates
    are free (`on_gates_freed`). `to_monotonic` converts a database time to the monotonic clock.
    """

    on_change: Callable[[], object]
    on_gates_freed: Callable[[], object]
    to_monotonic: Callable[[datetime], float | None]


class AttemptPool:
    """`kinds` maps the ids of the kinds that this worker runs to their names."""

    def __init__(
        self,
        *,
        slots: int,
        kinds: dict[int, str],
        make_parts: Callable[[Callable[[Attempt], None]], AttemptLoopParts],
        job_specs: JobSpecCache,
        callbacks: AttemptPoolCallbacks,
        emit: Emit,
    ) -> None:
        self.slots = slots
        self.running: dict[UUID, Attempt] = {}
        # Claimed batches until their job data is loaded, and runs that are handed back because
        # loading failed.
        self._loading: dict[int, Sequence[ClaimedRun]] = {}
        self._handed_back: dict[UUID, ClaimedRun] = {}
        # Executors of the attempts that were last stopped because the lease was about to expire.
        self._stopped_for_lease: tuple[Executor, ...] = ()
        self.stuck_attempts = 0
        self._kinds = kinds
        self._make_parts = make_parts
        self._job_specs = job_specs
        self._on_change = callbacks.on_change
        self._on_gates_freed = callbacks.on_gates_freed
        self._to_monotonic = callbacks.to_monotonic
        self._emit = emit
        self._busy = 0
        self._ended: deque[EndedAttempt] = deque()
        self._with_output: dict[int, Attempt] = {}
        # Output that was last taken for storing; until the next take it may not be stored.
        self._being_stored: list[LogPiece] = []
        # Written by the attempt loop's thread, emptied here.
        self._reported_endings: deque[tuple[Attempt, EndedAttempt, bool]] = deque()
        self._is_woken = False
        self._engine = asyncio.get_running_loop()
        self._attempt_loop, self._by_kind, self._effects = self._open_loop()

    @property
    def free_slots(self) -> int:
        if len(self._ended) > UNSTORED_ENDINGS_FACTOR * self.slots:
            return 0
        return self.slots - self._busy

    @property
    def busy_slots(self) -> int:
        return self._busy

    @property
    def loop(self) -> AttemptLoop:
        return self._attempt_loop

    async def start_runs(self, runs: Sequence[ClaimedRun], *, is_gated: bool = False) -> None:
        """Start claimed runs. From now on the heartbeat renews them.

        If reading their job data fails, they are handed back at no cost, because their handlers
        never started.
        """
        self._loading[id(runs)] = runs
        try:
            attempts = self._create_attempts(
                runs, await self._job_specs.load_specs(runs), gated=is_gated
            )
        except BaseException:
            self._hand_back(runs)
            raise
        finally:
            del self._loading[id(runs)]
        graph_runs = [attempt for attempt in attempts if attempt.executor is GRAPH_KIND_EXECUTOR]
        if graph_runs:
            self._end_graph_runs(graph_runs)
            attempts = [
                attempt for attempt in attempts if attempt.executor is not GRAPH_KIND_EXECUTOR
            ]
        self._busy += len(attempts)
        self._attempt_loop.start_attempts(attempts)

    def _create_attempts(
        self, runs: Sequence[ClaimedRun], job_specs: Sequence[CachedJobSpec], *, gated: bool
    ) -> list[Attempt]:
        """Create an attempt for each run; the heartbeat renews either all of them or none."""
        policies, by_kind, kinds = self._job_specs.policies, self._by_kind, self._kinds
        tenants = self._job_specs.tenants
        is_bound = gated or self._stops_all_for_lease
        attempts = {}
        for run, job in zip(runs, job_specs, strict=True):
            kind = kinds[run.kind_id]
            payload = job.payload if run.payload is None else run.payload
            policy = policies[run.policy_id]
            attempt = Attempt(run, kind, policy, payload, by_kind[kind], self._effects)
            attempt.tenant = tenants[run.tenant_id]
            attempt.is_gated = gated
            attempt.forbids_overlap = is_bound or job.forbids_overlap
            if run.started_at == run.ready_at:  # claimed early
                attempt.start_at = self._to_monotonic(run.ready_at)
            attempts[run.id] = attempt
        self.running.update(attempts)
        return list(attempts.values())

    def _hand_back(self, runs: Sequence[ClaimedRun]) -> None:
        """End attempts whose handlers never started: their runs wait again."""
        for run in runs:
            self._handed_back[run.id] = run
            self._ended.append(
                EndedAttempt(
                    run_id=run.id,
                    attempt=run.attempt,
                    failures=run.failures,
                    kind=self._kinds[run.kind_id],
                    policy=DEFAULT_POLICY,
                    deadline_at=run.deadline_at,
                    outcome=HandedBack(has_started=False),
                    result=None,
                    is_recorded=False,
                    duration_s=0.0,
                )
            )
        self._on_change()

    def list_held_runs(self) -> list[UUID]:
        """Return the runs that the heartbeat renews. The heartbeat calls this from its thread, so
        each collection is copied in one step: the engine's thread may change it concurrently.
        """
        loading = [run.id for runs in list(self._loading.values()) for run in runs]
        return [*loading, *list(self._handed_back), *list(self.running)]

    def stop_for_lease(self) -> int:
        """Ask the attempts to stop that must not overlap their successors; return how many. The
        heartbeat calls this from its thread, because the engine may be blocked.
        """
        found = self._find_bound_by_lease()
        self._stopped_for_lease = tuple(attempt.executor for attempt in found)
        if found:
            self._attempt_loop.stop_attempts(found, StopReason.LEASE)
        return len(found)

    def has_outlived_lease(self) -> bool:
        """Return whether such an attempt, or a thread that it left behind, still runs."""
        return bool(self._find_bound_by_lease()) or any(
            isinstance(executor, AbandoningExecutor) and executor.abandoned > 0
            for executor in self._stopped_for_lease
        )

    def _find_bound_by_lease(self) -> list[Attempt]:
        attempts = list(self.running.values())
        return [a for a in attempts if a.forbids_overlap and not a.is_closed]

    def _end_graph_runs(self, attempts: Sequence[Attempt]) -> None:
        """End graph runs here: their steps are separate runs."""
        for attempt in attempts:
            attempt.is_closed = attempt.is_counted = True
            self._ended.append(build_ended(attempt, GraphExpanded(), None, 0.0))
        self._on_change()

    def stop_runs(self, run_ids: Iterable[UUID], reason: StopReason) -> None:
        """Ask runs to stop; ignores runs that this worker does not hold."""
        found = [self.running[run_id] for run_id in run_ids if run_id in self.running]
        if found:
            self._attempt_loop.stop_attempts(found, reason)

    def stop_all(self, reason: StopReason) -> None:
        self._attempt_loop.stop_attempts(list(self.running.values()), reason)

    def take_ended(self, limit: int) -> list[EndedAttempt]:
        return [self._ended.popleft() for _ in range(min(limit, len(self._ended)))]

    def return_ended(self, ended: Sequence[EndedAttempt]) -> None:
        """Return endings that could not be stored to the front."""
        self._ended.extendleft(reversed(ended))

    def release_runs(self, stored: Sequence[EndedAttempt]) -> None:
        """Stop renewing runs whose endings are stored or that belong to another worker.

        If this worker holds a newer attempt of the same run, that one stays.
        """
        places = 0
        for ended in stored:
            attempt = self.running.get(ended.run_id)
            if attempt is not None and attempt.attempt == ended.attempt:
                del self.running[ended.run_id]
                places += attempt.is_gated
                continue
            if self._handed_back:
                run = self._handed_back.get(ended.run_id)
                if run is not None and run.attempt == ended.attempt:
                    del self._handed_back[ended.run_id]
        if places:
            self._on_gates_freed()

    def take_last_output(self, ended: Sequence[EndedAttempt]) -> list[LogPiece]:
        """Return the output of ended attempts that may not be stored yet. Output that is being
        stored at this moment is included again: storing it twice changes nothing.
        """
        pieces: list[LogPiece] = []
        if self._being_stored:
            runs = {ending.run_id for ending in ended}
            pieces += [piece for piece in self._being_stored if piece.run_id in runs]
        for ending in ended:
            attempt = self.running.get(ending.run_id)
            if attempt is None or attempt.output is None or attempt.attempt != ending.attempt:
                continue
            run, chunks = attempt.run, attempt.output.take(LAST_OUTPUT_PIECES_MAX)
            pieces += [
                LogPiece(run.id, run.attempt, c.seq, c.stream, c.at, c.chunk) for c in chunks
            ]
        return pieces

    def take_output(self, limit: int) -> tuple[list[LogPiece], list[RunProgress]]:
        """Return output and progress that is not stored yet."""
        pieces: list[LogPiece] = []
        reports: list[RunProgress] = []
        for key in list(self._with_output):
            attempt = self._with_output.pop(key)
            run = attempt.run
            if attempt.output is not None:
                room = limit - len(pieces)
                chunks = attempt.output.take(room)
                pieces += [
                    LogPiece(run.id, run.attempt, c.seq, c.stream, c.at, c.chunk) for c in chunks
                ]
                if len(chunks) == room:
                    self._with_output[key] = attempt
            progress = attempt.take_progress()
            if progress is not None:
                reports.append(RunProgress(run.id, run.attempt, *progress))
            if len(pieces) >= limit:
                break
        self._being_stored = pieces
        return pieces, reports

    def replace_loop(self, silent_s: float) -> None:
        """Replace the blocked attempt loop: fail the attempt that blocks it, save the others.

        The others are handed back and start again elsewhere, which costs them no retry.
        """
        blocked, culprit = self._attempt_loop, self._attempt_loop.find_current_attempt()
        self._emit(LoopBlocked(seconds=silent_s, kind=culprit.kind if culprit else None))
        message = (
            f"handler blocked the event loop for {silent_s:.0f} s; run blocking work in a thread"
        )
        for attempt in list(self.running.values()):
            attempt.is_closed = True
            if not self._free_slot(attempt):
                continue
            outcome: Outcome = HandedBack(has_started=attempt.is_started)
            if attempt is culprit:
                outcome = Failed(failure=Failure(type="LoopBlocked", message=message))
            if attempt.span is not None:
                attempt.span.end(outcome)
            self._ended.append(build_ended(attempt, outcome, None, silent_s))
        self._attempt_loop, self._by_kind, self._effects = self._open_loop()
        blocked.abandon()
        self._on_change()

    async def close(self) -> None:
        if not await asyncio.to_thread(self._attempt_loop.close, CLOSE_TIMEOUT_S):
            self._attempt_loop.abandon()

    def _open_loop(self) -> tuple[AttemptLoop, dict[str, Executor], DatabaseEffects]:
        parts = self._make_parts(self._note_output)
        self._stops_all_for_lease = parts.stops_all_for_lease
        loop = AttemptLoop(
            parts.executors,
            on_close=parts.effects.close,
            on_ended=self._report_ending,
            pipeline=parts.pipeline,
        )
        loop.open()
        executors: list[Executor] = [GRAPH_KIND_EXECUTOR, *parts.executors]
        by_kind = {kind: executor for executor in executors for kind in executor.kinds}
        return loop, by_kind, parts.effects

    def _note_output(self, attempt: Attempt) -> None:
        self._with_output[id(attempt)] = attempt

    def _report_ending(self, attempt: Attempt, ended: EndedAttempt, is_stuck: bool) -> None:  # noqa: FBT001 — a callback
        """Queue the ending and wake the engine once. Runs in the attempt loop's thread."""
        self._reported_endings.append((attempt, ended, is_stuck))
        if not self._is_woken:
            self._is_woken = True
            self._engine.call_soon_threadsafe(self._collect_endings)

    def _collect_endings(self) -> None:
        self._is_woken = False
        while self._reported_endings:
            attempt, ended, is_stuck = self._reported_endings.popleft()
            if not self._free_slot(attempt):
                continue
            self._ended.append(ended)
            if is_stuck:
                self.stuck_attempts += 1
                self._emit(
                    AttemptStuck(run_id=attempt.run_id, kind=attempt.kind, attempt=attempt.attempt)
                )
        self._on_change()

    def _free_slot(self, attempt: Attempt) -> bool:
        """Free the attempt's slot, once: a replaced loop may still report its ending."""
        if attempt.is_counted:
            return False
        attempt.is_counted = True
        self._busy -= 1
        return True


@dataclass(slots=True, kw_only=True)
class StallMonitor:
    """Detects that the attempt loop is blocked. A duty of the engine: each pass pings the loop. If
    the loop has not responded for `limit`, a handler blocks it, and the pool continues with a new
    loop.
    """

    pool: AttemptPool
    clock: ClockSource
    limit: timedelta
    _ping: int = 0
    _since: float = 0.0
    _pinged: AttemptLoop | None = None

    async def tick(self) -> float:
        now, loop = self.clock.monotonic(), self.pool.loop
        if loop is not self._pinged or loop.last_ping == self._ping:
            self._pinged, self._since = loop, now
            self._ping += 1
            loop.ping(self._ping)
        elif now - self._since > self.limit.total_seconds():
            self.pool.replace_loop(now - self._since)
        if self.pool.stuck_attempts >= STUCK_ATTEMPTS_MAX:
            raise LeaseLost(
                thing="worker", id=f"{self.pool.stuck_attempts} attempts that never stopped"
            )
        return PING_INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainService:
    """Lets running attempts finish when the worker stops. Attempts that still run after `drain` are
    asked to stop and handed back to the queue: this costs no retry, and another worker starts them
    again.
    """

    pool: AttemptPool
    clock: AlarmClock
    drain: timedelta
    name: str = "draining"

    async def run(self, stop: Halt, /) -> None:
        await stop.wait()
        await self._wait(self.drain.total_seconds())
        if self.pool.busy_slots:
            self.pool.stop_all(StopReason.DRAIN)
            # The attempt loop gives up on each attempt when its grace period is over.
            await self._wait(float("inf"))

    async def _wait(self, seconds: float) -> None:
        end = self.clock.monotonic() + seconds
        pulse = Pulse()
        while self.pool.busy_slots and self.clock.monotonic() < end:
            await pulse.wait(self.clock, DRAIN_CHECK_INTERVAL_S)
