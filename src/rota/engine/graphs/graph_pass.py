"""Holds one graph run during one pass: its step states, its completions, and what follows.

advancer.py fills it after locking the graph run, and then writes it to the store. core/graphs
decides what the completions mean for the other steps.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec

from rota.core.graphs import (
    GraphAdvance,
    GraphScope,
    StepState,
    initial_step_states,
    record_endings,
    step_state_of_run,
)
from rota.core.ids import derive_step_run_id
from rota.core.states import RunState
from rota.core.time import moments
from rota.engine.graphs.plans import GraphPlan
from rota.store.graphs import (
    LOOK_AGAIN_STEP,
    GraphInput,
    LockedGraphRun,
    NewNestedRun,
    NewStep,
    StepCompletionRow,
    StepResult,
    StepStatesUpdate,
)

_STATES: Final = {state.value: state for state in RunState}
_EMPTY_JSON_OBJECT: Final = "{}"
_EMPTY_SCOPE: Final = GraphScope()
_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_decode: Final = msgspec.json.decode


class GraphPass:
    """A graph run during one pass. `ended` has the completed steps that are not processed yet,
    `map_completions` the completions of map members.
    """

    __slots__ = (
        "_results",
        "_rounds",
        "_told",
        "board",
        "checks_all_steps",
        "ended",
        "final",
        "has_members",
        "input",
        "is_changed",
        "is_whole",
        "locked",
        "map_completions",
        "map_results",
        "nested",
        "plan",
        "steps",
    )

    def __init__(self, locked: LockedGraphRun, plan: GraphPlan) -> None:
        self.locked = locked
        self.plan = plan
        # Nothing is decided yet: the graph run starts, or is retried as a whole.
        self.is_whole = not locked.board
        self.board = locked.board or initial_step_states(plan.graph)
        self.is_changed = self.is_whole
        self.checks_all_steps = self.is_whole
        self.ended: dict[int, StepState] = {}
        self.map_completions: dict[int, list[StepCompletionRow]] = {}
        self.steps: list[NewStep] = []
        self.nested: list[NewNestedRun] = []
        self.final: RunState | None = None
        self.input: GraphInput | None = None
        # The counters of maps, and the lists of their members' results.
        self.map_results: dict[int, tuple[object, object]] = {}
        self.has_members = False
        self._results: dict[int, StepResult] = {}
        self._rounds: dict[int, int] | None = None
        self._told: dict[str, str] | None = None

    @property
    def run_id(self) -> UUID:
        return self.locked.run_id

    @property
    def rounds(self) -> dict[int, int]:
        if self._rounds is None:
            text = self.locked.rounds
            found = {} if text == _EMPTY_JSON_OBJECT else _decode(text)
            self._rounds = {int(step): round_ for step, round_ in found.items()}
        return self._rounds

    @property
    def reasons(self) -> dict[str, str]:
        if self._told is None:
            self._told = {} if self.locked.told == _EMPTY_JSON_OBJECT else _decode(self.locked.told)
        return self._told

    def step_run_id_of(self, step: int) -> UUID:
        """Return the id of the latest run of a step."""
        return derive_step_run_id(self.run_id, step, round_=self.rounds.get(step, 0))

    def add_completions(self, completions: Iterable[StepCompletionRow]) -> None:
        """Assign completions to steps and maps. A completion of a run that is not the step's latest
        belongs to an earlier round and is ignored.
        """
        for completion in completions:
            if completion.step == LOOK_AGAIN_STEP:
                self.checks_all_steps = True
            elif completion.step < 0 or self.board[completion.step] != StepState.LIVE:
                continue
            elif self.plan.graph.steps[completion.step].map is not None:
                self.map_completions.setdefault(completion.step, []).append(completion)
            elif completion.state is not None and self._is_last(completion):
                self.ended[completion.step] = step_state_of_run(_STATES[completion.state])

    def _is_last(self, completion: StepCompletionRow) -> bool:
        return not self.locked.round or completion.run_id == self.step_run_id_of(completion.step)

    def settle_map(self, step: int, state: StepState, why: str | None) -> None:
        """Record the final state of a map, which has no completion of its own."""
        self.ended[step] = state
        if why is not None:
            self.reasons[str(step)] = why

    def apply_decision(self, after: GraphAdvance) -> None:
        """Apply the decision of core: new step states, and runs of the ready steps."""
        self.is_changed = True
        self.checks_all_steps = False
        self.ended = {}
        self.board = after.step_states
        self.final = after.final
        for reasons in (after.skipped, after.failed):
            for step, why in reasons.items():
                self.reasons[str(step)] = why
        for step in after.ready:
            self._begin(step)
            if step in after.payloads and self.plan.graph.steps[step].map is None:
                self._make(step, after.payloads[step])

    def _begin(self, step: int) -> None:
        """Make the run of this round the step's latest run."""
        if self.locked.round:
            self.rounds[step] = self.locked.round

    def _make(self, step: int, payload: str | None) -> None:
        inner, ids = self.plan.graph.steps[step], self.plan.ids[step]
        if ids is None:
            self.nested.append(
                NewNestedRun(
                    self.step_run_id_of(step),
                    self.run_id,
                    step,
                    self.plan.queues.get(step),
                    inner.priority,
                    payload,
                )
            )
        else:
            self.steps.append(self.build_step_run(step, payload))

    def build_step_run(self, step: int, payload: str | None = None) -> NewStep:
        """Return the run of a step; for a map, the run of a member."""
        ids = self.plan.ids[step]
        if ids is None:
            raise ValueError(f"step {step} is a graph")
        return NewStep(
            self.step_run_id_of(step),
            self.run_id,
            step,
            None,
            ids.queue_id,
            ids.kind_id,
            ids.policy_id,
            ids.priority,
            ids.guarantee,
            payload,
            ids.deadline,
        )

    def runs_from_scratch(self, step: int) -> bool:
        """Return whether a map runs again because a parent does, and not because it failed."""
        round_ = self.locked.round
        parents = self.plan.graph.steps[step].needs
        return self.is_whole or any(self.rounds.get(parent, 0) == round_ for parent in parents)

    def add_results(self, results: Mapping[UUID, StepResult], steps: Iterable[int]) -> None:
        """Store the results of the runs of these steps."""
        for step in steps:
            found = results.get(self.step_run_id_of(step))
            if found is not None:
                self._results[step] = found

    def missing_results(self, steps: Iterable[int]) -> list[int]:
        """Return those of these steps whose results are not read yet. Maps are left out."""
        maps = self.plan.graph.steps
        return [s for s in steps if s not in self._results and maps[s].map is None]

    def build_scope(self) -> GraphScope:
        """Return the values that expressions may use; an empty scope without expressions."""
        if not self.plan.uses_input and not self._results and not self.map_results:
            return _EMPTY_SCOPE
        given = self.input
        results: dict[int, object] = {}
        errors: dict[int, Any] = {
            int(step): {"type": "StepFailed", "message": why} for step, why in self.reasons.items()
        }
        members: dict[int, object] = {}
        for step, (counters, listed) in self.map_results.items():
            results[step], members[step] = counters, listed
        for step, row in self._results.items():
            if row.result is not None:
                results[step] = _decode(row.result)
            if row.reason is not None and row.state is not RunState.SUCCEEDED:
                errors[step] = _decode(row.reason)
                if isinstance(errors[step], dict):
                    # Expressions and payloads see what failed, not where in the code.
                    errors[step].pop("traceback", None)
                    errors[step].pop("frame", None)
        return GraphScope(
            input=None if given is None or given.payload is None else _decode(given.payload),
            run_id=str(self.run_id),
            scheduled_at=None if given is None else moments.to_rfc3339(given.scheduled_at),
            attempt=self.locked.round + 1,
            results=results,
            errors=errors,
            members=members,
        )

    def build_row(self) -> StepStatesUpdate:
        """Return the row to store."""
        return StepStatesUpdate(
            self.run_id,
            record_endings(self.board, self.ended),
            None if self._rounds is None else _text({str(k): v for k, v in self._rounds.items()}),
            None if self._told is None else _text(self._told),
            self.final is not None,
        )


def group_by_graph_run(
    completions: Sequence[StepCompletionRow],
) -> dict[UUID, list[StepCompletionRow]]:
    found: dict[UUID, list[StepCompletionRow]] = {}
    for completion in completions:
        found.setdefault(completion.graph_run_id, []).append(completion)
    return found


def _text(value: Any) -> str:
    return _encode(value).decode()
