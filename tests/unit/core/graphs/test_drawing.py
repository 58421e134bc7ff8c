"""Graphs as text, Mermaid and DOT (I2, D2)."""

from typing import Any

from rota.contract.graph import read_graph
from rota.core.graphs import StepGraph, drawing
from rota.core.graphs.drawing import StepAnnotation

STEPS: list[dict[str, Any]] = [
    {"name": "extract", "kind": "etl.extract"},
    {"name": "clean", "kind": "etl.clean", "needs": ["extract"]},
    {"name": "each", "kind": "etl.one", "needs": ["extract"], "map": {"over": 3}},
    {"name": "alarm", "kind": "notify", "needs": ["clean", "each"], "when": "failure"},
    {"name": "load", "kind": "etl.load", "needs": ["clean"], "when": 'input.day > "1"'},
    {"name": "sub", "needs": ["load"], "graph": {"steps": [{"name": "x", "kind": "y"}]}},
]
DRAWN = {
    0: StepAnnotation("succeeded", "1.2 s", is_critical=True),
    1: StepAnnotation("failed", "3 attempts", is_critical=True),
    2: StepAnnotation("live", "2 of 3"),
    3: StepAnnotation("waiting"),
    4: StepAnnotation("skipped", "upstream_failed"),
    5: StepAnnotation("skipped"),
}


def graph() -> StepGraph:
    return read_graph({"steps": STEPS})


def test_text_is_a_tree_with_what_else_a_step_waits_for() -> None:
    assert drawing.draw_text(graph(), {}) == [
        "extract       etl.extract",
        "├─ clean      etl.clean",
        "│  ├─ alarm   notify       on failure; also after each",
        '│  └─ load    etl.load     if input.day > "1"',
        "│     └─ sub  graph of 1",
        "└─ each       etl.one ×",
    ]


def test_text_shows_states_notes_and_the_critical_path() -> None:
    lines = drawing.draw_text(graph(), DRAWN)

    assert lines[0].startswith("✓ extract")
    assert lines[0].endswith("1.2 s  ★")
    assert "├─ ✗ clean" in lines[1]
    assert "└─ ● each" in lines[5]
    assert "2 of 3" in lines[5]


def test_mermaid_has_every_step_edge_and_state() -> None:
    lines = drawing.draw_mermaid(graph(), DRAWN)

    assert lines[0] == "flowchart TD"
    assert '    s0["extract<br/>etl.extract<br/>1.2 s"]' in lines
    assert '    s1 -->|"on failure"| s3' in lines
    assert '    s1 -->|"if input.day #62; #34;1#34;"| s4' in lines
    assert "    class s4,s5 skipped" in lines
    assert "    style s0 stroke-width:4px" in lines


def test_dot_has_every_step_edge_and_state() -> None:
    lines = drawing.draw_dot(graph(), DRAWN)

    assert lines[0] == "digraph steps {"
    assert lines[-1] == "}"
    assert sum(" -> " in line for line in lines) == 6
    assert '    s1 -> s4 [label="if input.day > \\"1\\""];' in lines


def test_a_kind_cannot_break_out_of_a_drawing() -> None:
    odd = read_graph({"steps": [{"name": "a", "kind": '"];evil\\ <b> ]'}]})

    assert drawing.draw_dot(odd, {})[3].count('"') - drawing.draw_dot(odd, {})[3].count('\\"') == 6
    assert '"];evil' not in drawing.draw_mermaid(odd, {})[1]


def test_a_deep_and_wide_graph_is_drawn_line_by_line() -> None:
    steps: list[dict[str, Any]] = [{"name": f"w{n}", "kind": "x"} for n in range(401)]
    steps += [{"name": f"s{n}", "kind": "x", "needs": [f"s{n - 1}"]} for n in range(1, 100)]
    steps[0]["name"] = "s0"

    assert len(drawing.draw_text(read_graph({"steps": steps}), {})) == 500
