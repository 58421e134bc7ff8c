"""Stored schedules, calendars and graphs as a newer release may have written them: with a field
that this release does not know at every level, or with another value of every choice.

The levels and the choices are those of the structs of rota.contract, so that a new struct or
choice is covered at once; `test_stored_levels.py` proves that no level is left out.
"""

import copy
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Final, NamedTuple, get_args

from msgspec import Struct

from rota.contract.calendar import CalendarDocument
from rota.contract.documents import fields_by_name, find_choices
from rota.contract.graph_fields import GraphDocument
from rota.contract.limits import LimitDraft, write_limit
from rota.contract.policy import PolicyDraft, write_policy
from rota.contract.schedule import read_schedule, write_schedule
from rota.contract.schedule_fields import ScheduleDocument
from rota.core.limits import JobLimit, RateLimit
from rota.core.policy import DelayGrowth, Policy, RetryPolicy

FIELD, VALUE = "colour", "newest_three"
SECOND: Final = timedelta(seconds=1)
NOW: Final = datetime(2026, 7, 1, 12, tzinfo=UTC)
OPTIONS: Final = {
    "jitter": {"window": "PT1S", "stable": True},
    "window": {"end": "2027-07-01T00:00:00Z", "max_runs": 1000},
    "misfire": {"start_deadline": "PT1H", "pace": "10/s"},
}
WRITTEN: Final[dict[str, dict[str, Any]]] = {
    "times": {"cron": "* * * * * *", "every": ["1h", "2h"], "at": "2026-12-01T00:00:00Z"},
    "options": {"cron": "* * * * * *", **OPTIONS},
    "one interval": {"every": "1s"},
    "fixed delay": {"fixed_delay": "1s"},
    "event": {"event": {"type": "order.paid", "where": "event.data.amount > 1"}},
    "debounce": {"event": {"type": "order.paid", "debounce": "1s"}},
    "batch": {"event": {"type": "order.paid", "batch": {"size": 2, "within": "1m"}}},
    "all of": {"event": {"all_of": ["order.paid", "order.sent"], "within": "1m"}},
}
# As this release stores them.
SCHEDULES: Final = {
    name: write_schedule(read_schedule(given, now=NOW, seed="s")) for name, given in WRITTEN.items()
}
POLICY: Final[dict[str, Any]] = write_policy(
    Policy(
        target="payments",
        retries=RetryPolicy(max_retries=1, growth=DelayGrowth.LIST, delays=(SECOND,)),
    )
)
# An unknown way to wait is the default one.
POLICY_FALLBACKS: Final = ("retries.kind", "retries.jitter")
LIMIT: Final[dict[str, Any]] = write_limit(
    JobLimit(key="k", max_running=3, rate=RateLimit(count=100, per=SECOND, burst=100))
)
CALENDAR: Final[dict[str, Any]] = {
    "name": "c",
    "timezone": "UTC",
    "dates": ["2026-12-25"],
    "ranges": [{"start": "2026-12-24T12:00:00", "end": "2026-12-26"}],
    "weekly": [{"start": "fri 18:00", "end": "mon 06:00"}],
    "yearly": ["12-31"],
    "recurring": [{"rrule": "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17", "length": "PT3H"}],
}
GRAPH: Final[dict[str, Any]] = {
    "steps": [
        {"name": "a", "kind": "noop"},
        {"name": "b", "kind": "noop", "needs": ["a"], "map": {"source": {"kind": "noop"}}},
        {"name": "c", "graph": {"steps": [{"name": "d", "kind": "noop"}]}},
    ]
}


class Newer(NamedTuple):
    """A document, and the path of what is new in it."""

    path: str
    document: dict[str, Any]


class Level(NamedTuple):
    path: tuple[str | int, ...]
    struct: type[Struct]


def newer_fields(root: type[Struct], document: Mapping[str, Any]) -> list[Newer]:
    """The document with an unknown field, once for each object in it."""
    return [
        changed(document, (*level.path, FIELD), {"deep": ["blue"]})
        for level in levels(root, document)
    ]


def newer_choices(root: type[Struct], document: Mapping[str, Any]) -> list[Newer]:
    """The document with an unknown value, once for each choice in it."""
    return [changed(document, path, VALUE) for path, _ in choices(root, document)]


def newer_schedules() -> dict[str, Newer]:
    """Schedules with something new in them, one for each path, by what that is."""
    found: dict[str, Newer] = {}
    paths: set[str] = set()
    for name, document in SCHEDULES.items():
        for each in (
            *newer_fields(ScheduleDocument, document),
            *newer_choices(ScheduleDocument, document),
        ):
            if each.path not in paths:
                found[f"{name}: {each.path}"] = each
            paths.add(each.path)
    return found


def newer_policies() -> list[Newer]:
    """Policies with something new in them: a field or a choice of theirs or of their retries."""
    return [*newer_fields(PolicyDraft, POLICY), *newer_choices(PolicyDraft, POLICY)]


def newer_limits() -> list[Newer]:
    return newer_fields(LimitDraft, LIMIT)


def newer_calendars() -> list[Newer]:
    return newer_fields(CalendarDocument, CALENDAR)


def newer_graphs() -> list[Newer]:
    return newer_fields(GraphDocument, GRAPH)


def levels(root: type[Struct], document: Mapping[str, Any]) -> Iterator[Level]:
    """Each object of a document, with its struct."""
    yield from _levels(root, document, ())


def choices(
    root: type[Struct], document: Mapping[str, Any]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Where each choice of a document stands, and `Struct.field`."""
    for path, struct in levels(root, document):
        part = _at(document, path)
        for name, field in fields_by_name(struct).items():
            is_choice = any(_inside(field.type, Enum)) or find_choices(field.type)
            if part.get(name) is not None and is_choice:
                yield (*path, name), f"{struct.__name__}.{name}"


def structs_below(root: type[Struct], seen: frozenset[type] = frozenset()) -> set[type]:
    """All structs that a document of this one may have."""
    found: set[type] = {root}
    for field in fields_by_name(root).values():
        for struct in _inside(field.type, Struct):
            if struct not in seen | found:
                found |= structs_below(struct, seen | found)
    return found


def changed(document: Mapping[str, Any], path: tuple[str | int, ...], value: object) -> Newer:
    whole = copy.deepcopy(dict(document))
    _at(whole, path[:-1])[path[-1]] = value
    return Newer(".".join(map(str, path)), whole)


def _levels(annotation: Any, value: Any, path: tuple[str | int, ...]) -> Iterator[Level]:
    struct = next(iter(_inside(annotation, Struct)), None)
    if struct is None:
        return
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _levels(annotation, item, (*path, place))
    elif isinstance(value, Mapping):
        yield Level(path, struct)
        for name, field in fields_by_name(struct).items():
            yield from _levels(field.type, value.get(name), (*path, name))


def _inside(annotation: Any, kind: type) -> Iterator[Any]:
    if isinstance(annotation, type) and issubclass(annotation, kind):
        yield annotation
    for each in get_args(annotation):
        yield from _inside(each, kind)


def _at(document: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        document = document[part]
    return document
