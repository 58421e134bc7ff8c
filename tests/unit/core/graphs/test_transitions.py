"""What the endings of steps mean for the others, rule by rule (D2, D3, D4, D6)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rota.contract.graph import read_graph
from rota.core.errors import ExpressionFailed, InvalidInput
from rota.core.graphs import (
    GraphScope,
    StepGraph,
    StepState,
    StepTimes,
    advance_graph,
    build_graph_result,
    build_step_payload,
    cancel_waiting_steps,
    count_step_states,
    create_member_payload_builder,
    describe_graph_error,
    find_critical_path,
    find_end_state,
    find_map_items,
    find_needed_results,
    initial_step_states,
    record_endings,
    restart_step_states,
    step_state_of_run,
)
from rota.core.states import RunState

S, F, C, K = StepState.SUCCEEDED, StepState.FAILED, StepState.CANCELLED, StepState.SKIPPED
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def graph_of(*steps: dict[str, Any]) -> StepGraph:
    return read_graph({"steps": list(steps)})


def step(name: str, *needs: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "kind": "x", "needs": list(needs), **fields}


def after(graph: StepGraph, board: str, ended: dict[int, StepState], **known: Any) -> Any:
    return advance_graph(graph, board, ended, GraphScope(**known))


def test_a_run_starts_with_the_steps_that_need_nothing() -> None:
    graph = graph_of(step("a"), step("b", "a"), step("c"))

    begun = after(graph, initial_step_states(graph), {})

    assert begun.step_states == "lwl"
    assert begun.ready == (0, 2)
    assert begun.final is None


def test_a_step_starts_when_the_last_of_its_parents_has_ended() -> None:
    graph = graph_of(step("a"), step("b"), step("c", "a", "b"))

    one = after(graph, "llw", {0: S})
    both = after(graph, one.step_states, {1: S})

    assert (one.step_states, one.ready) == ("slw", ())
    assert (both.step_states, both.ready) == ("ssl", (2,))


@pytest.mark.parametrize(
    ("when", "parents", "fate", "reason"),
    [
        ("success", "ss", "l", None),
        ("success", "sf", "k", "upstream_failed"),
        ("success", "sc", "k", "upstream_cancelled"),
        ("success", "sk", "k", "upstream_skipped"),
        ("success", "kf", "k", "upstream_failed"),
        ("failure", "sf", "l", None),
        ("failure", "ss", "k", "condition"),
        ("failure", "ck", "k", "condition"),
        ("always", "fk", "l", None),
        ("none_failed", "sk", "l", None),
        ("none_failed", "kk", "k", "upstream_skipped"),
        ("none_failed", "sf", "k", "upstream_failed"),
        ("none_failed", "sc", "k", "upstream_cancelled"),
        ("steps.a.state == 'failed'", "fs", "l", None),
        ("steps.a.state == 'failed'", "ss", "k", "condition"),
        # b is not asked about, so it must have succeeded.
        ("steps.a.state == 'failed'", "ff", "k", "upstream_failed"),
        ("exists(steps.b.error)", "sf", "l", None),
        ("input.go", "ss", "l", None),
        ("input.stop", "ss", "k", "condition"),
        ("steps.a.result.n > 3", "ss", "l", None),
        ("steps.a.result.n > 3", "fs", "k", "upstream_failed"),
    ],
    ids=str,
)
def test_a_condition_is_about_parents_that_are_all_final(
    when: str, parents: str, fate: str, reason: str | None
) -> None:
    graph = graph_of(step("a"), step("b"), step("c", "a", "b", when=when))
    known: dict[str, Any] = {"input": {"go": True}, "results": {0: {"n": 5}}, "errors": {1: "x"}}

    found = after(graph, "llw", dict(enumerate(map(StepState, parents))), **known)

    assert found.step_states == parents + fate
    assert dict(found.skipped) == ({2: reason} if reason else {})


def test_skips_decide_what_is_behind_them_at_once() -> None:
    graph = graph_of(
        step("a"), step("b", "a"), step("c", "b"), step("d", "c", when="always"), step("e", "d")
    )

    found = after(graph, "lwwww", {0: F})

    assert found.step_states == "fkklw"
    assert found.skipped == {1: "upstream_failed", 2: "upstream_skipped"}
    assert found.ready == (3,)


def test_a_condition_that_fails_makes_the_step_fail_with_a_sentence() -> None:
    graph = graph_of(step("a"), step("b", "a", when="1 / steps.a.result > 0"), step("c", "b"))

    found = after(graph, "lww", {0: S}, results={0: 0})

    assert found.step_states == "sfk"
    assert "division by zero" in found.failed[1]
    assert found.final is RunState.DEAD


def test_a_payload_that_cannot_be_made_makes_the_step_fail_with_a_sentence() -> None:
    graph = graph_of(
        step("a"),
        step("b", "a", payload={"x": {"$": "len(steps.a.result)"}}, may_fail=True),
        step("c", "a", payload=[{"$": "steps.a.result"}, {"$": "input"}]),
    )

    found = after(graph, "lww", {0: S}, results={0: 7}, input="x" * 300_000)

    assert found.step_states == "sff"
    assert "len expects a string, a list or an object, not a number" in found.failed[1]
    assert "at most 256 KB" in found.failed[2]


def test_payloads_are_filled_from_the_input_and_from_results() -> None:
    graph = graph_of(
        step("a"),
        step(
            "b",
            "a",
            payload={
                "day": {"$": "input.day"},
                "rows": [{"$": "steps.a.result.rows"}, 1],
                "from": {"$": "graph.run_id"},
                "kept": {"as": "it is"},
                "none": {"$": "input.nothing"},
            },
        ),
    )

    found = after(
        graph, "lw", {0: S}, input={"day": "mon"}, results={0: {"rows": [1, 2]}}, run_id="run_7"
    )

    assert found.payloads[1] == (
        '{"day":"mon","rows":[[1,2],1],"from":"run_7","kept":{"as":"it is"},"none":null}'
    )


def test_an_ending_that_comes_twice_changes_nothing() -> None:
    graph = graph_of(step("a"), step("b", "a"))
    once = after(graph, "lw", {0: S})

    again = after(graph, once.step_states, {0: F})

    assert again.step_states == once.step_states == "sl"
    assert again.ready == ()


def test_a_paused_run_notes_endings_and_decides_when_it_goes_on() -> None:
    graph = graph_of(step("a"), step("b", "a"))

    paused = record_endings("lw", {0: S})
    resumed = after(graph, paused, {})

    assert paused == "sw"
    assert (resumed.step_states, resumed.ready) == ("sl", (1,))


def test_only_results_that_may_be_read_are_wanted() -> None:
    graph = graph_of(
        step("a"),
        step("b"),
        step("c", "a", "b", payload={"$": "steps.a.result"}),
        step("d", "c", when="none_failed", payload={"$": "steps.b.result"}),
    )

    assert find_needed_results(graph, "llww", {0: S}) == set()
    assert find_needed_results(graph, "slww", {1: S}) == {0, 1}
    assert find_needed_results(graph, "sslw", {2: S}) == {1}


@pytest.mark.parametrize(
    ("board", "state", "error"),
    [
        ("ss", RunState.SUCCEEDED, None),
        ("sk", RunState.SUCCEEDED, None),
        ("fs", RunState.DEAD, "step a failed"),
        ("sf", RunState.SUCCEEDED, None),
        ("sc", RunState.CANCELLED, None),
        ("fc", RunState.DEAD, "step a failed"),
        ("sl", None, None),
        ("ws", None, None),
    ],
)
def test_a_run_ends_by_its_worst_step_that_may_not_fail(
    board: str, state: RunState | None, error: str | None
) -> None:
    graph = graph_of(step("a"), step("b", may_fail=True))

    assert find_end_state(graph, board) is state
    assert describe_graph_error(graph, board) == error


def test_many_failures_are_told_in_one_line() -> None:
    graph = graph_of(*(step(f"s{n}") for n in range(8)))

    assert describe_graph_error(graph, "f" * 8) == "8 steps failed: s0, s1, s2, s3, s4 and 3 more"


def test_the_result_of_a_run_is_that_of_its_last_steps() -> None:
    graph = graph_of(step("a"), step("b", "a"), step("c", "a"), step("d", "a"))
    known = GraphScope(results={0: 1, 1: {"n": 2}, 2: None, 3: 9})
    alarmed = graph_of(step("a"), step("alarm", "a", when="failure"))

    assert build_graph_result(alarmed, "sk", GraphScope(results={0: 7})) == '{"a":7}'
    assert build_graph_result(graph, "sssf", known) == '{"b":{"n":2}}'
    assert build_graph_result(graph, "ssss", GraphScope(results={1: "x" * 300_000})) is None
    assert build_graph_result(graph, "ssss", GraphScope()) is None


def test_another_round_begins_at_the_failed_steps_and_ends_behind_them() -> None:
    graph = graph_of(
        step("good"),
        step("bad"),
        step("left", "bad"),
        step("alarm", "bad", when="failure"),
        step("fine", "good"),
        step("unwanted", "good", when="failure"),
        step("stopped"),
    )

    again = restart_step_states(graph, "sfksskc")

    assert again == "swwwskw"
    assert after(graph, again, {}).ready == (1, 6)


def test_a_cancelled_run_starts_nothing_more() -> None:
    assert cancel_waiting_steps("slwfk") == "slcfk"


def test_counts_are_by_words() -> None:
    assert count_step_states("sswlf") == {"waiting": 1, "live": 1, "succeeded": 2, "failed": 1}


@pytest.mark.parametrize(
    ("run", "state"),
    [
        (RunState.SUCCEEDED, S),
        (RunState.DEAD, F),
        (RunState.LOST, F),
        (RunState.QUARANTINED, F),
        (RunState.EXPIRED, F),
        (RunState.CANCELLED, C),
        (RunState.SKIPPED, K),
        (RunState.RUNNING, StepState.LIVE),
        (RunState.BLOCKED, StepState.LIVE),
    ],
)
def test_the_state_of_a_run_is_one_of_the_board(run: RunState, state: StepState) -> None:
    assert step_state_of_run(run) is state


@pytest.mark.parametrize(
    ("over", "items"),
    [
        ("steps.a.result.files", ["x", "y"]),
        ("len(steps.a.result.files)", 2),
        ([1, {"$": "input"}], [1, "in"]),
        (0, 0),
        ([], []),
    ],
    ids=str,
)
def test_a_map_goes_over_a_list_or_a_number(over: object, items: object) -> None:
    graph = graph_of(step("a"), step("b", "a", map={"over": over}))

    found = after(graph, "lw", {0: S}, results={0: {"files": ["x", "y"]}}, input="in")

    assert found.ready == (1,)
    assert found.items == {1: items}


@pytest.mark.parametrize("result", [None, "text", -1, True, {"a": 1}, 1.5], ids=repr)
def test_a_map_over_anything_else_fails_with_a_sentence(result: object) -> None:
    graph = graph_of(step("a"), step("b", "a", map={"over": "steps.a.result"}))

    found = after(graph, "lw", {0: S}, results={0: result})

    assert found.step_states == "sf"
    assert "expected a list or a whole number" in found.failed[1]


def test_members_have_payloads_of_their_own() -> None:
    graph = graph_of(
        step("a", map={"over": 3}, payload={"f": {"$": "item"}, "n": {"$": "index + 1"}}),
        step("b", map={"over": 3}),
        step("c", map={"over": 3}, payload={"k": 1}),
        step("d", map={"over": 3}, payload={"$": "1 / item"}),
    )
    make = [create_member_payload_builder(graph, index, "llll", GraphScope()) for index in range(4)]

    assert [make[0]("x", 0), make[0]("y", 1)] == ['{"f":"x","n":1}', '{"f":"y","n":2}']
    assert make[1]({"id": 7}, 0) == '{"id":7}'
    assert make[2]("x", 0) == '{"k":1}'
    with pytest.raises(ExpressionFailed):
        make[3](0, 0)


def test_a_map_over_a_source_begins_with_the_payload_of_the_source() -> None:
    source = {"kind": "list", "payload": {"in": {"$": "input"}}}
    graph = graph_of(step("a", map={"source": source}, payload={"file": {"$": "item"}}))

    found = after(graph, "w", {}, input="bucket")

    assert found.payloads == {0: '{"in":"bucket"}'}
    assert find_map_items(graph, 0, "w", GraphScope()) is None


def test_a_payload_is_made_for_one_step_too() -> None:
    graph = graph_of(step("a", payload={"$": "input"}))

    assert build_step_payload(graph, 0, "w", GraphScope(input=[1])) == "[1]"
    with pytest.raises(InvalidInput):
        build_step_payload(graph, 0, "w", GraphScope(input="x" * 300_000))


def test_results_and_items_cannot_name_a_secret_and_a_step_can() -> None:
    graph = graph_of(
        step("a"),
        step("b", "a", payload={"key": "{{secret:k}}", "x": {"$": "steps.a.result"}}),
        step("c", map={"over": 3}),
        step("d", map={"over": 3}, payload={"key": "{{secret:k}}", "x": {"$": "item"}}),
    )

    good, bad = (after(graph, "lwll", {0: S}, results={0: it}) for it in ("x", "{{secret:k}}"))

    assert good.payloads == {1: '{"key":"{{secret:k}}","x":"x"}'}
    assert "only the job itself may reference a secret" in bad.failed[1]
    for index in (2, 3):
        with pytest.raises(InvalidInput, match="only the job itself"):
            create_member_payload_builder(graph, index, "ssll", GraphScope())(
                {"{{secret:k}}": 1}, 0
            )


def test_the_critical_path_is_what_the_end_waited_for() -> None:
    graph = graph_of(
        step("a"),
        step("quick", "a"),
        step("slow", "a"),
        step("skipped", "quick", "slow"),
        step("end", "skipped", "quick", when="always"),
    )
    minutes = {0: (0, 1), 1: (1, 2), 2: (1, 9), 4: (9, 10)}
    times = {
        index: StepTimes(NOON + timedelta(minutes=start), NOON + timedelta(minutes=end))
        for index, (start, end) in minutes.items()
    }

    found = [graph.steps[index].name for index in find_critical_path(graph, times)]
    assert found == ["a", "slow", "end"]
    assert find_critical_path(graph, {}) == ()
