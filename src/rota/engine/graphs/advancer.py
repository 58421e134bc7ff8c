"""Advances graph runs: starts the steps that step completions make ready, and ends graph runs.

The statement that ends a step's run also inserts a step completion. The process that recorded the
outcome wakes this duty, and every node also scans for completions that were left behind. A pass
locks graph runs, consumes their completions, computes the ready steps, writes their runs and the
new step states, and moves complete graph runs to history, all in one transaction. If the commit
fails, the completions are still there. So a step starts once, and no completion is lost
(docs/adr/0018-step-completions.md). step_decisions.py computes what follows; map_steps.py handles
steps with many members; a graph run that cannot be advanced does not block others
(error_tracker.py).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from rota.core.errors import RotaError, StoreFailed, StoreRefused, StoreUnavailable
from rota.core.log_events import Emit, GraphAdvanceDelayed, GraphAdvanceFailed, RunSetAside
from rota.core.states import RunState
from rota.core.submissions import encode_canonical
from rota.engine.graphs.error_tracker import ADVANCE_TRIES_MAX, GraphErrorTracker
from rota.engine.graphs.graph_pass import GraphPass, group_by_graph_run
from rota.engine.graphs.plans import GraphPlan, PlanCache, PlanKey, UnreadableGraph
from rota.engine.graphs.step_cancellation import cancel_steps, update_step_states
from rota.engine.graphs.step_decisions import build_endings, decide_steps
from rota.store import graphs
from rota.store.driver import Connection, ConnectionSource
from rota.store.graphs import (
    SMALLEST_ID,
    EndedGraphRun,
    GraphEnding,
    LockedGraphRun,
    StepStatesUpdate,
)
from rota.store.transaction import transaction

# Graph runs per transaction. Each may start up to a thousand steps, usually one or two.
ADVANCE_BATCH_MAX: Final = 500
SCAN_INTERVAL_S: Final = 1.0
# Seconds from the start of one pass to the next: under load a pass consumes more completions, and
# an idle system does not wait.
PASS_INTERVAL_S: Final = 0.01
# Seconds until the next try if another node holds the lock of a graph run: that node may not have
# seen the newest completions.
LOCKED_RETRY_S: Final = 0.02
BLOCKED: Final = RunState.BLOCKED.value
REASON_CHARS_MAX: Final = 1000


class UnknownPlansError(Exception):
    """Ends a transaction in which plans were missing. The caller loads them and tries again."""

    def __init__(self, keys: set[PlanKey]) -> None:
        super().__init__()
        self.keys = keys


@dataclass(slots=True)
class AdvanceResult:
    """The results of one pass: whether it created runs, whether it freed gates, and the graph runs
    that have completions now. `locked` are the graph runs that it locked.
    """

    has_new_runs: bool = False
    has_freed_gates: bool = False
    next: list[UUID] = field(default_factory=list)
    locked: set[UUID] = field(default_factory=set)

    def add_ended(self, ended: EndedGraphRun) -> None:
        """Record that a graph run ended. If it is a step itself, its parent has a completion."""
        self.has_freed_gates |= ended.is_gated
        if ended.graph_run_id is not None:
            self.next.append(ended.graph_run_id)


@dataclass(slots=True, kw_only=True)
class GraphAdvancer:
    """Advances graph runs as a background duty. It calls `on_runs_created` when runs are waiting,
    `on_gates_freed` when gates have free slots, and `wake` when it has work itself.
    """

    source: ConnectionSource
    on_runs_created: Callable[[], object]
    on_gates_freed: Callable[[], object]
    wake: Callable[[], object]
    monotonic: Callable[[], float]
    emit: Emit
    plans: PlanCache = field(default_factory=PlanCache)
    _kicked: dict[UUID, None] = field(default_factory=dict)
    _busy: dict[UUID, None] = field(default_factory=dict)
    _began: float = float("-inf")
    _after: UUID = SMALLEST_ID
    _look_at: float = float("-inf")
    _reported_newer: set[UUID] = field(default_factory=set)
    _faltering: GraphErrorTracker = field(init=False)

    def __post_init__(self) -> None:
        self._faltering = GraphErrorTracker(monotonic=self.monotonic)

    def advance_soon(self, ids: Iterable[UUID]) -> None:
        """Advance these graph runs soon: they have step completions."""
        self._kicked.update(dict.fromkeys(ids))
        self.wake()

    def scan_soon(self) -> None:
        """Scan for step completions of any graph run soon."""
        self._look_at = float("-inf")
        self.wake()

    async def tick(self) -> float:
        """Advance the graph runs of `advance_soon`, or else scan for completions that were left
        behind.
        """
        now = self.monotonic()
        if self._kicked and now < self._began + PASS_INTERVAL_S:
            return self._began + PASS_INTERVAL_S - now
        self._began = now
        self.plans.expire(now)
        if self._kicked:
            await self._advance_some(self._kicked, self._busy)
        elif self._busy:
            # A graph run that cannot be locked twice is paused or has no completions by now;
            # otherwise a scan finds it.
            await self._advance_some(self._busy, {})
        elif self.monotonic() >= self._look_at:
            await self._look_around()
        if self._kicked:
            return 0.0
        return LOCKED_RETRY_S if self._busy else max(0.0, self._look_at - self.monotonic())

    async def _advance_some(self, wanted: dict[UUID, None], again: dict[UUID, None]) -> None:
        """Advance a batch of the wanted graph runs. Add those that are locked to `again`."""
        ids = list(wanted)[:ADVANCE_BATCH_MAX]
        for run_id in ids:
            del wanted[run_id]
        try:
            async with self.source.acquire() as conn:
                locked = await self.advance(conn, ids)
        except BaseException:
            self._kicked.update(dict.fromkeys(ids))
            raise
        again.update(dict.fromkeys(run_id for run_id in ids if run_id not in locked))

    async def _look_around(self) -> None:
        """Scan from where the last scan ended, so that a graph run that keeps its completions does
        not hold up others.
        """
        async with self.source.acquire() as conn:
            found = await graphs.find_completed(conn, after=self._after, limit=ADVANCE_BATCH_MAX)
            if found:
                await graphs.drop_orphans(conn, found)
                await self.advance(conn, found)
        if len(found) == ADVANCE_BATCH_MAX:
            self._after = found[-1]
        else:
            self._after = SMALLEST_ID
            self._look_at = self.monotonic() + SCAN_INTERVAL_S

    async def advance(self, conn: Connection, ids: Sequence[UUID]) -> set[UUID]:
        """Advance these graph runs and notify the callbacks. Return those that need no other try
        soon; the others are paused, or another node has locked them.
        """
        ready = self._faltering.select_ready(ids)
        waiting: set[UUID] = set() if ready is ids else set(ids).difference(ready)
        if not ready:
            return waiting
        try:
            passed = await self._pass(conn, ready)
        except (StoreUnavailable, StoreRefused):
            raise
        except Exception as error:  # noqa: BLE001 — one faulty graph run must not stop the others
            if len(ready) == 1:
                await self._falter(conn, ready[0], error)
                return waiting | set(ready)
            # A graph run that cannot be decided or stored must not block the others: bisect.
            middle = len(ready) // 2
            first = await self.advance(conn, ready[:middle])
            return waiting | first | await self.advance(conn, ready[middle:])
        self._faltering.remove(passed.locked)
        self._tell(passed)
        return waiting | passed.locked

    def _tell(self, passed: AdvanceResult) -> None:
        self._kicked.update(dict.fromkeys(passed.next))
        if passed.has_new_runs:
            self.on_runs_created()
        if passed.has_freed_gates:
            self.on_gates_freed()

    async def _pass(self, conn: Connection, ids: Sequence[UUID]) -> AdvanceResult:
        while True:
            try:
                async with transaction(conn):
                    return await self._within(conn, ids)
            except UnknownPlansError as unknown:
                await self.plans.load(conn, unknown.keys)

    async def _within(self, conn: Connection, ids: Sequence[UUID]) -> AdvanceResult:
        """Do one pass in the caller's transaction."""
        locked = await graphs.lock_graph_runs(conn, ids)
        passed = AdvanceResult(locked={row.run_id for row in locked})
        if not locked:
            return passed
        plans = self._plans_of(locked)
        locked = self._keep_known(locked, plans)
        if not locked:
            return passed
        over = [row for row in locked if row.state is None]
        # Before the completions are consumed, so that a step that ends meanwhile is among them.
        alive = await cancel_steps(conn, over)
        passed.next += alive.nested
        completions = group_by_graph_run(
            await graphs.take_completions(conn, [row.run_id for row in locked])
        )
        boards = await update_step_states(conn, over, alive, completions)
        passes: list[GraphPass] = []
        ended: list[GraphEnding] = []
        for row in locked:
            plan = plans.get(row.run_id)
            if isinstance(plan, UnreadableGraph):
                ended.append(build_dead_ending(row, plan.reason))
                boards.append(StepStatesUpdate(row.run_id, row.board, None, None, has_ended=True))
            elif plan is not None and row.run_id in completions:
                passes.append(GraphPass(row, plan))
                passes[-1].add_completions(completions[row.run_id])
        await decide_steps(conn, passes)
        ended += await build_endings(conn, passes)
        await _write(conn, passes, boards, ended, passed)
        return passed

    def _keep_known(
        self, locked: list[LockedGraphRun], plans: Mapping[UUID, GraphPlan | UnreadableGraph]
    ) -> list[LockedGraphRun]:
        """Return the graph runs that this version can advance. The others keep their completions
        for a node of a newer version; each is logged once.
        """
        newer = {
            run_id: plan.reason
            for run_id, plan in plans.items()
            if isinstance(plan, UnreadableGraph) and plan.is_newer
        }
        if not newer:
            return locked
        for run_id in newer.keys() - self._reported_newer:
            self.emit(RunSetAside(run_id=run_id, reason=newer[run_id][:REASON_CHARS_MAX]))
        self._reported_newer |= newer.keys()
        return [row for row in locked if row.run_id not in newer]

    def _plans_of(
        self, locked: Sequence[LockedGraphRun]
    ) -> dict[UUID, GraphPlan | UnreadableGraph]:
        """Return the plans of the graph runs that are active and expanded."""
        keys = {
            row.run_id: PlanKey(row.graph_id, tuple(row.path), row.policy_id)
            for row in locked
            if row.state == BLOCKED and row.policy_id is not None
        }
        found = {run_id: self.plans.get(key) for run_id, key in keys.items()}
        unknown = {keys[run_id] for run_id, plan in found.items() if plan is None}
        if unknown:
            raise UnknownPlansError(unknown)
        return {run_id: plan for run_id, plan in found.items() if plan is not None}

    async def _falter(self, conn: Connection, run_id: UUID, error: Exception) -> None:
        """Postpone a graph run that could not be advanced, or end it. It ends after too many tries,
        or if the database refused a statement, because it would refuse that again.
        """
        reason = describe_error(error)
        tries = self._faltering.record_failure(run_id)
        if tries < ADVANCE_TRIES_MAX and not isinstance(error, StoreFailed):
            self.emit(GraphAdvanceDelayed(run_id=run_id, reason=reason, tries=tries))
            return
        try:
            await self._give_up(conn, run_id, reason)
        except (StoreUnavailable, StoreRefused):
            raise
        except Exception as worse:  # noqa: BLE001 — as above; the next try follows after the pause
            self.emit(GraphAdvanceDelayed(run_id=run_id, reason=describe_error(worse), tries=tries))

    async def _give_up(self, conn: Connection, run_id: UUID, reason: str) -> None:
        """End a graph run as dead. The completions that this inserts cancel its steps."""
        passed = AdvanceResult()
        async with transaction(conn):
            locked = await graphs.lock_graph_runs(conn, [run_id])
            ended = [
                build_dead_ending(row, f"the graph run could not be advanced: {reason}")
                for row in locked
            ]
            for ending in await graphs.finish_graph_runs(conn, ended):
                passed.add_ended(ending)
            # If the graph run had ended before, cancelling its steps is what fails. Delete its
            # completions, or it would be tried for ever.
            await graphs.take_completions(conn, [row.run_id for row in locked if row.state is None])
        self._faltering.remove([run_id])
        if locked:
            self.emit(GraphAdvanceFailed(run_id=run_id, reason=reason))
        self._tell(passed)


