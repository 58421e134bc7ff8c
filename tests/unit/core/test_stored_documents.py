"""Stored documents of a newer version are read leniently, input is not (O4)."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from rota.core import policy, quotas
from rota.core.documents import check_known, unknown_member
from rota.core.errors import InvalidInput, InvalidSchedule, NewerDocument
from rota.core.graphs import policy_of, read_graph, read_stored_graph
from rota.core.limits import limit_from_plain
from rota.core.outcome import Guarantee
from rota.core.overlap import Overlap
from rota.core.retry import Growth, Jitter
from rota.core.time import calendar_plain, plain
from rota.core.time.policies import CatchUp
from rota.core.time.rule_plain import RULES

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
CRON = plain.to_plain(plain.parse({"cron": "* * * * *"}, now=NOW))
POLICY = policy.to_plain(policy.USUAL)
CALENDAR = {
    "name": "c",
    "timezone": "UTC",
    "dates": ["2026-12-25"],
    "ranges": [{"start": "2026-12-24T12:00:00", "end": "2026-12-26"}],
    "weekly": [{"start": "fri 18:00", "end": "mon 06:00"}],
    "yearly": ["12-31"],
    "recurring": [{"rrule": "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17", "length": "PT3H"}],
}
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
    rules = {} if "cron" in parts else {key: parts[key] for key in RULES if key in parts}
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


EVERY = schedule(every={"interval": "PT1M", "anchor": "2026-07-01T12:00:00Z"})
DELAY = schedule(fixed_delay={"delay": "PT1M", "anchor": "2026-07-01T12:00:00Z"})
BATCH = {"type": "t", "batch": {"size": 2, "within": "PT1M", "key": None}}
DEBOUNCE = {"type": "t", "debounce": {"quiet": "PT1M", "most": "PT5M", "key": None}}
ALL_OF = {"all_of": [{"type": "t"}, {"type": "u"}], "within": "PT1M"}
JITTER = schedule(jitter={"window": "PT5S", "stable": True})

Read = Callable[[Any], object]


def named(value: Any) -> str:
    """The same in every process."""
    return getattr(value, "__module__", "") if callable(value) else str(value)[:40]


LEVELS: list[tuple[Read, Read, Any, str]] = [
    (policy.from_plain, policy.read_stored, POLICY, "colour"),
    (policy.from_plain, policy.read_stored, POLICY, "retries.colour"),
    (plain.from_plain, plain.read_stored, CRON, "colour"),
    (plain.from_plain, plain.read_stored, CRON, "dst.colour"),
    (plain.from_plain, plain.read_stored, CRON, "window.colour"),
    (plain.from_plain, plain.read_stored, CRON, "misfire.colour"),
    (plain.from_plain, plain.read_stored, JITTER, "jitter.colour"),
    (plain.from_plain, plain.read_stored, EVERY, "every.colour"),
    (plain.from_plain, plain.read_stored, DELAY, "fixed_delay.colour"),
    (plain.from_plain, plain.read_stored, event(BATCH), "event.colour"),
    (plain.from_plain, plain.read_stored, event(BATCH), "event.batch.colour"),
    (plain.from_plain, plain.read_stored, event(DEBOUNCE), "event.debounce.colour"),
    (plain.from_plain, plain.read_stored, event(ALL_OF), "event.all_of.1.colour"),
    (calendar_plain.from_plain, calendar_plain.read_stored, CALENDAR, "colour"),
    (calendar_plain.from_plain, calendar_plain.read_stored, CALENDAR, "ranges.0.colour"),
    (calendar_plain.from_plain, calendar_plain.read_stored, CALENDAR, "weekly.0.colour"),
    (calendar_plain.from_plain, calendar_plain.read_stored, CALENDAR, "recurring.0.colour"),
    (read_graph, read_stored_graph, GRAPH, "colour"),
    (read_graph, read_stored_graph, GRAPH, "steps.0.colour"),
    (read_graph, read_stored_graph, GRAPH, "steps.1.retries.colour"),
    (read_graph, read_stored_graph, GRAPH, "steps.1.map.colour"),
    (read_graph, read_stored_graph, GRAPH, "steps.1.map.source.colour"),
    (read_graph, read_stored_graph, GRAPH, "steps.2.graph.colour"),
    (quotas.from_plain, quotas.read_stored, {"max_jobs": 3}, "colour"),
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

    assert plain.to_plain(plain.read_stored(newer)) == newer


def test_unknown_fields_of_a_rule_among_others_are_written_back() -> None:
    every = {"interval": "PT1M", "anchor": "2026-07-01T12:00:00Z"}
    newer = schedule(every=[every, {**every, "colour": "blue"}])

    assert plain.to_plain(plain.read_stored(newer))["every"] == newer["every"]


@pytest.mark.parametrize("path", ["colour", "retries.colour"])
def test_unknown_fields_of_a_policy_are_written_back(path: str) -> None:
    newer = changed(POLICY, path, "blue")

    assert policy.to_plain(policy.read_stored(newer)) == newer


def test_unknown_ways_to_wait_before_a_retry_are_the_usual_ones_and_are_kept() -> None:
    newer = changed(changed(POLICY, "retries.kind", "fibonacci"), "retries.jitter", "pink")

    read = policy.read_stored(newer)

    assert (read.retries.growth, read.retries.jitter) == (Growth.EXPONENTIAL, Jitter.FULL)
    assert policy.to_plain(read) == newer


def test_unknown_ways_to_catch_up_are_the_usual_ones_and_are_kept() -> None:
    newer = CRON
    for name in ("on_outage", "on_resume", "on_edit"):
        newer = changed(newer, f"misfire.{name}", "newest_three")

    read = plain.read_stored(newer)

    assert (read.misfire.on_outage, read.misfire.on_edit) == (CatchUp.ONCE, CatchUp.SKIP)
    assert plain.to_plain(read) == newer


UNKNOWN: list[tuple[Read, Any, str, object]] = [
    (policy.read_stored, POLICY, "guarantee", "twice"),
    (policy.read_stored, POLICY, "timeout", {"soft": "PT1S"}),
    (policy.read_stored, POLICY, "retries.delays", "PT1S"),
    (plain.read_stored, CRON, "dst.gap", "sideways"),
    (plain.read_stored, CRON, "dst.overlap", "neither"),
    (plain.read_stored, CRON, "day_match", "most"),
    (plain.read_stored, CRON, "on_blackout", "ask"),
    (plain.read_stored, CRON, "misfire.pace", "10/min/host"),
    (plain.read_stored, CRON, "window.max_runs", "few"),
    (plain.read_stored, JITTER, "jitter.window", "auto"),
    (plain.read_stored, CRON, "dst", "as in rome"),
    (plain.read_stored, schedule(cron=None), "sunset", {"at": "51.5,0.1"}),
    (plain.read_stored, event({"any_of": ["t", "u"]}), "event.any_of", ["t", "u"]),
    (plain.read_stored, event(BATCH), "event.batch.size", "auto"),
    (plain.read_stored, event(BATCH), "event.where", "event matches 7 §"),
    (calendar_plain.read_stored, {"name": "c", "monthly": ["1st"]}, "timezone", "UTC"),
    (limit_from_plain, {"key": "k"}, "window", {"size": 3}),
    (limit_from_plain, {"key": "k"}, "rate", "ten a minute"),
    (read_stored_graph, GRAPH, "steps.1.when", "now and then"),
    (read_stored_graph, GRAPH, "steps.1.needs", {"any": ["a"]}),
    (read_stored_graph, GRAPH, "steps.0.guarantee", "twice"),
    (read_stored_graph, GRAPH, "steps.1.map.tolerate", {"share": 3}),
]


@pytest.mark.parametrize(("read", "document", "path", "value"), UNKNOWN, ids=named)
def test_any_other_unknown_value_waits_for_newer_code(
    read: Read, document: Any, path: str, value: object
) -> None:
    with pytest.raises(NewerDocument, match="waits for a process of a version that knows it"):
        read(changed(document, path, value))


@pytest.mark.parametrize(
    "broken", [[], {"cron": "* * *"}, {"cron": "* * * * *", "timezone": "Mars/Olympus"}, {}]
)
def test_what_no_version_can_read_is_not_taken_for_newer(broken: object) -> None:
    with pytest.raises(InvalidSchedule):
        plain.read_stored(broken)


def test_a_limit_may_have_fields_that_are_not_known() -> None:
    limit = limit_from_plain({"key": "k", "max": 3, "rate": None, "colour": "blue"})

    assert (limit.key, limit.most) == ("k", 3)


def test_a_step_keeps_what_its_job_says_in_unknown_fields() -> None:
    job = policy.read_stored(changed(POLICY, "colour", "blue"))
    step = read_stored_graph(GRAPH).steps[1]

    merged = policy.to_plain(policy_of(step, job))

    assert (merged["colour"], step.policy["retries"]) == ("blue", {"max": 2})


def test_a_value_of_a_column_that_is_not_known_can_be_shown_and_decides_nothing() -> None:
    newer = unknown_member(Overlap, "queue_two")

    assert isinstance(newer, Overlap)
    assert (newer.value, newer == "queue_two") == ("queue_two", True)
    assert newer not in {Overlap.SKIP, Overlap.ALLOW}
    with pytest.raises(NewerDocument, match="queue_two"):
        check_known(newer, "overlap")
    check_known(Overlap.SKIP, "overlap")
    check_known(Guarantee.AT_MOST_ONCE, "guarantee")
