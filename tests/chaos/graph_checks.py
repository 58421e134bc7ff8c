"""I13, about graphs: no step before all it needs has ended, each once, and none forgotten."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from uuid import UUID

from tests.chaos.history import History, StepRow

# The letters of a board that say how a step's run ended.
ENDED = {"s": {"succeeded"}, "f": {"dead", "lost", "quarantined", "expired"}, "c": {"cancelled"}}


def steps_in_order(history: History) -> Iterator[str]:
    """I13: a step begins after the ending of everything that it needs is committed, once in each
    graph run; and what the board of a graph run says is what its steps came to.
    """
    by_graph: dict[UUID, list[StepRow]] = defaultdict(list)
    for step in history.steps:
        by_graph[step.graph_run_id].append(step)
    for graph_run_id, steps in by_graph.items():
        for number, count in Counter(step.step for step in steps).items():
            if count > 1:
                yield f"step {number} of graph run {graph_run_id} was made {count} times"
        yield from _begun_early(history, {step.step: step for step in steps})
        yield from _told_wrong(history, graph_run_id, steps)


def _begun_early(history: History, steps: dict[int, StepRow]) -> Iterator[str]:
    for step in steps.values():
        for parent in history.needs[step.step]:
            ended = steps[parent].finished_at if parent in steps else None
            if ended is None or ended > step.created_at:
                at = step.created_at
                yield f"step {step.step} of {step.graph_run_id} began at {at}, {parent} at {ended}"


def _told_wrong(history: History, graph_run_id: UUID, steps: list[StepRow]) -> Iterator[str]:
    board = history.boards.get(graph_run_id, "")
    row = history.final.get(graph_run_id)
    if row is None or row.is_live:
        yield f"graph run {graph_run_id} has not ended and stands at {board!r}"
        return
    for step in steps:
        said = board[step.step] if step.step < len(board) else "?"
        if step.state not in ENDED.get(said, {step.state}):
            yield f"step {step.step} of {graph_run_id} is {step.state}, its board says {said}"
    if row.state == "succeeded" and len(steps) != len(history.needs):
        yield f"graph run {graph_run_id} succeeded with {len(steps)} steps"
