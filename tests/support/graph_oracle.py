"""What every step of a graph must come to, worked out from the definition alone.

Written apart from core/graphs on purpose: it goes through the JSON by names, from a step back to
those it needs, and knows neither boards nor batches. Conditions are a few texts that it knows.
"""

from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any, NamedTuple

GOOD, BAD, STOPPED, LEFT = "succeeded", "failed", "cancelled", "skipped"


class Fate(NamedTuple):
    """The state of a step, and why it was skipped."""

    state: str
    reason: str | None = None


def parent_failed(parent: str) -> str:
    return f"steps.{parent}.state == 'failed'"


def parent_counts(parent: str) -> str:
    return f"steps.{parent}.result.n >= 5"


def parent_divides(parent: str) -> str:
    """Fails where the parent's n is 0."""
    return f"10 / coalesce(steps.{parent}.result.n, 1) > 1"


CONDITIONS: tuple[Callable[[str], str], ...] = (parent_failed, parent_counts, parent_divides)


def fates(
    definition: Mapping[str, Any], outcomes: Mapping[str, str], numbers: Mapping[str, int]
) -> dict[str, Fate]:
    """The fate of each step, if its run (should it have one) ends as `outcomes` says, and gives the
    result `{"n": number}` when it succeeds.
    """
    steps = {step["name"]: step for step in definition["steps"]}

    @cache
    def fate(name: str) -> Fate:
        step = steps[name]
        when = step.get("when", "success")
        parents = {parent: fate(parent).state for parent in step.get("needs", [])}
        found = _asked(when, parents, numbers)
        return Fate(outcomes[name]) if found is None else found

    # From the front, so that a long chain does not recurse deeply.
    return {name: fate(name) for name in _in_order(steps)}


def _asked(when: str, parents: Mapping[str, str], numbers: Mapping[str, int]) -> Fate | None:
    """What becomes of a step without a run; None if it gets one."""
    states = set(parents.values())
    if when == "always":
        return None
    if when == "failure":
        return None if BAD in states else Fate(LEFT, "condition")
    if when == "none_failed" and GOOD in states:
        return _stopped(states - {LEFT})
    if when in {"success", "none_failed"}:
        return _stopped(states)
    parent = when.split("steps.")[1].split(".", maxsplit=1)[0]
    if when == parent_failed(parent):
        rest = {state for name, state in parents.items() if name != parent}
        return _stopped(rest) or _unless(parents[parent] == BAD)
    stopped = _stopped(states)
    if stopped is not None:
        return stopped
    if when == parent_counts(parent):
        return _unless(numbers[parent] >= 5)
    return Fate(BAD) if numbers[parent] == 0 else _unless(10 / numbers[parent] > 1)


def _stopped(states: set[str]) -> Fate | None:
    for state, reason in ((BAD, "failed"), (STOPPED, "cancelled"), (LEFT, "skipped")):
        if state in states:
            return Fate(LEFT, f"upstream_{reason}")
    return None


def _unless(fulfilled: bool) -> Fate | None:
    return None if fulfilled else Fate(LEFT, "condition")


def _in_order(steps: Mapping[str, Any]) -> list[str]:
    done: dict[str, None] = {}
    while len(done) < len(steps):
        for name, step in steps.items():
            if name not in done and all(parent in done for parent in step.get("needs", [])):
                done[name] = None
    return list(done)


def ending(definition: Mapping[str, Any], found: Mapping[str, Fate]) -> str:
    """The state that the graph run ends in."""
    states = {
        fate.state
        for step in definition["steps"]
        for fate in [found[step["name"]]]
        if not (fate.state == BAD and step.get("may_fail"))
    }
    return "dead" if BAD in states else STOPPED if STOPPED in states else GOOD


def random_graph(chance: Random, steps: int, *, kind: str = "work") -> dict[str, Any]:
    """A graph of so many steps: of every width and depth, with all sorts of conditions."""
    density = chance.choice((0.5, 1.5, 3.0))
    lenient = chance.choice((0.0, 0.2, 0.9))
    made: list[dict[str, Any]] = []
    for place in range(steps):
        most = min(place, 6)
        count = min(most, int(chance.expovariate(1 / density)))
        near = range(max(0, place - chance.choice((3, 10, 40))), place)
        needs = chance.sample(near, min(count, len(near)))
        step: dict[str, Any] = {"name": f"s{place}", "kind": kind}
        if needs:
            step["needs"] = [f"s{parent}" for parent in needs]
            step["when"] = _random_when(chance, step["needs"])
        if chance.random() < lenient:
            step["may_fail"] = True
        made.append(step)
    chance.shuffle(made)
    return {"steps": made}


def _random_when(chance: Random, needs: list[str]) -> str:
    if chance.random() < 0.5:
        return "success"
    if chance.random() < 0.6:
        return chance.choice(("failure", "always", "none_failed"))
    return chance.choice(CONDITIONS)(chance.choice(needs))
