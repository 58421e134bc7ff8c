"""Definitions of graphs: what is accepted, and what is refused with its path (D1, D2, D3)."""

from datetime import timedelta
from typing import Any

import pytest

from rota.contract.graph import read_graph
from rota.contract.policy import build_step_policy
from rota.core.errors import InvalidInput
from rota.core.graphs import (
    FailureTolerance,
    StepCondition,
    StepGraph,
    find_result_reads,
    to_graph_json,
    to_plain_graph,
)
from rota.core.policy import DelayGrowth, Policy, RetryPolicy

NIGHTLY: dict[str, Any] = {
    "steps": [
        {"name": "extract", "kind": "etl.extract", "payload": {"day": {"$": "input.day"}}},
        {
            "name": "clean",
            "kind": "etl.clean",
            "needs": ["extract"],
            "payload": {"rows": [{"$": "steps.extract.result.rows"}, 1]},
            "queue": "heavy",
            "priority": 1,
            "retries": 5,
            "timeout": "10m",
        },
        {
            "name": "each",
            "kind": "etl.one",
            "needs": ["extract"],
            "payload": {"file": {"$": "item"}, "n": {"$": "index"}},
            "map": {"over": "steps.extract.result.files", "tolerate": "5%", "at_once": 50},
        },
        {"name": "alarm", "kind": "notify", "needs": ["clean", "each"], "when": "failure"},
        {
            "name": "load",
            "kind": "etl.load",
            "needs": ["clean", "each"],
            "when": "steps.each.result.failed < 3",
            "may_fail": True,
        },
        {
            "name": "sub",
            "needs": ["load"],
            "graph": {"steps": [{"name": "one", "kind": "x", "payload": {"$": "input.day"}}]},
            "payload": {"day": {"$": "input.day"}},
        },
    ]
}


def graph_of(*steps: dict[str, Any]) -> StepGraph:
    return read_graph({"steps": list(steps)})


def step(name: str, *needs: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "kind": "x", "needs": list(needs), **fields}


def test_a_graph_is_read_and_written_back_word_for_word() -> None:
    graph = read_graph(NIGHTLY)

    assert to_plain_graph(graph) == NIGHTLY
    assert read_graph(to_plain_graph(graph)) == graph
    assert to_graph_json(graph) == to_graph_json(read_graph(NIGHTLY))


def test_steps_know_their_parents_and_children_by_place() -> None:
    graph = read_graph(NIGHTLY)

    assert graph.step("load").needs == (1, 2)
    assert graph.step("extract").children == (1, 2)
    assert graph.roots == (0,)
    assert graph.leaves == (3, 5)
    assert graph.step("sub").kind == "graph"
    assert graph.step("alarm").when is StepCondition.FAILURE


def test_a_step_says_whose_results_it_reads() -> None:
    graph = graph_of(
        step("a"),
        step("b"),
        step(
            "c",
            "a",
            "b",
            when="steps.a.state == 'failed'",
            payload={"b": {"$": "steps.b.result"}},
        ),
    )

    assert find_result_reads(graph, 2) == {1}
    assert graph.steps[2].condition_parents == {0}


def test_a_step_has_the_policy_of_its_job_except_for_what_it_says() -> None:
    job = Policy(
        retries=RetryPolicy(max_retries=2, growth=DelayGrowth.LINEAR),
        timeout=timedelta(hours=1),
        deadline=timedelta(hours=5),
    )
    graph = graph_of(step("a"), step("b", retries=7), step("c", timeout="5s", deadline="1m"))

    plain, retried, timed = (build_step_policy(each.policy, job) for each in graph.steps)

    assert plain == Policy(retries=job.retries, timeout=timedelta(hours=1), deadline=None)
    assert retried.retries == RetryPolicy(max_retries=7, growth=DelayGrowth.LINEAR)
    assert (timed.timeout, timed.deadline) == (timedelta(seconds=5), timedelta(minutes=1))


@pytest.mark.parametrize(
    ("tolerance", "total", "most"),
    [
        (FailureTolerance(), 100, 0),
        (FailureTolerance(count=3), 100, 3),
        (FailureTolerance(percent=5), 20, 1),
        (FailureTolerance(percent=5), 19, 0),
        (FailureTolerance(percent=0.1), 1_000_000, 1000),
        (FailureTolerance(percent=100), 7, 7),
        (FailureTolerance(percent=5), 0, 0),
    ],
    ids=str,
)
def test_a_tolerance_is_a_number_or_a_share(
    tolerance: FailureTolerance, total: int, most: int
) -> None:
    assert tolerance.max_failures(total) == most
    assert tolerance.allows(most, total)
    assert not tolerance.allows(most + 1, total)


