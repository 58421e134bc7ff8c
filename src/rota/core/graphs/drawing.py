"""Draws a graph as text for a terminal, as Mermaid and as DOT.

The text is a tree: each step is below its deepest parent and lists the other steps it waits for.
This stays readable where crossing lines would not.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from rota.core.expressions import Expression
from rota.core.graphs.graph import GraphStep, StepCondition, StepGraph

SYMBOLS: Final[Mapping[str, str]] = {
    "waiting": "·",
    "live": "●",
    "succeeded": "✓",
    "failed": "✗",
    "cancelled": "⊘",
    "skipped": "–",
}
# Fill and line colour of each state, for Mermaid and DOT.
COLOURS: Final[Mapping[str, tuple[str, str]]] = {
    "waiting": ("#f5f5f5", "#9e9e9e"),
    "live": ("#dbeafe", "#1d4ed8"),
    "succeeded": ("#dcfce7", "#15803d"),
    "failed": ("#fee2e2", "#b91c1c"),
    "cancelled": ("#fef3c7", "#b45309"),
    "skipped": ("#f5f5f5", "#9e9e9e"),
}
NAMED_PARENTS_MAX: Final = 3
# Characters, besides letters and digits, that need no escape in Mermaid.
MERMAID_PLAIN_CHARACTERS: Final = " _-.,:/"


class StepAnnotation(NamedTuple):
    """Annotations of a step in a drawing, in addition to its definition."""

    state: str | None = None
    note: str = ""
    is_critical: bool = False


NO_ANNOTATION: Final = StepAnnotation()


def draw_text(graph: StepGraph, annotations: Mapping[int, StepAnnotation]) -> list[str]:
    """Return one line per step; steps on the critical path end with a star."""
    above = _above(graph)
    rows = [(f"{branch}{_label(step, annotations)}", step) for branch, step in _tree(graph, above)]
    width = max(len(left) for left, _ in rows)
    kinds = max(len(_kind(step)) for _, step in rows)
    lines = (
        f"{left:<{width}}  {_kind(step):<{kinds}}  {_rest(graph, step, above, annotations)}"
        for left, step in rows
    )
    return [line.rstrip() for line in lines]


def _label(step: GraphStep, drawn: Mapping[int, StepAnnotation]) -> str:
    state = drawn.get(step.index, NO_ANNOTATION).state
    return step.name if state is None else f"{SYMBOLS[state]} {step.name}"


def _kind(step: GraphStep) -> str:
    if step.graph is not None:
        return f"graph of {len(step.graph.steps)}"
    return f"{step.kind} ×" if step.map is not None else step.kind


def _rest(
    graph: StepGraph, step: GraphStep, above: list[int | None], drawn: Mapping[int, StepAnnotation]
) -> str:
    annotation = drawn.get(step.index, NO_ANNOTATION)
    others = [graph.steps[parent].name for parent in step.needs if parent != above[step.index]]
    parts = [_when(step), annotation.note]
    if others:
        more = (
            f" and {len(others) - NAMED_PARENTS_MAX} more"
            if len(others) > NAMED_PARENTS_MAX
            else ""
        )
        parts.append(f"also after {', '.join(others[:NAMED_PARENTS_MAX])}{more}")
    details = "; ".join(part for part in parts if part)
    return f"{details}  ★" if annotation.is_critical else details


def _when(step: GraphStep) -> str:
    if isinstance(step.when, Expression):
        return f"if {step.when.text}"
    return "" if step.when is StepCondition.SUCCESS else f"on {step.when.value}"


def _above(graph: StepGraph) -> list[int | None]:
    """Return the parent below which each step is drawn."""
    depths = [0] * len(graph.steps)
    above: list[int | None] = [None] * len(graph.steps)
    for place in graph.order:
        needs = graph.steps[place].needs
        above[place] = max(needs, key=lambda parent: (depths[parent], -parent), default=None)
        depths[place] = 1 + max((depths[parent] for parent in needs), default=0)
    return above


def _tree(graph: StepGraph, above: list[int | None]) -> Iterator[tuple[str, GraphStep]]:
    """Yield the steps with their branch prefixes, in tree order."""
    under: dict[int | None, list[int]] = {}
    for step in graph.steps:
        under.setdefault(above[step.index], []).append(step.index)
    stack = [("", "", place) for place in reversed(under.get(None, []))]
    while stack:
        branch, before, place = stack.pop()
        yield branch, graph.steps[place]
        below = under.get(place, [])
        for child in reversed(below):
            is_last = child == below[-1]
            corner, line = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            stack.append((before + corner, before + line, child))


def draw_mermaid(graph: StepGraph, annotations: Mapping[int, StepAnnotation]) -> list[str]:
    """Return the lines of a Mermaid flowchart."""
    lines = ["flowchart TD"]
    for step in graph.steps:
        annotation = annotations.get(step.index, NO_ANNOTATION)
        parts = [step.name, _kind(step), annotation.note]
        label = "<br/>".join(_entity(part) for part in parts if part)
        lines.append(f'    s{step.index}["{label}"]')
    for step in graph.steps:
        condition = _entity(_when(step))
        arrow = f'-->|"{condition}"|' if condition else "-->"
        lines += [f"    s{parent} {arrow} s{step.index}" for parent in step.needs]
    items = sorted(annotations.items())
    for state in sorted({item.state for _, item in items if item.state is not None}):
        fill, stroke = COLOURS[state]
        members = [f"s{place}" for place, item in items if item.state == state]
        lines.append(f"    classDef {state} fill:{fill},stroke:{stroke}")
        lines.append(f"    class {','.join(members)} {state}")
    critical = [place for place, item in items if item.is_critical]
    lines += [f"    style s{place} stroke-width:4px" for place in critical]
    return lines


def _entity(label: str) -> str:
    """Escape a label for Mermaid: special characters become entities."""
    return "".join(
        char if char.isalnum() or char in MERMAID_PLAIN_CHARACTERS else f"#{ord(char)};"
        for char in label
    )


def draw_dot(graph: StepGraph, annotations: Mapping[int, StepAnnotation]) -> list[str]:
    """Return the lines of a Graphviz digraph."""
    lines = ["digraph steps {", "    rankdir=TB;"]
    lines.append('    node [shape=box, style="rounded,filled"];')
    for step in graph.steps:
        annotation = annotations.get(step.index, NO_ANNOTATION)
        parts = [step.name, _kind(step), annotation.note]
        label = r"\n".join(_quoted(part) for part in parts if part)
        fill, stroke = COLOURS[annotation.state or "waiting"]
        width = 3 if annotation.is_critical else 1
        style = f'fillcolor="{fill}", color="{stroke}", penwidth={width}'
        lines.append(f'    s{step.index} [label="{label}", {style}];')
    for step in graph.steps:
        condition = _quoted(_when(step))
        attributes = f' [label="{condition}"]' if condition else ""
        lines += [f"    s{parent} -> s{step.index}{attributes};" for parent in step.needs]
    return [*lines, "}"]


def _quoted(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
