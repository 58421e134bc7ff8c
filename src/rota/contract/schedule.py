"""Reads and writes schedules.

`read_schedule` reads a schedule from input: it resolves aliases and defaults that depend on the
time of creation, and rejects a schedule that never fires. `read_saved_schedule` reads the canonical
form just as strictly. `read_stored_schedule` reads what this release or a newer one stored; a
schedule that has ended still loads. `write_schedule` writes the canonical form with every default
written out, so that a release with other defaults does not change stored schedules. The fields are
in schedule_fields.py, the rules in schedule_rules.py; docs/reference/schedules.md documents both.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import msgspec

from rota.contract.documents import describe_type, read_input, read_stored
from rota.contract.schedule_fields import (
    PACE_ALLOWED,
    RULE_FIELDS,
    JitterDocument,
    MisfireDocument,
    ScheduleDocument,
    WindowDocument,
)
from rota.contract.schedule_rules import ScheduleContext, build_rules, find_rules, write_rules
from rota.contract.times import DAY, SECOND
from rota.core.errors import InvalidInput, InvalidSchedule, NewerDocument
from rota.core.time import durations, moments
from rota.core.time.cron import Cron, DayMatch
from rota.core.time.jitter import JITTER_MAX, TickJitter
from rota.core.time.policies import (
    START_DEADLINE_MIN,
    CatchUpPace,
    MisfirePolicy,
    OnBlackout,
    Window,
)
from rota.core.time.schedule import DEFAULT_MISFIRE, UNBOUNDED_WINDOW, Schedule, check_schedule
from rota.core.time.tick import DstGap, DstOverlap

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
