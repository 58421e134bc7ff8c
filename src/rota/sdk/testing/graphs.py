"""Runs a graph in this process, without a database, for tests of graphs.

The engine's own code (core/graphs) decides which steps follow, and inline.py runs each step with
all its retries. Steps run one after the other, in the order in which they become ready. A kind
without a Python function (`shell`, `http`) needs a stand-in.
"""

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rota.contract.graph import read_graph
from rota.core.errors import ExpressionFailed, InvalidInput
from rota.core.graphs import (
    GraphAdvance,
    GraphScope,
    GraphStep,
    StepGraph,
    StepState,
    advance_graph,
    build_graph_result,
    create_member_payload_builder,
    describe_graph_error,
    initial_step_states,
)
from rota.core.graphs.step_states import STEP_STATE_WORDS
from rota.sdk.graph.graph import Graph as Written
from rota.sdk.testing.inline import RunHistory, run_until_ended_async

StandIn = Callable[[Any], Any]
RUN_ID: Final = "run_00000000000000000000000000000000"


@dataclass(slots=True, kw_only=True)
class StepRunResult:
    """The outcome of a step. `stories` are its runs: one, or for a map one per member. `results`
    are the results of a map's members.
    """

    state: str = "waiting"
    payload: Any = None
    result: Any = None
    results: list[Any] | None = None
    reason: str | None = None
    runs: list[RunHistory] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRunResult:
    """A finished graph run; `order` lists the steps in the order of their start."""

    state: str
    result: Any
    error: str | None
    steps: Mapping[str, StepRunResult]
    order: tuple[str, ...]

    def __getitem__(self, step: str) -> StepRunResult:
        return self.steps[step]

    @property
    def succeeded(self) -> bool:
        return self.state == "succeeded"


def run_graph(graph: Written, *args: Any, **kwargs: Any) -> GraphRunResult:
    """Run a graph with these arguments; see `run_graph_async` for the other parameters."""
    return asyncio.run(run_graph_async(graph, *args, **kwargs))


async def run_graph_async(
    graph: Written, *args: Any, stand_ins: Mapping[str, StandIn] | None = None, **kwargs: Any
) -> GraphRunResult:
    """Run a graph to its end. `stand_ins` are functions by kind that replace the executor: each is
    called with the payload of a step, and an exception fails the step.
    """
    draft = graph.draft(*args, **kwargs)
    runner = _GraphRunner(graph.jobs, stand_ins or {})
    return await runner.graph(read_graph(draft["graph"]), draft["payload"])


