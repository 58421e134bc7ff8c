"""`rota simulate`: what a schedule does over months, with outages and clock changes. Room: cli.

No server is asked: the scheduler's own code plays it (core/time/simulation.py).
"""

import json as encoding
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from cyclopts import Parameter

from rota.cli.output import say
from rota.core.errors import InvalidInput
from rota.core.time import durations, moments, zones
from rota.core.time.clock_changes import ClockChange
from rota.core.time.simulation import Event, Happened
from rota.sdk.testing.simulating import Simulation
from rota.sdk.testing.simulating import simulate as play

SPELLED: Final = {
    Happened.FIRED: "fires",
    Happened.CAUGHT_UP: "caught up",
    Happened.MISSED: "missed",
    Happened.COALESCED: "coalesced",
    Happened.SKIPPED: "skipped",
}
REASONS: Final = {
    "outage": "nobody was there to fire it",
    "start_deadline": "its start deadline had passed",
    "blackout": "blacked out",
    "dst_gap": "there is no such time on that day",
}
ELIDED: Final = 3


def simulate(  # noqa: PLR0913 — the options of the command
    schedule: str,
    *,
    from_: Annotated[str, Parameter(name="--from")],
    to: str,
    tz: str | None = None,
    outage: Annotated[list[str] | None, Parameter(negative=())] = None,
    misfire: str | None = None,
    takes: str = "0s",
    every: Annotated[bool, Parameter(name="--all", negative=())] = False,
    json: bool = False,
) -> int:
    """Show what a schedule does from one day to another: what fires, what is missed, and why.

    Parameters
    ----------
    schedule
        A cron expression such as "0 2 * * *", or a schedule as JSON.
    from_
        Where to begin, as 2026-03-01 or 2026-03-01T06:00; in the schedule's zone unless it has an
        offset.
    to
        Where to end; this moment is not included.
    tz
        Time zone of the schedule, such as Europe/Berlin (default: UTC).
    outage
        A time in which nothing fires, as 2026-10-25T00:00/2026-10-25T06:00; repeat it for several.
    misfire
        What happens after an outage: once, all or skip (default: once).
    takes
        How long each run lasts, for a schedule that counts from the end of the last one.
    every
        Show every tick; without it, long rows of ordinary ones are cut short.
    json
        Print one JSON object.
    """
    seen = play(
        _read(schedule),
        start=from_,
        end=to,
        outages=outage or (),
        takes=takes,
        timezone=tz,
        misfire=misfire,
    )
    say(encoding.dumps(as_json(seen)) if json else "\n".join(as_text(seen, every=every)))
    return 0


def _read(text: str) -> object:
    """A schedule as JSON begins with a brace; anything else is cron."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return encoding.loads(text)
    except ValueError as error:
        raise InvalidInput("schedule", text, f"JSON, or a cron expression ({error})") from None


def as_json(seen: Simulation) -> dict[str, Any]:
    return {
        "sentence": seen.sentence,
        "timezone": seen.timezone,
        "from": moments.rfc3339(seen.start),
        "to": moments.rfc3339(seen.end),
        "schedule": seen.schedule,
        "events": [_event(each) for each in seen],
        "clock_changes": [
            {"at": moments.rfc3339(each.at), "by": _signed(each.by)} for each in seen.changes
        ],
        "totals": totals(seen),
    }


def _event(event: Event) -> dict[str, Any]:
    said: dict[str, Any] = {
        "outcome": event.happened.value,
        "at": moments.rfc3339(event.at),
        "local": event.local.isoformat(),
        "count": event.count,
    }
    if event.starts_at is not None:
        said["starts_at"] = moments.rfc3339(event.starts_at)
    if event.first != event.at:
        said["first"] = moments.rfc3339(event.first)
    if event.at_least:
        said["at_least"] = True
    if event.into is not None:
        said["into"] = moments.rfc3339(event.into)
    if event.reason is not None:
        said["reason"] = event.reason
    if event.notes:
        said["notes"] = list(event.notes)
    return said


def totals(seen: Simulation) -> dict[str, int]:
    found = dict.fromkeys((each.value for each in Happened), 0)
    for event in seen:
        found[event.happened.value] += event.count
    return found


def as_text(seen: Simulation, *, every: bool) -> Iterator[str]:
    """For people: a line for each tick, and one where the clocks are changed."""
    zone = zones.zone(seen.timezone)
    yield seen.sentence
    yield ""
    lines = sorted(_lines(seen, zone), key=lambda line: line[0])
    ordinary: list[str] = []
    for _, text, is_ordinary in lines:
        if is_ordinary and not every:
            ordinary.append(text)
            continue
        yield from _cut(ordinary)
        ordinary = []
        yield text
    yield from _cut(ordinary)
    yield ""
    yield ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in totals(seen).items())


def _lines(seen: Simulation, zone: ZoneInfo) -> Iterator[tuple[datetime, str, bool]]:
    for change in seen.changes:
        yield change.at, _changed(change), False
    for event in seen:
        is_ordinary = event.happened is Happened.FIRED and not event.notes
        yield event.starts_at or event.at, _told(event, zone), is_ordinary


def _cut(texts: list[str]) -> Iterator[str]:
    """The first and the last of a long row of ordinary ticks."""
    if len(texts) <= ELIDED:
        yield from texts
        return
    yield texts[0]
    yield f"  … {len(texts) - 2} more on time"
    yield texts[-1]


def _told(event: Event, zone: ZoneInfo) -> str:
    local = f"{event.local:%Y-%m-%d %H:%M:%S}".removesuffix(":00")
    word = SPELLED[event.happened]
    said = list(event.notes)
    if (event.count > 1 or event.at_least) and event.reason != "dst_gap":
        often = f"{'at least ' if event.at_least else ''}{event.count}"
        said.insert(0, f"{often} from {_shown(event.first, zone)} on")
    if event.into is not None:
        said.append(f"the run of {_shown(event.into, zone)} stands for it")
    elif event.reason is not None:
        said.insert(0, REASONS.get(event.reason, event.reason))
    if event.starts_at is not None and event.starts_at != event.at:
        said.append(f"at {_shown(event.starts_at, zone)}")
    return f"{local:<19}  {word:<9}  {'; '.join(said)}".rstrip()


def _changed(change: ClockChange) -> str:
    way = "forward" if change.by > timedelta(0) else "back"
    length = durations.words(abs(change.by))
    before, after = zones.clock(change.before), zones.clock(change.after)
    date = f"{change.after:%Y-%m-%d}"
    return f"{date}           --         clocks go {way} by {length}: {before} becomes {after}"


def _shown(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S}".removesuffix(":00")


def _signed(length: timedelta) -> str:
    return durations.iso(length) if length >= timedelta(0) else f"-{durations.iso(-length)}"
