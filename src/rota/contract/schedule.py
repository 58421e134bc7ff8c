"""Reads and writes schedules.

`read_schedule` reads a schedule from input: it resolves aliases and defaults that depend on the
time of creation, and rejects a schedule that never fires. `read_saved_schedule` reads the canonical
form just as strictly. `read_stored_schedule` reads what this release or a newer one stored; a
schedule that has ended still loads. `write_schedule` writes the canonical form with every default
written out, so that a release with other defaults does not change stored schedules. The fields are
in schedule_fields.py; docs/reference/schedules.md documents them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import Final, TypeVar, assert_never
from zoneinfo import ZoneInfo

import msgspec
from msgspec import to_builtins

from rota.contract.documents import describe_type, read_input, read_stored
from rota.contract.schedule_fields import (
    COMBINABLE_RULES,
    PACE_ALLOWED,
    RULE_FIELDS,
    RULE_TEXT_ALLOWED,
    RULES_MAX,
    SINGLE_RULES,
    EveryDocument,
    FixedDelayDocument,
    JitterDocument,
    MisfireDocument,
    ScheduleDocument,
    WindowDocument,
)
from rota.contract.times import DAY, SECOND
from rota.contract.trigger import build_stored_trigger, build_trigger, write_trigger
from rota.core.errors import InvalidInput, InvalidSchedule, NewerDocument
from rota.core.time import cron, durations, moments, rrule, zones
from rota.core.time.cron import Cron, DayMatch
from rota.core.time.interval import EPOCH, INTERVAL_MIN, Every, EveryAfterEnd
from rota.core.time.jitter import JITTER_MAX, TickJitter
from rota.core.time.policies import (
    START_DEADLINE_MIN,
    CatchUpPace,
    MisfirePolicy,
    OnBlackout,
    Window,
)
from rota.core.time.rrule import Rrule
from rota.core.time.schedule import (
    DEFAULT_MISFIRE,
    UNBOUNDED_WINDOW,
    Immediate,
    Once,
    OnDemand,
    OnEvent,
    Rule,
    Schedule,
    check_schedule,
)
from rota.core.time.tick import DstGap, DstOverlap

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


PACE_PATTERN: Final = re.compile(r"(\d{1,4})\s*/\s*(.+)", re.ASCII)
PACE_UNITS: Final = {"s": SECOND, "min": timedelta(minutes=1), "h": timedelta(hours=1)}
SCHEDULE_PATH: Final = "schedule"
RULE_WANTED: Final = f"expected one of {', '.join(RULE_FIELDS)}"


def read_schedule(value: object, *, now: datetime, seed: str = "") -> Schedule:
    """Read a schedule from input, to be saved at `now`; reject it if it never fires."""
    document = _read_document(value)
    return check_schedule(_build(document, now, seed, InvalidSchedule), now)


def read_saved_schedule(value: object, *, seed: str = "") -> Schedule:
    """Read a schedule in its canonical form, strictly."""
    document = _read_document(value)
    return _build(document, None, seed, InvalidSchedule)


def read_stored_schedule(value: object, *, seed: str = "") -> Schedule:
    """Read a schedule from the database. Unknown fields are ignored and kept. Raises
    `NewerDocument` if the schedule cannot be evaluated without them.
    """
    if not isinstance(value, Mapping):
        raise InvalidSchedule(SCHEDULE_PATH, value, f"expected {describe_type(ScheduleDocument)}")
    document, unread = read_stored(ScheduleDocument, value)
    if not find_rules(document):
        error = NewerDocument if unread else InvalidSchedule
        raise error(SCHEDULE_PATH, dict(value), RULE_WANTED)
    schedule = _build(document, None, seed, NewerDocument)
    return replace(schedule, unread=unread) if unread else schedule


def write_schedule(schedule: Schedule) -> dict[str, object]:
    """Return the canonical form as JSON values."""
    jitter, window, misfire = schedule.jitter, schedule.window, schedule.misfire
    first = schedule.rules[0]
    day_match = first.day_match if isinstance(first, Cron) else DayMatch.ANY
    return {
        **write_rules(schedule.rules),
        "timezone": schedule.timezone,
        "day_match": day_match.value,
        "dst": {"gap": schedule.gap.value, "overlap": schedule.overlap.value},
        "calendars": list(schedule.calendars),
        "on_blackout": schedule.on_blackout.value,
        "jitter": jitter and {"window": durations.to_iso(jitter.window), "stable": jitter.stable},
        "window": {
            "start": window.start and moments.to_rfc3339(window.start),
            "end": window.end and moments.to_rfc3339(window.end),
            "max_runs": window.max_runs,
        },
        "misfire": {
            "on_outage": misfire.on_outage.value,
            "on_resume": misfire.on_resume.value,
            "on_edit": misfire.on_edit.value,
            "start_deadline": misfire.start_deadline and durations.to_iso(misfire.start_deadline),
            "max_catchup": misfire.max_catchup,
            "pace": misfire.pace and _write_pace(misfire.pace),
            "late_after": durations.to_iso(misfire.late_after),
        },
        **schedule.unread,
    }


def _read_document(value: object) -> ScheduleDocument:
    """Read the fields; a program may pass datetimes and timedeltas instead of strings."""
    try:
        return read_input(ScheduleDocument, value, error=InvalidSchedule, name=SCHEDULE_PATH)
    except InvalidSchedule:
        texts = None
        with suppress(TypeError, ValueError):
            texts = msgspec.to_builtins(value)
        if texts is None or texts == value:
            raise
    return read_input(ScheduleDocument, texts, error=InvalidSchedule, name=SCHEDULE_PATH)


def _build(
    document: ScheduleDocument, now: datetime | None, seed: str, error: type[InvalidInput]
) -> Schedule:
    """Build a schedule from a document; check what the types of its fields cannot express."""
    keys = find_rules(document)
    if not keys:
        raise InvalidSchedule(SCHEDULE_PATH, msgspec.to_builtins(document), RULE_WANTED)
    window = UNBOUNDED_WINDOW if document.window is None else _build_window(document.window, error)
    origin = ScheduleContext(now, window.start, seed, error)
    rules, timezone = build_rules(document, keys, origin)
    dst = document.dst
    schedule = Schedule(
        rules=rules,
        timezone=timezone,
        gap=(dst and dst.gap) or DstGap.RUN_AFTER,
        overlap=(dst and dst.overlap) or DstOverlap.FIRST,
        window=window,
        jitter=None if document.jitter is None else _build_jitter(document.jitter, error),
        calendars=_build_calendars(document.calendars),
        on_blackout=document.on_blackout or OnBlackout.SKIP,
        misfire=DEFAULT_MISFIRE
        if document.misfire is None
        else _build_misfire(document.misfire, error),
        seed=seed,
    )
    if not schedule.has_ticks:
        for key in ("jitter", "calendars"):
            if value := getattr(document, key):
                wanted = f"{key} needs a rule with times, such as cron or every"
                raise error(key, msgspec.to_builtins(value), wanted)
    return schedule


def _build_window(document: WindowDocument, error: type[InvalidInput]) -> Window:
    start, end = (
        None if value is None else moments.parse(value, field=f"window.{key}", error=error)
        for key, value in (("start", document.start), ("end", document.end))
    )
    if start is not None and end is not None and end <= start:
        wanted = f"must be after window.start, {moments.to_rfc3339(start)}"
        raise error("window.end", document.end, wanted)
    return Window(start=start, end=end, max_runs=document.max_runs)


def _build_jitter(document: str | JitterDocument, error: type[InvalidInput]) -> TickJitter:
    part = JitterDocument(window=document) if isinstance(document, str) else document
    window = durations.parse(
        part.window, field="jitter.window", minimum=SECOND, maximum=JITTER_MAX, error=error
    )
    return TickJitter(window=window, stable=bool(part.stable))


def _build_calendars(names: str | list[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))


def _build_misfire(document: MisfireDocument, error: type[InvalidInput]) -> MisfirePolicy:
    deadline, late_after = document.start_deadline, document.late_after
    return MisfirePolicy(
        # These apply to late ticks only; a tick that is on time always runs.
        on_outage=document.on_outage or DEFAULT_MISFIRE.on_outage,
        on_resume=document.on_resume or DEFAULT_MISFIRE.on_resume,
        on_edit=document.on_edit or DEFAULT_MISFIRE.on_edit,
        start_deadline=None
        if deadline is None
        else durations.parse(
            deadline, field="misfire.start_deadline", minimum=START_DEADLINE_MIN, error=error
        ),
        max_catchup=document.max_catchup or DEFAULT_MISFIRE.max_catchup,
        pace=None if document.pace is None else _parse_pace(document.pace, error),
        late_after=DEFAULT_MISFIRE.late_after
        if late_after is None
        else durations.parse(
            late_after, field="misfire.late_after", minimum=SECOND, maximum=DAY, error=error
        ),
    )


def _parse_pace(text: str, error: type[InvalidInput]) -> CatchUpPace:
    found = PACE_PATTERN.fullmatch(text)
    if found is None or int(found[1]) < 1:
        raise error("misfire.pace", text, f"expected {PACE_ALLOWED}")
    per = PACE_UNITS.get(found[2]) or durations.parse(
        found[2], field="misfire.pace", minimum=SECOND, maximum=DAY, error=error
    )
    return CatchUpPace(count=int(found[1]), per=per)


def _write_pace(pace: CatchUpPace) -> str:
    names = {per: name for name, per in PACE_UNITS.items()}
    return f"{pace.count}/{names.get(pace.per) or durations.to_iso(pace.per)}"
