"""A schedule as people write it, as JSON, and back.

Room: core/time. `parse` reads what somebody wants to save: aliases, defaults that depend on the
time of creation, and the refusal of what would never fire. `from_plain` reads the canonical form,
as strictly; `read_stored` reads what was stored, by this version or a newer one, for ever: a
schedule that has ended must still load. `to_plain` writes the canonical form with every
default spelled out, so that a version with other defaults does not change a cadence silently.
The rules themselves are rule_plain.py; docs/reference/schedules.md shows all of it.
"""

import re
from dataclasses import replace
from datetime import datetime, timedelta

from rota.core.documents import Unread
from rota.core.errors import InvalidSchedule
from rota.core.time import durations, moments
from rota.core.time.cron import Cron, DayMatch
from rota.core.time.jitter import LONGEST as LONGEST_JITTER
from rota.core.time.jitter import Jitter
from rota.core.time.policies import (
    MOST_CATCHUP,
    SHORTEST_DEADLINE,
    Misfire,
    OnBlackout,
    Pace,
    Window,
)
from rota.core.time.reading import Fields, fields
from rota.core.time.rule_plain import RULES, Origin, read_rules, write_rules
from rota.core.time.schedule import USUAL, Schedule, check
from rota.core.time.tick import DstGap, DstOverlap

OPTIONS = (
    "timezone",
    "day_match",
    "dst",
    "calendars",
    "on_blackout",
    "jitter",
    "window",
    "misfire",
)
KNOWN = (*RULES, *OPTIONS)
WINDOW = ("start", "end", "max_runs")
MISFIRE = (
    *("on_outage", "on_resume", "on_edit", "start_deadline", "max_catchup", "pace"),
    "late_after",
)
CALENDARS = 16
MOST_RUNS = 1_000_000_000
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
PACE = re.compile(r"(\d{1,4})\s*/\s*(.+)", re.ASCII)
PACE_UNITS = {"s": SECOND, "min": timedelta(minutes=1), "h": timedelta(hours=1)}


def parse(value: object, *, now: datetime, seed: str = "") -> Schedule:
    """Read a schedule that is to be saved at `now`; one that would never fire is refused."""
    return check(_read(fields(value, "", KNOWN), now=now, seed=seed), now)


def from_plain(value: object, *, seed: str = "") -> Schedule:
    """Read a schedule in its canonical form."""
    return _read(fields(value, "", KNOWN), now=None, seed=seed)


def read_stored(value: object, *, seed: str = "") -> Schedule:
    """Read a schedule from the database. Unknown fields are ignored and kept; `NewerDocument` if it
    cannot be evaluated without knowing them.
    """
    unread = Unread()
    given = fields(value, "", KNOWN, unread)
    schedule = _read(given, now=None, seed=seed)
    return replace(schedule, unread=unread.within(given.values)) if unread.fields else schedule


def to_plain(schedule: Schedule) -> dict[str, object]:
    """The canonical form, of types that JSON has."""
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
        "jitter": jitter and {"window": durations.iso(jitter.window), "stable": jitter.stable},
        "window": {
            "start": window.start and moments.rfc3339(window.start),
            "end": window.end and moments.rfc3339(window.end),
            "max_runs": window.max_runs,
        },
        "misfire": {
            "on_outage": misfire.on_outage.value,
            "on_resume": misfire.on_resume.value,
            "on_edit": misfire.on_edit.value,
            "start_deadline": misfire.start_deadline and durations.iso(misfire.start_deadline),
            "max_catchup": misfire.max_catchup,
            "pace": misfire.pace and _write_pace(misfire.pace),
            "late_after": durations.iso(misfire.late_after),
        },
        **schedule.unread,
    }


def _read(given: Fields, *, now: datetime | None, seed: str) -> Schedule:
    window = _window(given)
    rules, timezone = read_rules(given, Origin(now=now, start=window.start, seed=seed))
    dst = given.part(given.get("dst") or {}, "dst", ("gap", "overlap"))
    schedule = Schedule(
        rules=rules,
        timezone=timezone,
        gap=dst.choice("gap", DstGap.RUN_AFTER),
        overlap=dst.choice("overlap", DstOverlap.FIRST),
        window=window,
        jitter=_jitter(given),
        calendars=_calendars(given),
        on_blackout=given.choice("on_blackout", OnBlackout.SKIP),
        misfire=_misfire(given),
        seed=seed,
    )
    if not schedule.has_ticks:
        for key in ("jitter", "calendars"):
            if given.get(key):
                raise given.refusal(key, "a rule with times, such as cron or every, to apply it to")
    return schedule


def _window(given: Fields) -> Window:
    part = given.part(given.get("window") or {}, "window", WINDOW)
    start, end = part.instant("start"), part.instant("end")
    if start is not None and end is not None and end <= start:
        raise part.refusal("end", f"an end after the start, {moments.rfc3339(start)}")
    return Window(start=start, end=end, max_runs=part.whole("max_runs", low=1, high=MOST_RUNS))


def _jitter(given: Fields) -> Jitter | None:
    value = given.get("jitter")
    if value is None:
        return None
    known = ("window", "stable")
    part = given.part({"window": value} if isinstance(value, str) else value, "jitter", known)
    window = part.length("window", shortest=SECOND, longest=LONGEST_JITTER)
    if window is None:
        raise part.refusal("window", durations.WANTED)
    return Jitter(window=window, stable=part.flag("stable", default=False))


def _calendars(given: Fields) -> tuple[str, ...]:
    if given.get("calendars") == []:
        return ()
    names = given.items("calendars", limit=CALENDARS)
    for name in names:
        if not isinstance(name, str) or not name:
            raise InvalidSchedule("calendars", name, "names of calendars")
    return tuple(dict.fromkeys(str(name) for name in names))


def _misfire(given: Fields) -> Misfire:
    part = given.part(given.get("misfire") or {}, "misfire", MISFIRE)
    most = part.whole("max_catchup", low=1, high=MOST_CATCHUP)
    return Misfire(
        # They say what becomes of late ticks; those that are on time run, whatever they say.
        on_outage=part.choice_or("on_outage", USUAL.on_outage),
        on_resume=part.choice_or("on_resume", USUAL.on_resume),
        on_edit=part.choice_or("on_edit", USUAL.on_edit),
        start_deadline=part.length("start_deadline", shortest=SHORTEST_DEADLINE),
        max_catchup=USUAL.max_catchup if most is None else most,
        pace=_pace(part),
        late_after=part.length("late_after", shortest=SECOND, longest=DAY) or USUAL.late_after,
    )


def _pace(part: Fields) -> Pace | None:
    value = part.get("pace")
    if value is None:
        return None
    found = PACE.fullmatch(value) if isinstance(value, str) else None
    if found is None or int(found[1]) < 1:
        raise part.refusal("pace", "runs per time such as 10/min, 1/s or 100/PT15M")
    per = PACE_UNITS.get(found[2]) or durations.parse(
        found[2], field="misfire.pace", shortest=SECOND, longest=DAY, error=part.error
    )
    return Pace(count=int(found[1]), per=per)


def _write_pace(pace: Pace) -> str:
    names = {per: name for name, per in PACE_UNITS.items()}
    return f"{pace.count}/{names.get(pace.per) or durations.iso(pace.per)}"
