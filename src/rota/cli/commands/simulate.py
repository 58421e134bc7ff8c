"""`rota simulate`: simulates a schedule over months, with outages and clock changes.

It needs no server and runs the scheduler's own code (core/time/simulation.py).
"""

import json as encoding
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from cyclopts import Parameter

from rota.cli.output import print_message
from rota.core.errors import InvalidInput
from rota.core.time import durations, moments, zones
from rota.core.time.clock_changes import ClockChange
from rota.core.time.simulation import SimulatedOutcome, SimulatedTick
from rota.sdk.testing.simulation import Simulation
from rota.sdk.testing.simulation import simulate as play

OUTCOME_WORDS: Final = {
    SimulatedOutcome.FIRED: "fires",
    SimulatedOutcome.CAUGHT_UP: "caught up",
    SimulatedOutcome.MISSED: "missed",
    SimulatedOutcome.COALESCED: "coalesced",
    SimulatedOutcome.SKIPPED: "skipped",
}
REASONS: Final = {
    "outage": "outage",
    "start_deadline": "start deadline passed",
    "blackout": "blackout window",
    "dst_gap": "this local time does not exist on that day",
}
ABBREVIATE_ABOVE: Final = 3


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
    """Simulate a schedule over a range: which ticks fire, which are missed, and why.

    Parameters
    ----------
    schedule
        A cron expression such as "0 2 * * *", or a schedule as JSON.
    from_
        Start, such as 2026-03-01 or 2026-03-01T06:00. Without an offset, it is in the schedule's
        time zone.
    to
        End, exclusive.
    tz
        Time zone of the schedule, such as Europe/Berlin. Default: UTC.
    outage
        Outage of the schedulers, such as 2026-10-25T00:00/2026-10-25T06:00 (repeatable).
        Default: none.
    misfire
        Catch-up after an outage: once, all or skip. Default: once.
    takes
        Duration of each run, for schedules that count from the end of the previous run. Default:
        0s.
    every
        Show every tick. Default: long series of ordinary ticks are abbreviated.
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
    print_message(
        encoding.dumps(build_json(seen)) if json else "\n".join(render_text(seen, every=every))
    )
    return 0


def _read(text: str) -> object:
    """Parse JSON if the text starts with a brace; return cron expressions unchanged."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return encoding.loads(text)
    except ValueError as error:
        raise InvalidInput(
            "schedule", text, f"expected a cron expression or JSON ({error})"
        ) from None


def build_json(simulation: Simulation) -> dict[str, Any]:
    return {
        "sentence": simulation.sentence,
        "timezone": simulation.timezone,
        "from": moments.to_rfc3339(simulation.start),
        "to": moments.to_rfc3339(simulation.end),
        "schedule": simulation.schedule,
        "events": [_event(each) for each in simulation],
        "clock_changes": [
            {"at": moments.to_rfc3339(each.at), "by": _signed(each.by)}
            for each in simulation.changes
        ],
        "totals": count_outcomes(simulation),
    }


def _event(event: SimulatedTick) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "outcome": event.outcome.value,
        "at": moments.to_rfc3339(event.at),
        "local": event.local.isoformat(),
        "count": event.count,
    }
    if event.starts_at is not None:
        plain["starts_at"] = moments.to_rfc3339(event.starts_at)
    if event.first != event.at:
        plain["first"] = moments.to_rfc3339(event.first)
    if event.at_least:
        plain["at_least"] = True
    if event.into is not None:
        plain["into"] = moments.to_rfc3339(event.into)
    if event.reason is not None:
        plain["reason"] = event.reason
    if event.notes:
        plain["notes"] = list(event.notes)
    return plain


def count_outcomes(simulation: Simulation) -> dict[str, int]:
    found = dict.fromkeys((each.value for each in SimulatedOutcome), 0)
    for event in simulation:
        found[event.outcome.value] += event.count
    return found


def render_text(simulation: Simulation, *, every: bool) -> Iterator[str]:
    """Render a line for each tick and each clock change, in the local time of the schedule."""
    zone = zones.get_zone(simulation.timezone)
    yield simulation.sentence
    yield f"Times are in {simulation.timezone}."
    yield ""
    lines = sorted(_lines(simulation, zone), key=lambda line: line[0])
    ordinary: list[str] = []
    for _, text, is_ordinary in lines:
        if is_ordinary and not every:
            ordinary.append(text)
            continue
        yield from _abbreviate(ordinary)
        ordinary = []
        yield text
    yield from _abbreviate(ordinary)
    yield ""
    yield ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in count_outcomes(simulation).items()
    )


def _lines(seen: Simulation, zone: ZoneInfo) -> Iterator[tuple[datetime, str, bool]]:
    for change in seen.changes:
        yield change.at, _change_line(change), False
    for event in seen:
        is_ordinary = event.outcome is SimulatedOutcome.FIRED and not event.notes
        yield event.starts_at or event.at, _event_line(event, zone), is_ordinary


def _abbreviate(texts: list[str]) -> Iterator[str]:
    """Abbreviate a long series of ordinary ticks to the first and the last."""
    if len(texts) <= ABBREVIATE_ABOVE:
        yield from texts
        return
    yield texts[0]
    yield f"  … {len(texts) - 2} more on time"
    yield texts[-1]


def _event_line(event: SimulatedTick, zone: ZoneInfo) -> str:
    local = f"{event.local:%Y-%m-%d %H:%M:%S}".removesuffix(":00")
    word = OUTCOME_WORDS[event.outcome]
    notes = list(event.notes)
    if (event.count > 1 or event.at_least) and event.reason != "dst_gap":
        count = f"{'at least ' if event.at_least else ''}{event.count}"
        notes.insert(0, f"{count} since {_local_text(event.first, zone)}")
    if event.into is not None:
        notes.append(f"covered by the run of {_local_text(event.into, zone)}")
    elif event.reason is not None:
        notes.insert(0, REASONS.get(event.reason, event.reason))
    if event.starts_at is not None and event.starts_at != event.at:
        notes.append(f"at {_local_text(event.starts_at, zone)}")
    return f"{local:<19}  {word:<9}  {'; '.join(notes)}".rstrip()


def _change_line(change: ClockChange) -> str:
    direction = "forward" if change.by > timedelta(0) else "back"
    length = durations.to_words(abs(change.by))
    before, after = zones.format_clock(change.before), zones.format_clock(change.after)
    date = f"{change.after:%Y-%m-%d}"
    return (
        f"{date}           --         clocks go {direction} by {length}: {before} becomes {after}"
    )


def _local_text(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S}".removesuffix(":00")


def _signed(length: timedelta) -> str:
    return durations.to_iso(length) if length >= timedelta(0) else f"-{durations.to_iso(-length)}"