@pytest.mark.parametrize(
    ("steps", "field", "wanted"),
    [
        ([step("a", "b"), step("b", "a")], "graph.steps[0].needs[0]", "a → b → a"),
        (
            [step("z"), step("a", "c"), step("b", "a"), step("c", "z", "b")],
            "graph.steps[1].needs[0]",
            "a → b → c → a",
        ),
        ([step("a", "a")], "graph.steps[0].needs[0]", "itself"),
        (
            [step("a"), step("b", "a", "q")],
            "graph.steps[1].needs[1]",
            "no such step; known steps: a, b",
        ),
        ([step("a"), step("b", "a", "a")], "graph.steps[1].needs[1]", "list each step once"),
        ([step("a"), step("a")], "graph.steps[1].name", "steps[0] has the same name"),
        ([step("a", when="failure")], "graph.steps[0].when", "never run"),
        ([step("a", when="1 > 2")], "graph.steps[0].when", "never run"),
        ([step("a", when="1 / 0")], "graph.steps[0].when", "never run"),
        ([step("a", when="sometimes")], "graph.steps[0].when", "unknown name; known names:"),
        ([step("a", when="input.n >")], "graph.steps[0].when", "at character 10"),
        ([step("a", when=7)], "graph.steps[0].when", "an expression"),
        (
            [step("a"), step("b", payload={"l": [{"$": "steps.a.result"}]})],
            "graph.steps[1].payload.l[0].$",
            "add it to needs, directly or indirectly",
        ),
        (
            [step("a", payload={"$": "steps.b.result"})],
            "graph.steps[0].payload.$",
            "no such step: b",
        ),
        (
            [step("a", payload={"$": "steps.a.result"})],
            "graph.steps[0].payload.$",
            "a may not have ended yet",
        ),
        ([step("a", payload={"$": "item"})], "graph.steps[0].payload.$", "input, steps, graph"),
        ([step("a", payload={"$": "graph.job"})], "graph.steps[0].payload.$", "run_id"),
        (
            [step("a", payload={"$": "input", "b": 1})],
            "graph.steps[0].payload",
            "must be the only key",
        ),
        ([step("a", payload={"b": float("nan")})], "graph.steps[0].payload", "finite"),
        (
            [step("a"), step("b", "a", payload={"$": "steps.a.outcome"})],
            "graph.steps[1].payload.$",
            "state, result, error, results",
        ),
        (
            [step("a"), step("b", "a", payload={"$": "steps[input.x].result"})],
            "graph.steps[1].payload.$",
            "followed by the literal name of a step",
        ),
        ([step("2a")], "graph.steps[0].name", "starting with a letter or _"),
        ([step("a" * 65)], "graph.steps[0].name", "1–64 letters"),
        ([{"kind": "x"}], "graph.steps[0].name", "letters"),
        ([{"name": "a"}], "graph.steps[0].kind", "1 to 200"),
        ([step("a", kind="graph")], "graph.steps[0].kind", "field `graph`"),
        ([step("a", graph={"steps": [step("b")]})], "graph.steps[0].kind", "another kind"),
        ([{"name": "a", "graph": {"steps": []}}], "graph.steps[0].graph.steps", "1 to 1000 steps"),
        (
            [{"name": "a", "graph": {"steps": [step("b", "c")]}}],
            "graph.steps[0].graph.steps[0].needs[0]",
            "no such step; known steps: b",
        ),
        (
            [{"name": "a", "graph": {"steps": [step("b")]}, "map": {"over": 3}}],
            "graph.steps[0].map",
            "a step with `graph` must not have a map",
        ),
        ([step("a", map={})], "graph.steps[0].map", "either `over` or `source`"),
        ([step("a", map={"over": 1, "source": {"kind": "x"}})], "graph.steps[0].map", "either"),
        ([step("a", map={"over": -1})], "graph.steps[0].map.over", "a number up to"),
        (
            [step("a", map={"over": "item"})],
            "graph.steps[0].map.over",
            "unknown name; known names:",
        ),
        ([step("a", map={"over": 1, "tolerate": "101%"})], "graph.steps[0].map.tolerate", "5%"),
        ([step("a", map={"over": 1, "tolerate": -1})], "graph.steps[0].map.tolerate", "5%"),
        ([step("a", map={"over": 1, "at_once": 0})], "graph.steps[0].map.at_once", "1 to"),
        ([step("a", map={"source": {}})], "graph.steps[0].map.source.kind", "1 to 200"),
        ([step("a", map={"of": 1})], "graph.steps[0].map.of", "over, source"),
        ([step("a", retries=101)], "graph.steps[0].retries", "0 to 100"),
        ([step("a", timeout=5)], "graph.steps[0].timeout", "no unit"),
        ([step("a", priority=10)], "graph.steps[0].priority", "0 to 9"),
        ([step("a", may_fail="yes")], "graph.steps[0].may_fail", "true or false"),
        ([step("a", wehn="always")], "graph.steps[0].wehn", "when"),
        ([{"name": "a", "kind": "x", "needs": "b"}], "graph.steps[0].needs", "a list"),
        (["a"], "graph.steps[0]", "an object"),
        ([], "graph.steps", "1 to 1000 steps"),
    ],
    ids=lambda given: given if isinstance(given, str) else None,
)
def test_a_wrong_definition_is_refused_with_its_path(
    steps: list[Any], field: str, wanted: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_graph({"steps": steps})

    assert refused.value.field == field
    assert wanted in refused.value.wanted


@pytest.mark.parametrize("raw", [None, [], "steps", 7, {}, {"steps": {}}, {"steps": [], "x": 1}])
def test_what_is_no_graph_is_refused(raw: object) -> None:
    with pytest.raises(InvalidInput):
        read_graph(raw)


def test_a_graph_has_a_largest_size() -> None:
    chain = [step(f"s{n}", *([f"s{n - 1}"] if n else [])) for n in range(101)]
    wide = [step("root"), *(step(f"s{n}", "root") for n in range(501))]
    many = [step(f"s{n}") for n in range(1001)]
    heavy = [step(f"s{n}", payload="x" * 200_000) for n in range(6)]
    layers = [[f"l{layer}_{n}" for n in range(72)] for layer in (0, 1)]
    dense = [step(name) for name in layers[0]] + [step(name, *layers[0]) for name in layers[1]]
    inner = {"steps": [step(f"s{n}") for n in range(600)]}
    wordy = [step(f"s{n}", payload=[{"$": "input." + "a" * 990}] * 60) for n in range(2)]
    needy = [step("a", *(f"s{n}" for n in range(1001)))]

    refusals = []
    for steps in (chain, wide, many, heavy, dense, wordy, needy):
        with pytest.raises(InvalidInput) as refused:
            graph_of(*steps)
        refusals.append(refused.value.wanted)
    with pytest.raises(InvalidInput, match="including sub-graphs"):
        graph_of({"name": "a", "graph": inner}, {"name": "b", "graph": inner})

    assert [wanted.split(";")[0] for wanted in refusals] == [
        "expected at most 100 consecutive steps",
        "at most 500 steps may need one step",
        "expected a list of 1 to 1000 steps",
        "expected at most 1024 KB",
        "expected at most 5000 in total",
        "the expressions of a graph may have at most 100,000 characters in total",
        "expected a list of at most 1000 step names",
    ]


def test_graphs_in_each_other_are_bounded() -> None:
    inner: dict[str, Any] = {"steps": [step("a")]}
    for _ in range(5):
        inner = {"steps": [{"name": "a", "graph": inner}]}

    with pytest.raises(InvalidInput, match="nested at most 5 levels deep"):
        read_graph(inner)


def test_graphs_in_each_other_far_beyond_the_bound_are_refused() -> None:
    inner: dict[str, Any] = {"steps": [step("a")]}
    for _ in range(5_000):
        inner = {"steps": [{"name": "a", "graph": inner}]}

    with pytest.raises(InvalidInput, match="nested at most 5 levels deep"):
        read_graph(inner)


def test_a_graph_of_the_largest_size_is_accepted() -> None:
    layers = [[f"l{layer}_{n}" for n in range(10)] for layer in range(100)]
    needs = {
        name: layers[layer - 1][:5] if layer else []
        for layer, names in enumerate(layers)
        for name in names
    }

    graph = graph_of(*(step(name, *parents) for name, parents in needs.items()))

    assert len(graph.steps) == 1000
    assert sum(len(each.needs) for each in graph.steps) == 4950
