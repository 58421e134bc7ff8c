"""Checks and computes the dependencies of a graph's steps: no cycles, no unknown steps, limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rota.core.errors import InvalidInput
from rota.core.graphs.graph import GRAPH_DEPTH_MAX, GRAPH_EDGES_MAX, STEP_CHILDREN_MAX
from rota.core.graphs.step_draft import StepDraft

NAMED_STEPS_MAX = 12


@dataclass(frozen=True)
class GraphShape:
    """The dependencies by step index. `order` is a topological order."""

    places: dict[str, int]
    needs: tuple[tuple[int, ...], ...]
    children: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]

    @cached_property
    def ancestors(self) -> tuple[int, ...]:
        """The ancestors of each step, as a bit set."""
        found = [0] * len(self.needs)
        for place in self.order:
            for parent in self.needs[place]:
                found[place] |= found[parent] | 1 << parent
        return tuple(found)

    def is_ancestor(self, parent: int, place: int) -> bool:
        return bool(self.ancestors[place] >> parent & 1)


def build_shape(drafts: Sequence[StepDraft], field: str) -> GraphShape:
    places = _places(drafts)
    needs = _needs(drafts, places)
    edges = sum(map(len, needs))
    if edges > GRAPH_EDGES_MAX:
        wanted = f"expected at most {GRAPH_EDGES_MAX} in total"
        raise InvalidInput(f"{field}.steps", f"{edges} needs", wanted)
    children = _children(drafts, needs)
    order = _order(needs, children)
    if len(order) < len(drafts):
        raise _cycle(drafts, needs, set(range(len(drafts))) - set(order))
    _check_depth(drafts, needs, order)
    return GraphShape(places=places, needs=needs, children=children, order=order)


def _places(drafts: Sequence[StepDraft]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, draft in enumerate(drafts):
        first = places.setdefault(draft.name, place)
        if first != place:
            wanted = f"must be unique; steps[{first}] has the same name"
            raise InvalidInput(f"{draft.path}.name", draft.name, wanted)
    return places


def _needs(drafts: Sequence[StepDraft], places: dict[str, int]) -> tuple[tuple[int, ...], ...]:
    for draft in drafts:
        for place, name in enumerate(draft.needs):
            if name == draft.name:
                wanted = "a step cannot need itself"
                raise InvalidInput(f"{draft.path}.needs[{place}]", name, wanted)
            if name not in places:
                wanted = f"no such step{_suggest_step(name, places)}"
                raise InvalidInput(f"{draft.path}.needs[{place}]", name, wanted)
    return tuple(tuple(places[name] for name in draft.needs) for draft in drafts)


def _suggest_step(name: str, places: dict[str, int]) -> str:
    """Return a hint with the names of a small graph, or with a name that differs only in case."""
    if len(places) > NAMED_STEPS_MAX:
        same = [step for step in places if step.casefold() == name.casefold()]
        return f"; did you mean {same[0]}?" if same else ""
    return f"; known steps: {', '.join(places)}"


def _children(
    drafts: Sequence[StepDraft], needs: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], ...]:
    children: list[list[int]] = [[] for _ in needs]
    for place, parents in enumerate(needs):
        for parent in parents:
            children[parent].append(place)
    for draft, found in zip(drafts, children, strict=True):
        if len(found) > STEP_CHILDREN_MAX:
            wanted = f"at most {STEP_CHILDREN_MAX} steps may need one step; use a map for more"
            raise InvalidInput(draft.path, f"{len(found)} steps need {draft.name}", wanted)
    return tuple(map(tuple, children))


def _order(
    needs: tuple[tuple[int, ...], ...], children: tuple[tuple[int, ...], ...]
) -> tuple[int, ...]:
    """Return the steps in topological order, without cycles and their descendants."""
    missing = [len(parents) for parents in needs]
    order = [place for place, count in enumerate(missing) if count == 0]
    for place in order:  # grows during the iteration
        for child in children[place]:
            missing[child] -= 1
            if missing[child] == 0:
                order.append(child)
    return tuple(order)


def _cycle(
    drafts: Sequence[StepDraft], needs: tuple[tuple[int, ...], ...], left: set[int]
) -> InvalidInput:
    """Return the error for a cycle. Every remaining step needs another remaining step, so following
    the needs leads to a cycle.
    """
    walk: list[int] = []
    place = min(left)
    while place not in walk:
        walk.append(place)
        place = next(parent for parent in needs[place] if parent in left)
    cycle = walk[walk.index(place) :]
    first = min(cycle)
    start = cycle.index(first)
    # Rotated to start with the first step, and reversed to go from parent to child.
    around = [first, *reversed(cycle[start + 1 :] + cycle[:start]), first]
    names = [drafts[index].name for index in around]
    if len(names) > NAMED_STEPS_MAX:
        names = [*names[: NAMED_STEPS_MAX - 2], "…", names[-2], names[-1]]
    need = around[-2]
    place = needs[first].index(need)
    path = f"{drafts[first].path}.needs[{place}]"
    return InvalidInput(path, drafts[need].name, f"needs form a cycle: {' → '.join(names)}")


def _check_depth(
    drafts: Sequence[StepDraft], needs: tuple[tuple[int, ...], ...], order: tuple[int, ...]
) -> None:
    depth = [1] * len(needs)
    for place in order:
        depth[place] = 1 + max((depth[parent] for parent in needs[place]), default=0)
        if depth[place] > GRAPH_DEPTH_MAX:
            wanted = f"expected at most {GRAPH_DEPTH_MAX} consecutive steps"
            raise InvalidInput(f"{drafts[place].path}.needs", drafts[place].name, wanted)
