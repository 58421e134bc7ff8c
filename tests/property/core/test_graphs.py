"""Graphs of any shape end as an oracle says, in whatever order endings arrive (D2, D3)."""

import json
from collections.abc import Mapping
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support import graph_oracle as oracle

from rota.contract.documents import fields_by_name
from rota.contract.graph import read_graph, read_stored_graph
from rota.contract.graph_fields import StepDocument
from rota.core.errors import InvalidInput
from rota.core.graphs import (
    GraphScope,
    StepGraph,
    StepState,
    advance_graph,
    find_needed_results,
    find_steps_to_restart,
    initial_step_states,
    record_endings,
    restart_step_states,
    to_graph_json,
)
from rota.core.graphs.step_states import STEP_STATE_WORDS

STATES = {word: StepState(letter) for letter, word in STEP_STATE_WORDS.items()}


class Play:
    """Carries a graph out by handing endings to `advance` in random order and batches."""

    def __init__(self, graph: StepGraph, outcomes: Mapping[str, str], numbers: Mapping[str, int]):
        self.graph, self.outcomes, self.numbers = graph, outcomes, numbers
        self.board = initial_step_states(graph)
        self.reasons: dict[int, str] = {}
        self.started: list[int] = []
        self.final: str | None = None

    def turn(self, ended: Mapping[int, StepState]) -> None:
        wanted = find_needed_results(self.graph, self.board, ended)
        results = {
            index: {"n": self.numbers[self.graph.steps[index].name]}
            for index in wanted
            if record_endings(self.board, ended)[index] == StepState.SUCCEEDED
        }
        after = advance_graph(self.graph, self.board, ended, GraphScope(results=results))
        for index in after.ready:
            # I13: nothing starts before all that it needs is final.
            assert all(
                after.step_states[parent] in "sfck" for parent in self.graph.steps[index].needs
            )
        self.board = after.step_states
        self.reasons |= after.skipped
        self.started += after.ready
        self.final = after.final and after.final.value

    def to_the_end(self, chance: Random) -> None:
        self.turn({})
        while self.final is None:
            live = [index for index, state in enumerate(self.board) if state == "l"]
            batch = chance.sample(live, chance.randint(1, len(live)))
            ended = {index: self.ending(index) for index in batch}
            self.turn(ended)
            if chance.random() < 0.2:
                # News that comes again, and says something else now, changes nothing.
                self.turn({index: chance.choice(list(STATES.values())) for index in batch})

    def ending(self, index: int) -> StepState:
        return STATES[self.outcomes[self.graph.steps[index].name]]

    def states(self) -> dict[str, str]:
        return {step.name: STEP_STATE_WORDS[self.board[step.index]] for step in self.graph.steps}


