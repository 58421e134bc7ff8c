"""Plays a graph here and now, without a database: for tests of graphs. Room: sdk/testing.

What follows from what is decided by the code that the engine uses (core/graphs), and a step's run
is one of inline.py, with all its retries. Steps run one after the other, in the order in which they
become ready. A kind that has no function here (`shell`, `http`) needs a stand-in.
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
    Advanced,
    Graph,
    Scope,
    Step,
    StepState,
    advance,
    first_board,
    graph_error,
    graph_result,
    member_payloads,
)
from rota.core.graphs.board import WORDS
from rota.sdk.graph.graph import Graph as Written
from rota.sdk.testing.inline import Story, run_until_ended_async

StandIn = Callable[[Any], Any]
RUN_ID: Final = "run_00000000000000000000000000000000"


@dataclass(slots=True, kw_only=True)
class PlayedStep:
    """What became of a step. `stories` are its runs: one, or of a map one for each member, whose
    results are `results`.
    """

    state: str = "waiting"
    payload: Any = None
    result: Any = None
    results: list[Any] | None = None
    reason: str | None = None
    stories: list[Story] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A graph run that has ended; `order` is how its steps were started."""

    state: str
    result: Any
    error: str | None
    steps: Mapping[str, PlayedStep]
    order: tuple[str, ...]

    def __getitem__(self, step: str) -> PlayedStep:
        return self.steps[step]

    @property
    def succeeded(self) -> bool:
        return self.state == "succeeded"


def run_graph(graph: Written, *args: Any, **kwargs: Any) -> Played:
    """Play a graph with these arguments; `run_graph_async` says what else may be given."""
    return asyncio.run(run_graph_async(graph, *args, **kwargs))


async def run_graph_async(
    graph: Written, *args: Any, stand_ins: Mapping[str, StandIn] | None = None, **kwargs: Any
) -> Played:
    """Play a graph to its end. `stand_ins` are functions by kind, which are given the payload of a
    step in place of what would carry it out; what they raise fails the step.
    """
    draft = graph.draft(*args, **kwargs)
    play = _Play(graph.jobs, stand_ins or {})
    return await play.graph(read_graph(draft["graph"]), draft["payload"])


class _Play:
    def __init__(self, jobs: Mapping[str, Any], stand_ins: Mapping[str, StandIn]) -> None:
        self._jobs = jobs
        self._stand_ins = stand_ins

    async def graph(self, graph: Graph, payload: Any) -> Played:
        played = {step.name: PlayedStep() for step in graph.steps}
        order: list[str] = []
        board, ended = first_board(graph), dict[int, StepState]()
        while True:
            scope = _scope(graph, payload, played)
            after = advance(graph, board, ended, scope)
            board = after.board
            for place, reason in {**after.skipped, **after.failed}.items():
                played[graph.steps[place].name].reason = reason
            if after.final is not None:
                break
            order += [graph.steps[place].name for place in after.ready]
            ended = {
                place: await self._started(graph, place, after, scope, played)
                for place in after.ready
            }
        for step in graph.steps:
            played[step.name].state = WORDS[board[step.index]]
        scope = _scope(graph, payload, played)
        return Played(
            state=after.final.value,
            result=json.loads(graph_result(graph, board, scope) or "null"),
            error=graph_error(graph, board),
            steps=played,
            order=tuple(order),
        )

    async def _started(
        self,
        graph: Graph,
        place: int,
        after: Advanced,
        scope: Scope,
        played: Mapping[str, PlayedStep],
    ) -> StepState:
        step = graph.steps[place]
        told = played[step.name]
        told.payload = json.loads(after.payloads.get(place) or "null")
        if step.map is None:
            return await self._step(step, told)
        make = member_payloads(graph, place, after.board, scope)
        return await self._map(step, told, after.items.get(place), make)

    async def _step(self, step: Step, told: PlayedStep) -> StepState:
        if step.graph is not None:
            inner = await self.graph(step.graph, told.payload)
            told.result, told.reason = inner.result, inner.error
            good = inner.succeeded
        else:
            good, told.result, told.reason = await self._run(step.kind, step, told)
        return StepState.SUCCEEDED if good else StepState.FAILED

    async def _run(self, kind: str, step: Step, told: PlayedStep) -> tuple[bool, Any, str | None]:
        """Whether a run succeeded, its result, and what went wrong."""
        if kind in self._stand_ins:
            try:
                found = self._stand_ins[kind](told.payload)
                result = await found if inspect.isawaitable(found) else found
            except Exception as error:  # noqa: BLE001 — a stand-in may raise anything
                return False, None, f"{type(error).__name__}: {error}"
            return True, result, None
        if kind not in self._jobs:
            wanted = "a job with a function, or one of the stand_ins of this test"
            raise InvalidInput("kind", kind, wanted)
        story = await run_until_ended_async(
            self._jobs[kind], told.payload, retries=step.policy.get("retries")
        )
        told.stories.append(story)
        return story.state == "succeeded", story.result, story.attempts[-1].error

    async def _map(
        self,
        step: Step,
        told: PlayedStep,
        items: Sequence[Any] | int | None,
        make: Callable[[object, int], str | None],
    ) -> StepState:
        if step.map is None:
            raise RuntimeError("only a map has members")
        if items is None:
            items = await self._yielded(step, told)
        results: list[Any] = []
        failed = 0
        for number, item in enumerate(range(items) if isinstance(items, int) else items):
            good, result, told.reason = await self._member(step, told, make, (item, number))
            failed += not good
            results.append(result if good else None)
        total = len(results)
        told.payload = None
        told.result = {"total": total, "succeeded": total - failed, "failed": failed}
        told.results = results
        fine = step.map.tolerate.bears(failed, total)
        if fine:
            told.reason = None
        return StepState.SUCCEEDED if fine else StepState.FAILED

    async def _member(
        self,
        step: Step,
        told: PlayedStep,
        make: Callable[[object, int], str | None],
        member: tuple[object, int],
    ) -> tuple[bool, Any, str | None]:
        try:
            told.payload = json.loads(make(*member) or "null")
        except (ExpressionFailed, InvalidInput) as error:
            return False, None, str(error)
        return await self._run(step.kind, step, told)

    async def _yielded(self, step: Step, told: PlayedStep) -> list[Any]:
        """What the source of a map yields."""
        if step.map is None or step.map.source is None:
            raise RuntimeError("only a map over a source has one")
        kind = step.map.source.kind
        if kind in self._stand_ins:
            return list(self._stand_ins[kind](told.payload))
        job = self._jobs[kind]
        found = job.function(**job.arguments.read(told.payload))
        return [each async for each in found] if inspect.isasyncgen(found) else list(found)


def _scope(graph: Graph, payload: Any, played: Mapping[str, PlayedStep]) -> Scope:
    told = {step.index: played[step.name] for step in graph.steps}
    return Scope(
        input=payload,
        run_id=RUN_ID,
        results={place: each.result for place, each in told.items()},
        errors={place: each.reason for place, each in told.items()},
        members={place: each.results for place, each in told.items()},
    )