async def _write(
    conn: Connection,
    passes: Sequence[GraphPass],
    boards: list[StepStatesUpdate],
    ended: Sequence[GraphEnding],
    passed: AdvanceResult,
) -> None:
    """Write the new steps, step states and endings of a pass."""
    steps = [step for graph_pass in passes for step in graph_pass.steps]
    if steps:
        await graphs.insert_steps(conn, steps)
    nested = [graph_run for graph_pass in passes for graph_run in graph_pass.nested]
    if nested:
        passed.next += await graphs.insert_nested_runs(conn, nested)
    boards += [graph_pass.build_row() for graph_pass in passes if graph_pass.is_changed]
    if boards:
        await graphs.store_step_states(conn, boards)
    if ended:
        for ending in await graphs.finish_graph_runs(conn, ended):
            passed.add_ended(ending)
    passed.has_new_runs = bool(steps) or any(graph_pass.has_members for graph_pass in passes)


def build_dead_ending(row: LockedGraphRun, why: str) -> GraphEnding:
    reason = encode_canonical({"type": "GraphFailed", "message": why.replace("\x00", "")})
    return GraphEnding(row.run_id, RunState.DEAD, None, reason)


def describe_error(error: Exception) -> str:
    """Return the text of an error, with its class if it is not a `RotaError`."""
    text = str(error) if isinstance(error, RotaError) else f"{type(error).__name__}: {error}"
    return text[:REASON_CHARS_MAX]