def outcomes_of(chance: Random, definition: Mapping[str, Any]) -> dict[str, str]:
    luck = chance.choice((1.0, 0.9, 0.6))
    return {
        step["name"]: oracle.GOOD
        if chance.random() < luck
        else chance.choice((oracle.BAD, oracle.BAD, oracle.STOPPED))
        for step in definition["steps"]
    }


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_every_step_comes_to_what_the_oracle_says(seed: int, size: int) -> None:
    chance = Random(seed)
    definition = oracle.random_graph(chance, size)
    outcomes = outcomes_of(chance, definition)
    numbers = {step["name"]: chance.randint(0, 10) for step in definition["steps"]}
    graph = read_graph(definition)
    fates = oracle.fates(definition, outcomes, numbers)

    play = Play(graph, outcomes, numbers)
    play.to_the_end(chance)

    assert play.states() == {name: fate.state for name, fate in fates.items()}
    assert {graph.steps[index].name: reason for index, reason in play.reasons.items()} == {
        name: fate.reason for name, fate in fates.items() if fate.reason
    }
    assert play.final == oracle.ending(definition, fates)
    assert len(play.started) == len(set(play.started)), "each step starts once"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_any_two_orders_of_the_same_endings_come_to_the_same_board(seed: int, size: int) -> None:
    chance = Random(seed)
    definition = oracle.random_graph(chance, size)
    outcomes = outcomes_of(chance, definition)
    numbers = {step["name"]: chance.randint(0, 10) for step in definition["steps"]}
    graph = read_graph(definition)

    plays = [Play(graph, outcomes, numbers) for _ in range(2)]
    for play in plays:
        play.to_the_end(Random(chance.random()))

    assert plays[0].board == plays[1].board
    assert plays[0].reasons == plays[1].reasons


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_another_round_ends_as_if_the_new_endings_had_come_at_once(seed: int, size: int) -> None:
    chance = Random(seed)
    definition = oracle.random_graph(chance, size)
    numbers = {step["name"]: chance.randint(0, 10) for step in definition["steps"]}
    graph = read_graph(definition)
    first, second = outcomes_of(chance, definition), outcomes_of(chance, definition)
    play = Play(graph, first, numbers)
    play.to_the_end(chance)

    again = find_steps_to_restart(graph, play.board)
    play.board, play.final, play.reasons = restart_step_states(graph, play.board), None, {}
    play.outcomes = {
        step.name: (second if step.index in again else first)[step.name] for step in graph.steps
    }
    play.to_the_end(chance)

    fates = oracle.fates(definition, play.outcomes, numbers)
    assert play.states() == {name: fate.state for name, fate in fates.items()}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_a_pause_at_any_moment_loses_no_ending(seed: int, size: int) -> None:
    chance = Random(seed)
    definition = oracle.random_graph(chance, size)
    outcomes = outcomes_of(chance, definition)
    numbers = {step["name"]: chance.randint(0, 10) for step in definition["steps"]}
    graph = read_graph(definition)
    play = Play(graph, outcomes, numbers)
    play.turn({})
    live = [index for index, state in enumerate(play.board) if state == "l"]

    play.board = record_endings(play.board, {index: play.ending(index) for index in live})
    play.to_the_end(chance)

    fates = oracle.fates(definition, outcomes, numbers)
    assert play.states() == {name: fate.state for name, fate in fates.items()}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_a_graph_is_read_back_as_it_was_written(seed: int, size: int) -> None:
    definition = oracle.random_graph(Random(seed), size)

    graph = read_graph(definition)

    assert read_stored_graph(json.loads(to_graph_json(graph))) == graph


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 30))
def test_a_cycle_anywhere_is_refused_with_a_path_that_is_one(seed: int, size: int) -> None:
    chance = Random(seed)
    definition = oracle.random_graph(chance, size)
    needs = {step["name"]: step.setdefault("needs", []) for step in definition["steps"]}
    walk = chance.sample(list(needs), chance.randint(2, size))
    for child, parent in zip([*walk[1:], walk[0]], walk, strict=True):
        if parent not in needs[child]:
            needs[child].append(parent)

    with pytest.raises(InvalidInput) as refused:
        read_graph(definition)

    names = refused.value.wanted.split(": ")[1].split(" → ")
    assert names[0] == names[-1]
    assert ".needs[" in refused.value.field
    for parent, child in pairwise(names):
        if "…" not in (parent, child):
            assert parent in needs[child]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.sampled_from(["s0", "s1", "", "always"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["$", "name", "kind", "over", "steps"]), inner, max_size=2
        )
    ),
    max_leaves=4,
)
FIELDS = (*fields_by_name(StepDocument), "steps", "over", "source", "tolerate", "at_once", "typo")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32), st.lists(st.tuples(st.sampled_from(FIELDS), JSON), max_size=3))
def test_a_damaged_definition_is_refused_or_runs_to_its_end(
    seed: int, damage: list[tuple[str, Any]]
) -> None:
    chance = Random(seed)
    definition = oracle.random_graph(chance, chance.randint(1, 8))
    for field, value in damage:
        chance.choice(definition["steps"])[field] = value

    try:
        graph = read_graph(definition)
    except InvalidInput as refused:
        assert refused.field.startswith("graph")
        assert len(str(refused)) < 1000
        return

    assert read_stored_graph(json.loads(to_graph_json(graph))) == graph
    board, ended = initial_step_states(graph), dict[int, StepState]()
    for _ in range(len(graph.steps) + 1):
        after = advance_graph(graph, board, ended, GraphScope(input={"a": [1]}))
        board, ended = after.step_states, dict.fromkeys(after.ready, StepState.SUCCEEDED)
        if after.final is not None:
            break
    assert after.final is not None, "a graph that was accepted cannot be stuck"
