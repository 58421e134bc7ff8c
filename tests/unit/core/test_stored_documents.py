"""Stored documents of a newer version are read leniently, input is not (O4)."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from rota.contract.calendar import read_stored_calendar
from rota.contract.graph import read_stored_graph
from rota.contract.limits import read_stored_limit
from rota.contract.policy import build_step_policy, read_policy, read_stored_policy, write_policy
from rota.contract.quotas import read_quotas, read_stored_quotas
from rota.contract.schedule import (
    read_schedule,
    read_stored_schedule,
    write_schedule,
)
from rota.contract.schedule_fields import RULE_FIELDS
from rota.core.errors import InvalidInput, InvalidSchedule, NewerDocument
from rota.core.outcome import Guarantee
from rota.core.overlap import Overlap
from rota.core.policy import DEFAULT_POLICY, DelayGrowth, RetryJitter
from rota.core.stored_documents import check_known, create_unknown_member
from rota.core.time.policies import CatchUp

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
CRON = write_schedule(read_schedule({"cron": "* * * * *"}, now=NOW))
POLICY = write_policy(DEFAULT_POLICY)
GRAPH: dict[str, Any] = {
    "steps": [
        {"name": "a", "kind": "k"},
        {
            "name": "b",
            "kind": "k",
            "needs": ["a"],
            "retries": {"max": 2},
            "map": {"source": {"kind": "k"}},
        },
        {"name": "c", "graph": {"steps": [{"name": "d", "kind": "k"}]}},
    ]
}


def schedule(**parts: object) -> dict[str, object]:
    rules = {} if "cron" in parts else {key: parts[key] for key in RULE_FIELDS if key in parts}
    kept = {key: value for key, value in CRON.items() if key != "cron" or not rules}
    return {**kept, **parts}


def event(trigger: object) -> dict[str, object]:
    kept = {key: value for key, value in CRON.items() if key != "cron"}
    return {**kept, "event": trigger}


def changed(document: Any, path: str, value: object) -> Any:
    """The document with one value more: `steps.1.map.colour`."""
    key, _, rest = path.partition(".")
    if isinstance(document, list):
        place = int(key)
        return [
            changed(each, rest, value) if n == place else each for n, each in enumerate(document)
        ]
    return {**document, key: changed(document.get(key, {}), rest, value) if rest else value}


BATCH = {"type": "t", "batch": {"size": 2, "within": "PT1M", "key": None}}
JITTER = schedule(jitter={"window": "PT5S", "stable": True})

Read = Callable[[Any], object]


def named(value: Any) -> str:
    """The same in every process."""
    return getattr(value, "__module__", "") if callable(value) else str(value)[:40]


LEVELS: list[tuple[Read, Read, Any, str]] = [
    (read_policy, read_stored_policy, POLICY, "colour"),
    (read_policy, read_stored_policy, POLICY, "retries.colour"),
    (read_quotas, read_stored_quotas, {"max_jobs": 3}, "colour"),
]


@pytest.mark.parametrize(("read_input", "read_stored", "document", "path"), LEVELS, ids=named)
def test_an_unknown_field_is_refused_in_input_and_ignored_in_what_is_stored(
    read_input: Read, read_stored: Read, document: Any, path: str
) -> None:
    newer = changed(document, path, {"deep": ["blue"]})

    assert read_stored(document) == read_input(document)
    with pytest.raises(InvalidInput, match="colour"):
        read_input(newer)
    read_stored(newer)


@pytest.mark.parametrize("path", ["colour", "dst.colour", "misfire.colour", "window.colour"])
def test_unknown_fields_of_a_schedule_are_written_back(path: str) -> None:
    newer = changed(CRON, path, "blue")

    assert write_schedule(read_stored_schedule(newer)) == newer


def test_unknown_fields_of_a_rule_among_others_are_written_back() -> None:
    every = {"interval": "PT1M", "anchor": "2026-07-01T12:00:00Z"}
    newer = schedule(every=[every, {**every, "colour": "blue"}])

    assert write_schedule(read_stored_schedule(newer))["every"] == newer["every"]


@pytest.mark.parametrize("path", ["colour", "retries.colour"])
def test_unknown_fields_of_a_policy_are_written_back(path: str) -> None:
    newer = changed(POLICY, path, "blue")

    assert write_policy(read_stored_policy(newer)) == newer


def test_unknown_ways_to_wait_before_a_retry_are_the_usual_ones_and_are_kept() -> None:
    newer = changed(changed(POLICY, "retries.kind", "fibonacci"), "retries.jitter", "pink")

    read = read_stored_policy(newer)

    assert (read.retries.growth, read.retries.jitter) == (DelayGrowth.EXPONENTIAL, RetryJitter.FULL)
    assert write_policy(read) == newer


def test_unknown_ways_to_catch_up_are_the_usual_ones_and_are_kept() -> None:
    newer = CRON
    for name in ("on_outage", "on_resume", "on_edit"):
        newer = changed(newer, f"misfire.{name}", "newest_three")

    read = read_stored_schedule(newer)

    assert (read.misfire.on_outage, read.misfire.on_edit) == (CatchUp.ONCE, CatchUp.SKIP)
    assert write_schedule(read) == newer


UNKNOWN: list[tuple[Read, Any, str, object]] = [
    (read_stored_policy, POLICY, "guarantee", "twice"),
    (read_stored_policy, POLICY, "timeout", {"soft": "PT1S"}),
    (read_stored_policy, POLICY, "retries.delays", "PT1S"),
    (read_stored_schedule, CRON, "dst.gap", "sideways"),
    (read_stored_schedule, CRON, "dst.overlap", "neither"),
    (read_stored_schedule, CRON, "day_match", "most"),
    (read_stored_schedule, CRON, "on_blackout", "ask"),
    (read_stored_schedule, CRON, "misfire.pace", "10/min/host"),
    (read_stored_schedule, CRON, "window.max_runs", "few"),
    (read_stored_schedule, JITTER, "jitter.window", "auto"),
    (read_stored_schedule, CRON, "dst", "as in rome"),
    (read_stored_schedule, schedule(cron=None), "sunset", {"at": "51.5,0.1"}),
    (read_stored_schedule, event({"any_of": ["t", "u"]}), "event.any_of", ["t", "u"]),
    (read_stored_schedule, event(BATCH), "event.batch.size", "auto"),
    (read_stored_schedule, event(BATCH), "event.where", "event matches 7 §"),
    (read_stored_calendar, {"name": "c", "monthly": ["1st"]}, "timezone", "UTC"),
    (read_stored_limit, {"key": "k"}, "window", {"size": 3}),
    (read_stored_limit, {"key": "k"}, "rate", "ten a minute"),
    (read_stored_graph, GRAPH, "steps.1.when", "now and then"),
    (read_stored_graph, GRAPH, "steps.1.needs", {"any": ["a"]}),
    (read_stored_graph, GRAPH, "steps.0.guarantee", "twice"),
    (read_stored_graph, GRAPH, "steps.1.map.tolerate", {"share": 3}),
]


@pytest.mark.parametrize(("read", "document", "path", "value"), UNKNOWN, ids=named)
def test_any_other_unknown_value_waits_for_newer_code(
    read: Read, document: Any, path: str, value: object
) -> None:
    with pytest.raises(NewerDocument, match="waits for a process of a newer version"):
        read(changed(document, path, value))


@pytest.mark.parametrize(
    "broken", [[], {"cron": "* * *"}, {"cron": "* * * * *", "timezone": "Mars/Olympus"}, {}]
)
def test_what_no_version_can_read_is_not_taken_for_newer(broken: object) -> None:
    with pytest.raises(InvalidSchedule):
        read_stored_schedule(broken)


def test_a_limit_may_have_fields_that_are_not_known() -> None:
    limit = read_stored_limit({"key": "k", "max": 3, "rate": None, "colour": "blue"})

    assert (limit.key, limit.max_running) == ("k", 3)


def test_a_step_keeps_what_its_job_says_in_unknown_fields() -> None:
    job = read_stored_policy(changed(POLICY, "colour", "blue"))
    step = read_stored_graph(GRAPH).steps[1]

    merged = write_policy(build_step_policy(step.policy, job))

    assert (merged["colour"], step.policy["retries"]) == ("blue", {"max": 2})


def test_a_value_of_a_column_that_is_not_known_can_be_shown_and_decides_nothing() -> None:
    newer = create_unknown_member(Overlap, "queue_two")

    assert isinstance(newer, Overlap)
    assert (newer.value, newer == "queue_two") == ("queue_two", True)
    assert newer not in {Overlap.SKIP, Overlap.ALLOW}
    with pytest.raises(NewerDocument, match="queue_two"):
        check_known(newer, "overlap")
    check_known(Overlap.SKIP, "overlap")
    check_known(Guarantee.AT_MOST_ONCE, "guarantee")
