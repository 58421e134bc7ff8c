"""Decides which steps of a graph run start, are skipped or fail after other steps end.

A step is decided when all its parents are final, and the decision depends only on their states and
results. So neither the order of the endings nor the process that reports them matters.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rota.core.errors import ExpressionFailed, InvalidInput
from rota.core.expressions import is_true
from rota.core.graphs.graph import GraphStep, StepCondition, StepGraph
from rota.core.graphs.graph_outcome import find_end_state
from rota.core.graphs.payloads import build_step_payload, find_map_items, find_result_reads
from rota.core.graphs.scope import GraphScope, build_environment
from rota.core.graphs.step_states import FINAL_STEP_STATES, StepState
from rota.core.states import RunState

UPSTREAM_FAILED: Final = "upstream_failed"
UPSTREAM_CANCELLED: Final = "upstream_cancelled"
UPSTREAM_SKIPPED: Final = "upstream_skipped"
CONDITION_FALSE: Final = "condition"
_BLOCKING_STATES: Final = (
    (StepState.FAILED, UPSTREAM_FAILED),
    (StepState.CANCELLED, UPSTREAM_CANCELLED),
    (StepState.SKIPPED, UPSTREAM_SKIPPED),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAdvance:
    """The result of advancing a graph run. Steps in `ready` are live and need runs: with `payloads`
    (JSON), or as map members over `items`. Steps in `failed` failed without a run, for the given
    reason.
    """

    step_states: str
    ready: tuple[int, ...] = ()
    payloads: Mapping[int, str | None] = field(default_factory=dict)
    items: Mapping[int, Sequence[object] | int] = field(default_factory=dict)
    skipped: Mapping[int, str] = field(default_factory=dict)
    failed: Mapping[int, str] = field(default_factory=dict)
    final: RunState | None = None


def record_endings(step_states: str, ended: Mapping[int, StepState]) -> str:
    """Record endings in the step states without deciding anything, as a paused graph run does. A
    step that is already final keeps its state, so recording an ending twice is harmless.
    """
    if not ended:
        return step_states
    states = list(step_states)
    for index, state in ended.items():
        if states[index] not in FINAL_STEP_STATES:
            states[index] = state.value
    return "".join(states)


def advance_graph(
    graph: StepGraph, step_states: str, ended: Mapping[int, StepState], scope: GraphScope
) -> GraphAdvance:
    """Record the endings and decide all steps that depend on them. Without endings, every waiting
    step is evaluated: that is how a run starts, resumes and starts another round.
    """
    work = _GraphPass(graph, record_endings(step_states, ended), scope)
    work.decide(_affected_steps(graph, work.states, ended))
    return work.result()


def find_needed_results(
    graph: StepGraph, step_states: str, ended: Mapping[int, StepState]
) -> frozenset[int]:
    """Return the steps whose result or error `advance_graph` may read with these arguments. It may
    return a few more than needed, because it is not yet known which steps are skipped.
    """
    states = list(record_endings(step_states, ended))
    wanted: set[int] = set()
    queue = deque(_affected_steps(graph, states, ended))
    while queue:
        step = graph.steps[queue.popleft()]
        if states[step.index] == StepState.WAITING and _is_decidable(step, states):
            wanted |= find_result_reads(graph, step.index)
            states[step.index] = StepState.SKIPPED
            queue.extend(step.children)
    return frozenset(wanted)


def _affected_steps(
    graph: StepGraph, states: Sequence[str], ended: Mapping[int, StepState]
) -> Iterable[int]:
    if not ended:
        return [index for index in graph.order if states[index] == StepState.WAITING]
    return dict.fromkeys(child for index in ended for child in graph.steps[index].children)


def _is_decidable(step: GraphStep, states: Sequence[str]) -> bool:
    return all(states[parent] in FINAL_STEP_STATES for parent in step.needs)


class _GraphPass:
    def __init__(self, graph: StepGraph, board: str, scope: GraphScope) -> None:
        self._graph = graph
        self._scope = scope
        self.states = list(board)
        self._payloads: dict[int, str | None] = {}
        self._items: dict[int, Sequence[object] | int] = {}
        self._skipped: dict[int, str] = {}
        self._failed: dict[int, str] = {}

    def decide(self, affected: Iterable[int]) -> None:
        queue = deque(affected)
        while queue:
            step = self._graph.steps[queue.popleft()]
            if self.states[step.index] != StepState.WAITING or not _is_decidable(step, self.states):
                continue
            state = self._decide_step(step)
            self.states[step.index] = state.value
            if state in FINAL_STEP_STATES:
                queue.extend(step.children)

    def _decide_step(self, step: GraphStep) -> StepState:
        try:
            reason = self._skip_reason(step)
            if reason is None:
                self._prepare(step)
                return StepState.LIVE
        except (ExpressionFailed, InvalidInput) as error:
            self._failed[step.index] = str(error)
            return StepState.FAILED
        self._skipped[step.index] = reason
        return StepState.SKIPPED

    def _skip_reason(self, step: GraphStep) -> str | None:
        """Return why a step does not run; None if it does."""
        if isinstance(step.when, StepCondition):
            return _skip_reason(step.when, {self.states[parent] for parent in step.needs})
        # A parent whose state the condition does not read must have succeeded: an author who writes
        # `steps.count.result > 3` does not mean "and run even if the other parent failed".
        unread = {
            self.states[parent] for parent in step.needs if parent not in step.condition_parents
        }
        reason = _skip_reason(StepCondition.SUCCESS, unread)
        if reason is not None or is_true(step.when, self._environment()):
            return reason
        return CONDITION_FALSE

    def _environment(self) -> dict[str, object]:
        return build_environment(self._graph, "".join(self.states), self._scope)

    def _prepare(self, step: GraphStep) -> None:
        board = "".join(self.states) if step.reads else ""
        if step.map is not None:
            items = find_map_items(self._graph, step.index, board, self._scope)
            if items is not None:
                self._items[step.index] = items
                return
        self._payloads[step.index] = build_step_payload(self._graph, step.index, board, self._scope)

    def result(self) -> GraphAdvance:
        board = "".join(self.states)
        return GraphAdvance(
            step_states=board,
            ready=tuple(sorted({*self._payloads, *self._items})),
            payloads=self._payloads,
            items=self._items,
            skipped=self._skipped,
            failed=self._failed,
            final=find_end_state(self._graph, board),
        )


def _skip_reason(when: StepCondition, parents: set[str]) -> str | None:
    """Return why parents in these states prevent a step from running; None if they do not."""
    match when:
        case StepCondition.ALWAYS:
            return None
        case StepCondition.FAILURE:
            return None if StepState.FAILED in parents else CONDITION_FALSE
        case StepCondition.NONE_FAILED if StepState.SUCCEEDED in parents:
            parents = parents - {StepState.SKIPPED}
        case _:
            pass
    return next((reason for state, reason in _BLOCKING_STATES if state in parents), None)