class _GraphRunner:
    def __init__(self, jobs: Mapping[str, Any], stand_ins: Mapping[str, StandIn]) -> None:
        self._jobs = jobs
        self._stand_ins = stand_ins

    async def graph(self, graph: StepGraph, payload: Any) -> GraphRunResult:
        played = {step.name: StepRunResult() for step in graph.steps}
        order: list[str] = []
        board, ended = initial_step_states(graph), dict[int, StepState]()
        while True:
            scope = _scope(graph, payload, played)
            after = advance_graph(graph, board, ended, scope)
            board = after.step_states
            for index, reason in {**after.skipped, **after.failed}.items():
                played[graph.steps[index].name].reason = reason
            if after.final is not None:
                break
            order += [graph.steps[index].name for index in after.ready]
            ended = {
                index: await self._start_step(graph, index, after, scope, played)
                for index in after.ready
            }
        for step in graph.steps:
            played[step.name].state = STEP_STATE_WORDS[board[step.index]]
        scope = _scope(graph, payload, played)
        return GraphRunResult(
            state=after.final.value,
            result=json.loads(build_graph_result(graph, board, scope) or "null"),
            error=describe_graph_error(graph, board),
            steps=played,
            order=tuple(order),
        )

    async def _start_step(
        self,
        graph: StepGraph,
        index: int,
        after: GraphAdvance,
        scope: GraphScope,
        played: Mapping[str, StepRunResult],
    ) -> StepState:
        step = graph.steps[index]
        outcome = played[step.name]
        outcome.payload = json.loads(after.payloads.get(index) or "null")
        if step.map is None:
            return await self._step(step, outcome)
        make = create_member_payload_builder(graph, index, after.step_states, scope)
        return await self._map(step, outcome, after.items.get(index), make)

    async def _step(self, step: GraphStep, outcome: StepRunResult) -> StepState:
        if step.graph is not None:
            inner = await self.graph(step.graph, outcome.payload)
            outcome.result, outcome.reason = inner.result, inner.error
            succeeded = inner.succeeded
        else:
            succeeded, outcome.result, outcome.reason = await self._run(step.kind, step, outcome)
        return StepState.SUCCEEDED if succeeded else StepState.FAILED

    async def _run(
        self, kind: str, step: GraphStep, outcome: StepRunResult
    ) -> tuple[bool, Any, str | None]:
        """Return whether a run succeeded, its result and its error."""
        if kind in self._stand_ins:
            try:
                returned = self._stand_ins[kind](outcome.payload)
                result = await returned if inspect.isawaitable(returned) else returned
            except Exception as error:  # noqa: BLE001 — a stand-in may raise anything
                return False, None, f"{type(error).__name__}: {error}"
            return True, result, None
        if kind not in self._jobs:
            wanted = "this kind has no Python function; pass a function for it in stand_ins"
            raise InvalidInput("kind", kind, wanted)
        story = await run_until_ended_async(
            self._jobs[kind], outcome.payload, retries=step.policy.get("retries")
        )
        outcome.runs.append(story)
        return story.state == "succeeded", story.result, story.attempts[-1].error

    async def _map(
        self,
        step: GraphStep,
        outcome: StepRunResult,
        items: Sequence[Any] | int | None,
        make: Callable[[object, int], str | None],
    ) -> StepState:
        if step.map is None:
            raise RuntimeError("only a map has members")
        if items is None:
            items = await self._source_items(step, outcome)
        results: list[Any] = []
        failed = 0
        for number, item in enumerate(range(items) if isinstance(items, int) else items):
            member = (item, number)
            succeeded, result, outcome.reason = await self._member(step, outcome, make, member)
            failed += not succeeded
            results.append(result if succeeded else None)
        total = len(results)
        outcome.payload = None
        outcome.result = {"total": total, "succeeded": total - failed, "failed": failed}
        outcome.results = results
        is_tolerated = step.map.tolerate.allows(failed, total)
        if is_tolerated:
            outcome.reason = None
        return StepState.SUCCEEDED if is_tolerated else StepState.FAILED

    async def _member(
        self,
        step: GraphStep,
        outcome: StepRunResult,
        make: Callable[[object, int], str | None],
        member: tuple[object, int],
    ) -> tuple[bool, Any, str | None]:
        try:
            outcome.payload = json.loads(make(*member) or "null")
        except (ExpressionFailed, InvalidInput) as error:
            return False, None, str(error)
        return await self._run(step.kind, step, outcome)

    async def _source_items(self, step: GraphStep, outcome: StepRunResult) -> list[Any]:
        """The items that the source of a map yields."""
        if step.map is None or step.map.source is None:
            raise RuntimeError("the map has no source")
        kind = step.map.source.kind
        if kind in self._stand_ins:
            return list(self._stand_ins[kind](outcome.payload))
        job = self._jobs[kind]
        items = job.function(**job.arguments.read(outcome.payload))
        return [item async for item in items] if inspect.isasyncgen(items) else list(items)


def _scope(graph: StepGraph, payload: Any, played: Mapping[str, StepRunResult]) -> GraphScope:
    outcomes = {step.index: played[step.name] for step in graph.steps}
    return GraphScope(
        input=payload,
        run_id=RUN_ID,
        results={index: outcome.result for index, outcome in outcomes.items()},
        errors={index: outcome.reason for index, outcome in outcomes.items()},
        members={index: outcome.results for index, outcome in outcomes.items()},
    )
