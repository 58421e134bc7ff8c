"""What a job waits for: its plain form, and what is refused (S7)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from rota.contract.schedule import read_saved_schedule, read_schedule, write_schedule
from rota.core.errors import InvalidInput
from rota.core.time.description import describe_schedule

NOW = datetime(2026, 7, 1, tzinfo=UTC)
GOOD: list[tuple[Any, Any, str]] = [
    ("order.paid", "order.paid", "Whenever the event order.paid arrives"),
    ({"type": "order.*"}, "order.*", "Whenever the event order.* arrives"),
    (
        {"type": "*", "where": "event.data.n > 1"},
        {"type": "*", "where": "event.data.n > 1"},
        "Whenever the event * with event.data.n > 1 arrives",
    ),
    (
        {"type": "a", "debounce": "30s"},
        {"type": "a", "debounce": {"quiet": "PT30S", "most": "PT5M", "key": None}},
        "Once the event a has not arrived for 30 seconds, at the latest after 5 minutes",
    ),
    (
        {"type": "a", "batch": {"size": 3, "within": "10s", "key": "event.data.c"}},
        {"type": "a", "batch": {"size": 3, "within": "PT10S", "key": "event.data.c"}},
        "Once for up to 3 arrivals of the event a within 10 seconds, for each event.data.c",
    ),
    (
        {"all_of": ["a", {"type": "b", "where": "event.data.x"}], "within": "1h"},
        {
            "all_of": [{"type": "a"}, {"type": "b", "where": "event.data.x"}],
            "within": "PT1H",
            "key": None,
        },
        "Once the event a and the event b with event.data.x have arrived within 1 hour",
    ),
]
WRONG: list[tuple[Any, str, str]] = [
    ("a b", "event", "an event type such as"),
    ("a.*.b", "event", "an event type such as"),
    ("**", "event", "an event type such as"),
    ({"where": "event.data"}, "event.type", "of 1 to 200 characters"),
    ({"type": "a", "were": "x"}, "event.were", "did you mean where"),
    ({"type": "a", "where": "event.data >"}, "event.where", "at character 13"),
    ({"type": "a", "where": "payload.x"}, "event.where", "unknown name; known names: event"),
    ({"type": "a", "where": "event.x" * 400}, "event.where", "2000"),
    ({"type": "a", "debounce": "0s"}, "event.debounce.quiet", "at least 1 second"),
    ({"type": "a", "debounce": {"quiet": "9s", "most": "8s"}}, "event.debounce.most", "at least"),
    ({"type": "a", "debounce": {}}, "event.debounce.quiet", "a duration"),
    ({"type": "a", "batch": {"size": 1001, "within": "1s"}}, "event.batch.size", "1 to 1,000"),
    ({"type": "a", "batch": {"size": 2}}, "event.batch.within", "a duration"),
    ({"type": "a", "batch": {"size": 2, "within": "8d"}}, "event.batch.within", "at most 7 days"),
    (
        {"type": "a", "debounce": "1s", "batch": {"size": 2, "within": "1s"}},
        "event.batch",
        "debounce and batch cannot be combined",
    ),
    ({"type": "a", "key": "event.data"}, "event.key", "inside batch or debounce"),
    (
        {"type": "a", "all_of": ["a", "b"], "within": "1s"},
        "event.type",
        "give type inside its items",
    ),
    ({"all_of": ["a"], "within": "1s"}, "event.all_of", "2 to 16"),
    ({"all_of": ["a", "b"]}, "event.within", "required with all_of: the time to wait"),
    ({"all_of": ["a", "b c"], "within": "1s"}, "event.all_of[1].type", "an event type such as"),
    (["a"], "event", "an object with"),
]


@pytest.mark.parametrize(("given", "stored", "said"), GOOD, ids=[str(n) for n in range(len(GOOD))])
def test_it_is_stored_with_its_defaults_and_read_again(given: Any, stored: Any, said: str) -> None:
    schedule = read_schedule({"event": given}, now=NOW)
    written = write_schedule(schedule)

    assert written["event"] == stored
    assert read_saved_schedule(written) == schedule
    assert describe_schedule(schedule).startswith(said)


@pytest.mark.parametrize(("given", "field", "said"), WRONG, ids=[str(n) for n in range(len(WRONG))])
def test_what_is_wrong_with_it_is_said_with_its_place(given: Any, field: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_schedule({"event": given}, now=NOW)

    assert refused.value.field == field
    assert said in refused.value.wanted
