"""What is accepted as input is written and read back as the same value, whatever its fields."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from typing import Any, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from rota.contract.calendar import (
    CalendarDocument,
    read_calendar,
    read_stored_calendar,
    write_calendar,
)
from rota.contract.documents import fields_by_name
from rota.contract.schedule import read_schedule, read_stored_schedule, write_schedule
from rota.contract.schedule_fields import ScheduleDocument
from rota.core.errors import InvalidInput

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
LENGTHS = ("1s", "90s", "PT15M", "1h30m", "0s", "2d", "soon")
INSTANTS = ("2026-08-01T00:00:00Z", "2027-01-01T01:30:00.5+02:00", "2026-01-01T00:00:00Z", "now")
# What a field of this name is given; each has values that are accepted and one that is not.
TEXTS: dict[str, tuple[str, ...]] = {
    "cron": ("30 2 * * *", "H H * * MON", "@daily", "@every 90s", "CRON_TZ=Asia/Tokyo 0 9 * * *"),
    "rrule": ("FREQ=DAILY;BYHOUR=9", "FREQ=MONTHLY;BYDAY=-1FR", "FREQ=NEVER"),
    "timezone": ("UTC", "Europe/Berlin", "Mars/Olympus"),
    "pace": ("10/min", "1/s", "100/PT15M", "fast"),
    "calendars": ("holidays", "freeze"),
    "name": ("holidays", "freeze"),
    "dates": ("2026-12-25", "2026-13-01"),
    "yearly": ("12-25", "02-29", "02-30"),
    "type": ("order.paid", "order.*", "a b"),
    "event": ("order.paid", "*", ""),
    "all_of": ("order.paid", "order.sent"),
    "where": ("event.data.n > 1", "event."),
    "key": ("event.data.id", "input.x"),
    **dict.fromkeys(("at", "anchor"), INSTANTS),
}
# Fields of the same name mean different things in schedules and calendars.
LOCAL = ("2026-12-24", "2026-12-26T12:00:00", "fri 18:00", "mon 06:00")


def documents(struct: type[Struct], edges: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with some of the fields of a struct; `edges` are what `start` and `end` are given."""
    fields = {
        name: values(field.type, edges if name in {"start", "end"} else TEXTS.get(name, LENGTHS))
        for name, field in fields_by_name(struct).items()
    }
    required = {name for name, field in fields_by_name(struct).items() if field.required}
    return st.sets(st.sampled_from(sorted(fields)), max_size=4).flatmap(
        lambda chosen: st.fixed_dictionaries({name: fields[name] for name in chosen | required})
    )


def values(annotation: Any, texts: tuple[str, ...]) -> st.SearchStrategy[Any]:
    """Values of the types that a field has."""
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        edges = INSTANTS if "max_runs" in fields_by_name(annotation) else LOCAL
        return st.deferred(lambda: documents(annotation, edges))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from([member.value for member in annotation])
    plain: dict[Any, st.SearchStrategy[Any]] = {
        str: st.sampled_from(texts),
        int: st.integers(0, 50),
        bool: st.just(True),
        type(None): st.none(),
    }
    if annotation in plain:
        return plain[annotation]
    inner = [each for each in get_args(annotation) if get_args(each) or isinstance(each, type)]
    if getattr(annotation, "__origin__", None) is list:
        return st.lists(values(inner[0], texts), min_size=1, max_size=3)
    return st.one_of([values(each, texts) for each in inner])


def comes_back(read: Callable[[], Any], write: Any, read_stored: Any) -> None:
    try:
        value = read()
    except InvalidInput:
        return
    stored = json.loads(json.dumps(write(value)))

    again = read_stored(stored)

    assert again == value
    assert write(again) == stored


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    documents(ScheduleDocument, INSTANTS),
    st.sampled_from(({"cron": "30 2 * * *"}, {"every": "1h"}, {"at": "2026-08-01T00:00:00Z"}, {})),
)
def test_a_schedule_that_is_accepted_comes_back_from_the_store(
    document: dict[str, Any], rule: dict[str, Any]
) -> None:
    comes_back(
        lambda: read_schedule({**document, **rule}, now=NOW, seed="s"),
        write_schedule,
        lambda stored: read_stored_schedule(stored, seed="s"),
    )


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents(CalendarDocument, LOCAL))
def test_a_calendar_that_is_accepted_comes_back_from_the_store(document: dict[str, Any]) -> None:
    comes_back(lambda: read_calendar(document), write_calendar, read_stored_calendar)
