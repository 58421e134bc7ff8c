"""A schedule over months in a moment, with outages and clock changes. Room: sdk/testing.

The ticks and what becomes of them are core/time/simulation.py, which uses the scheduler's own code;
here is what people write, read and checked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Any, Final
from zoneinfo import ZoneInfo

from rota.contract.calendar import read_calendar
from rota.contract.schedule import read_saved_schedule, read_schedule, write_schedule
from rota.core.errors import InvalidInput
from rota.core.submission import within
from rota.core.time import durations, moments, sentence, simulation
from rota.core.time.calendars import Calendar
from rota.core.time.clock_changes import ClockChange
from rota.core.time.schedule import Schedule
from rota.core.time.simulation import NO_TIME, Event, Happened, Outage

MOST: Final = 25_000
WANTED: Final = "a date or time such as 2026-03-29, 2026-03-29T02:30 or 2026-03-29T00:30:00Z"

When = datetime | date | str
Down = tuple[When, When] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What a schedule did: `events` in the order in which they were decided."""

    sentence: str
    timezone: str
    schedule: dict[str, object]
    start: datetime
    end: datetime
    events: tuple[Event, ...]
    changes: tuple[ClockChange, ...]

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    @property
    def runs(self) -> tuple[Event, ...]:
        """The ticks that became runs, on time or caught up."""
        return tuple(event for event in self.events if event.runs)

    @property
    def fired(self) -> tuple[Event, ...]:
        return self._that(Happened.FIRED)

    @property
    def caught_up(self) -> tuple[Event, ...]:
        return self._that(Happened.CAUGHT_UP)

    @property
    def missed(self) -> tuple[Event, ...]:
        return self._that(Happened.MISSED)

    @property
    def coalesced(self) -> tuple[Event, ...]:
        return self._that(Happened.COALESCED)

    @property
    def skipped(self) -> tuple[Event, ...]:
        return self._that(Happened.SKIPPED)

    def _that(self, happened: Happened) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.happened is happened)


def simulate(
    schedule: object,
    *,
    start: When,
    end: When,
    outages: Sequence[Down] = (),
    takes: timedelta | str = NO_TIME,
    calendars: Mapping[str, Any] | None = None,
    **options: object,
) -> Simulation:
    """Play a schedule from `start` until before `end`.

    `schedule` is a cron expression, the plain form of docs/reference/schedules.md, or a job that
    has one. `options` are fields of the plain form (`timezone=…`, `misfire={…}`);
    `misfire="all"` is short for `{"on_outage": "all"}`. A time without an offset is one in the
    schedule's zone. An outage is a pair of times, or the text `from/until`: nobody is there to
    fire. `takes` is how long each run lasts, for a fixed delay.
    """
    said = _said(schedule, options)
    zone = _zone(said)
    since, until = instant(start, zone, "start"), instant(end, zone, "end")
    read = read_schedule(said, now=since, seed="simulation")
    known = _calendars(calendars or {})
    downs = [_outage(each, zone, place) for place, each in enumerate(outages)]
    length = takes if isinstance(takes, timedelta) else durations.parse(takes, field="takes")
    played = simulation.simulate(
        read, start=since, end=until, outages=downs, calendars=known, takes=length
    )
    events = tuple(islice(played, MOST + 1))
    if len(events) > MOST:
        raise InvalidInput("end", str(end), f"a shorter time: these are more than {MOST:,} ticks")
    return Simulation(
        sentence=sentence.sentence(read),
        timezone=read.timezone,
        schedule=write_schedule(read),
        start=since,
        end=until,
        events=events,
        changes=tuple(simulation.changes_of(read, start=since, end=until)),
    )


def _said(schedule: object, options: Mapping[str, object]) -> dict[str, object]:
    # A job, without importing what jobs are made of: `rota simulate` stays quick.
    given = getattr(getattr(schedule, "declared", None), "schedule", schedule)
    if isinstance(given, Schedule):
        given = write_schedule(given)
    if isinstance(given, str):
        given = {"cron": given}
    if not isinstance(given, Mapping):
        wanted = "a cron expression, or an object such as {'every': '10m'}"
        raise InvalidInput("schedule", given, wanted)
    more = {key: value for key, value in options.items() if value is not None}
    if isinstance(more.get("misfire"), str):
        more["misfire"] = {"on_outage": more["misfire"]}
    return {**given, **more}


def _zone(said: Mapping[str, object]) -> ZoneInfo:
    """The zone of a schedule, before it is read: its times may be meant in it."""
    probe = {"cron": "* * * * *"}
    # A cron expression may name its zone itself.
    for key in ("cron", "timezone"):
        if isinstance(said.get(key), str):
            probe[key] = str(said[key])
    return read_saved_schedule(probe).zone


def instant(value: When, zone: ZoneInfo, field: str) -> datetime:
    """An instant that somebody wrote; without an offset it is a time in this zone."""
    moment = _read(value)
    if moment is None:
        raise InvalidInput(field, value, WANTED)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return moments.parse(moment, field=field)


def _read(value: When) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    try:
        return datetime.fromisoformat(value.strip())
    except (AttributeError, ValueError):
        return None  # whatever else a program may give


def _outage(value: Down, zone: ZoneInfo, place: int) -> Outage:
    field = f"outages[{place}]"
    parts: Sequence[When] = value.split("/") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or len(parts) != 2:
        wanted = "its beginning and its end, as 2026-10-25T00:00/2026-10-25T06:00"
        raise InvalidInput(field, value, wanted)
    with within(field):
        start, end = instant(parts[0], zone, "from"), instant(parts[1], zone, "until")
        return Outage(start=start, end=end)


def _calendars(given: Mapping[str, Any]) -> dict[str, Calendar]:
    """Calendars by name, in the form that the API takes."""
    read = {}
    for name, each in given.items():
        with within(f"calendars.{name}"):
            named = (
                each
                if isinstance(each, Calendar)
                else read_calendar({"name": name, **each} if isinstance(each, Mapping) else each)
            )
        read[name] = named
    return read
