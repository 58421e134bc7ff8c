"""Reads and writes the rules of a schedule.

A zone inside a rule (`CRON_TZ=`, `TZID=`) becomes the zone of the schedule; two different zones are
rejected. schedule.py reads bounds and policies.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final, TypeVar, assert_never
from zoneinfo import ZoneInfo

from msgspec import to_builtins

from rota.contract.schedule_fields import (
    COMBINABLE_RULES,
    RULE_FIELDS,
    RULE_TEXT_ALLOWED,
    RULES_MAX,
    SINGLE_RULES,
    EveryDocument,
    FixedDelayDocument,
    ScheduleDocument,
)
from rota.contract.trigger import build_stored_trigger, build_trigger, write_trigger
from rota.core.errors import InvalidInput, InvalidSchedule, NewerDocument
from rota.core.time import cron, durations, moments, rrule, zones
from rota.core.time.cron import Cron, DayMatch
from rota.core.time.interval import EPOCH, INTERVAL_MIN, Every, EveryAfterEnd
from rota.core.time.rrule import Rrule
from rota.core.time.schedule import Immediate, Once, OnDemand, OnEvent, Rule

RULE_ORDER: Final = (Cron, Rrule, Every, Once)
EVERY_ALLOWED: Final = "an interval such as @every 90s, or @every 1h/10m for ten past each hour"
AT_ALLOWED: Final = "an instant such as @at 2030-01-31T09:00:00Z"
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ScheduleContext:
    """The context in which a schedule is read. `now` is the time of creation, None for a saved
    schedule; `start` is the start of its window; `error` is raised for values that newer code may
    know.
    """

    now: datetime | None
    start: datetime | None
    seed: str
    error: type[InvalidInput]

    @property
    def is_stored(self) -> bool:
        return self.error is NewerDocument

    def find_anchor(self, path: str) -> datetime:
        """Return the instant from which intervals are counted if the rule has no anchor."""
        if self.now is None:
            wanted = "required: an instant such as 2030-01-31T09:00:00Z"
            raise InvalidSchedule(path, None, wanted)
        return (self.start or self.now).replace(microsecond=0)


def find_rules(document: ScheduleDocument) -> list[str]:
    """Return the names of the rules in a document."""
    return [key for key in RULE_FIELDS if getattr(document, key) is not None]


def build_rules(
    document: ScheduleDocument, keys: Sequence[str], origin: ScheduleContext
) -> tuple[tuple[Rule, ...], str]:
    """Return the rules of a document and their time zone."""
    single = next((key for key in keys if key in SINGLE_RULES), None)
    if single is not None and len(keys) > 1:
        wanted = (
            f"{single} cannot be combined with another rule; only {', '.join(COMBINABLE_RULES)} can"
        )
        raise origin.error(single, to_builtins(getattr(document, single)), wanted)
    timezone = _find_timezone(document)
    if single is not None:
        return (_build_single(document, single, origin),), timezone
    rules: list[Rule] = []
    if document.cron is not None:
        rules += _build_crons(document, origin)
    if document.rrule is not None:
        rules += _build_rrules(document, origin, zones.get_zone(timezone))
    if document.every is not None:
        every: list[str | EveryDocument] = _to_list(document.every)
        rules += [_build_every(item, path, origin) for item, path in _with_paths(every, "every")]
    if document.at is not None:
        at = _to_list(document.at)
        rules += [_build_once(item, path) for item, path in _with_paths(at, "at")]
    if len(rules) > RULES_MAX:
        wanted = f"at most {RULES_MAX} rules are allowed"
        raise InvalidSchedule("schedule", f"{len(rules)} rules", wanted)
    if len(rules) > 1:
        rules.sort(key=lambda rule: RULE_ORDER.index(type(rule)))
    return tuple(rules), timezone


def write_rules(rules: tuple[Rule, ...]) -> dict[str, object]:
    """Return the canonical form of the rules."""
    written: dict[str, list[object]] = {}
    for rule in rules:
        key, value = _write_rule(rule)
        written.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in written.items()}


def _write_rule(rule: Rule) -> tuple[str, object]:
    match rule:
        case Cron():
            return "cron", rule.text
        case Rrule():
            return "rrule", rule.text
        case Every():
            anchor = moments.to_rfc3339(rule.anchor)
            return "every", {"interval": durations.to_iso(rule.interval), "anchor": anchor}
        case EveryAfterEnd():
            anchor = moments.to_rfc3339(rule.anchor)
            return "fixed_delay", {"delay": durations.to_iso(rule.delay), "anchor": anchor}
        case Once():
            return "at", moments.to_rfc3339(rule.at)
        case Immediate():
            return "immediate", True
        case OnEvent():
            return "event", write_trigger(rule.trigger)
        case OnDemand():
            return "on_demand", True
        case _:
            assert_never(rule)


def _to_list(value: Item | list[Item]) -> list[Item]:
    return value if isinstance(value, list) else [value]


def _with_paths(values: list[Item], key: str) -> Iterator[tuple[Item, str]]:
    """Yield each value of a field with its path; a single value has the path of the field."""
    if len(values) == 1:
        yield values[0], key
    else:
        yield from ((item, f"{key}[{place}]") for place, item in enumerate(values))


def _texts(value: str | list[str] | None, key: str) -> Iterator[tuple[str, str]]:
    for text, path in () if value is None else _with_paths(_to_list(value), key):
        if not text.strip():
            raise InvalidSchedule(path, text, f"expected {RULE_TEXT_ALLOWED}")
        yield text, path


def _find_timezone(document: ScheduleDocument) -> str:
    names = {} if document.timezone is None else {"timezone": document.timezone}
    for text, path in _texts(document.cron, "cron"):
        # `@every` and `@at` are instants and carry no zone.
        inside = None if _is_alias(text) else cron.parse_cron(text).timezone
        if inside is not None:
            names[path] = inside
    for text, path in _texts(document.rrule, "rrule"):
        inside = rrule.read_timezone(text)
        if inside is not None:
            names[path] = inside
    if len(set(names.values())) > 1:
        both = " and ".join(f"{name} in {path}" for path, name in names.items())
        raise InvalidSchedule("timezone", both, "a schedule must have a single time zone")
    timezone = next(iter(names.values()), "UTC")
    zones.get_zone(timezone)
    return timezone


def _is_alias(text: str) -> bool:
    return text.split(maxsplit=1)[0].lower() in {"@every", "@at"}


def _build_crons(document: ScheduleDocument, origin: ScheduleContext) -> Iterator[Rule]:
    day_match = document.day_match or DayMatch.ANY
    for text, path in _texts(document.cron, "cron"):
        if _is_alias(text):
            yield _build_alias(text, path, origin)
        else:
            # Parsed twice: the second time without its zone, which is now the schedule's zone.
            bare = cron.parse_cron(text, seed=origin.seed, day_match=day_match).text
            yield cron.parse_cron(bare, seed=origin.seed, day_match=day_match)


def _build_alias(text: str, path: str, origin: ScheduleContext) -> Rule:
    name, *rest = text.split()
    if len(rest) != 1:
        wanted = EVERY_ALLOWED if name.lower() == "@every" else AT_ALLOWED
        raise InvalidSchedule(path, text, f"expected {wanted}")
    if name.lower() == "@at":
        return _build_once(rest[0], path)
    length, slash, phase = rest[0].partition("/")
    interval = durations.parse(length, field=path, minimum=INTERVAL_MIN, error=InvalidSchedule)
    if not slash:
        return Every(interval=interval, anchor=origin.find_anchor(path))
    offset = durations.parse(phase, field=path, error=InvalidSchedule)
    if offset >= interval:
        wanted = "the phase after the slash must be shorter than the interval"
        raise InvalidSchedule(path, text, wanted)
    return Every(interval=interval, anchor=EPOCH + offset)


def _build_rrules(
    document: ScheduleDocument, origin: ScheduleContext, zone: ZoneInfo
) -> Iterator[Rule]:
    start = origin.start or origin.now
    midnight = None
    if start is not None:
        # Midnight, so that FREQ=DAILY;BYHOUR=9 means 9:00 sharp, whenever the job was created.
        midnight = datetime.combine(start.astimezone(zone).date(), time())
    for text, _ in _texts(document.rrule, "rrule"):
        yield rrule.parse_rrule(text, zone=zone, start=midnight)


def _build_every(item: str | EveryDocument, path: str, origin: ScheduleContext) -> Every:
    part = EveryDocument(interval=item) if isinstance(item, str) else item
    interval = durations.parse(
        part.interval, field=f"{path}.interval", minimum=INTERVAL_MIN, error=origin.error
    )
    return Every(interval=interval, anchor=_find_anchor(part.anchor, path, origin))


def _build_once(item: str, path: str) -> Once:
    return Once(at=moments.parse(item, field=path, error=InvalidSchedule))


def _build_single(document: ScheduleDocument, key: str, origin: ScheduleContext) -> Rule:
    if document.fixed_delay is not None:
        return _build_fixed_delay(document.fixed_delay, key, origin)
    if document.after is not None:
        delay = durations.parse(document.after, field=key, minimum=timedelta(0), error=origin.error)
        if origin.now is None:
            wanted = "a saved schedule has `at` with the instant instead of `after`"
            raise origin.error(key, document.after, wanted)
        return Once(at=origin.now + delay)
    if document.event is not None:
        if origin.is_stored:
            return OnEvent(trigger=build_stored_trigger(document.event, key))
        return OnEvent(trigger=build_trigger(document.event, key, origin.error))
    if not getattr(document, key):
        raise origin.error(key, False, "must be true; use another rule to replace it")
    return Immediate() if key == "immediate" else OnDemand()


def _build_fixed_delay(
    item: str | FixedDelayDocument, path: str, origin: ScheduleContext
) -> EveryAfterEnd:
    part = FixedDelayDocument(delay=item) if isinstance(item, str) else item
    delay = durations.parse(
        part.delay, field=f"{path}.delay", minimum=INTERVAL_MIN, error=origin.error
    )
    return EveryAfterEnd(delay=delay, anchor=_find_anchor(part.anchor, path, origin))


def _find_anchor(anchor: str | None, path: str, origin: ScheduleContext) -> datetime:
    if anchor is None:
        return origin.find_anchor(f"{path}.anchor")
    return moments.parse(anchor, field=f"{path}.anchor", error=origin.error)
