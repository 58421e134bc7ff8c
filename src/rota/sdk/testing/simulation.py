"""Simulates a schedule over months, with outages and clock changes.

core/time/simulation.py computes the ticks with the scheduler's own code; this module reads and
checks the arguments.
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
from rota.core.submissions import prefix_errors
from rota.core.time import description, durations, moments, simulation
from rota.core.time.calendars import Calendar
from rota.core.time.clock_changes import ClockChange
from rota.core.time.schedule import Schedule
from rota.core.time.simulation import ZERO_DURATION, Outage, SimulatedOutcome, SimulatedTick

SIMULATED_TICKS_MAX: Final = 25_000
INSTANT_EXPECTED: Final = (
    "expected a date or time such as 2026-03-29, 2026-03-29T02:30 or 2026-03-29T00:30:00Z"
)

InstantLike = datetime | date | str
OutageLike = tuple[InstantLike, InstantLike] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """The result of a simulation; `events` are in the order of the scheduler's decisions."""

    sentence: str
    timezone: str
    schedule: dict[str, object]
    start: datetime
    end: datetime
    events: tuple[SimulatedTick, ...]
    changes: tuple[ClockChange, ...]

    def __iter__(self) -> Iterator[SimulatedTick]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    @property
    def runs(self) -> tuple[SimulatedTick, ...]:
        """The ticks that became runs, on time or as catch-up."""
        return tuple(event for event in self.events if event.is_run)

    @property
    def fired(self) -> tuple[SimulatedTick, ...]:
        return self._select(SimulatedOutcome.FIRED)

    @property
    def caught_up(self) -> tuple[SimulatedTick, ...]:
        return self._select(SimulatedOutcome.CAUGHT_UP)

    @property
    def missed(self) -> tuple[SimulatedTick, ...]:
        return self._select(SimulatedOutcome.MISSED)

    @property
    def coalesced(self) -> tuple[SimulatedTick, ...]:
        return self._select(SimulatedOutcome.COALESCED)

    @property
    def skipped(self) -> tuple[SimulatedTick, ...]:
        return self._select(SimulatedOutcome.SKIPPED)

    def _select(self, happened: SimulatedOutcome) -> tuple[SimulatedTick, ...]:
        return tuple(event for event in self.events if event.outcome is happened)


def simulate(
    schedule: object,
    *,
    start: InstantLike,
    end: InstantLike,
    outages: Sequence[OutageLike] = (),
    takes: timedelta | str = ZERO_DURATION,
    calendars: Mapping[str, Any] | None = None,
    **options: object,
) -> Simulation:
    """Simulate a schedule from `start` (inclusive) to `end` (exclusive).

    `schedule` is a cron expression, an object as in docs/reference/schedules.md, or a job that has
    one. `options` are fields of that object (`timezone=…`, `misfire={…}`); `misfire="all"` is short
    for `{"on_outage": "all"}`. A time without an offset is in the schedule's time zone. In an
    outage no scheduler runs; it is a pair of times, or a string `from/until`. `takes` is the
    duration of each run, for a fixed delay.
    """
    plain = _plain_schedule(schedule, options)
    zone = _zone(plain)
    since, until = read_instant(start, zone, "start"), read_instant(end, zone, "end")
    checked = read_schedule(plain, now=since, seed="simulation")
    known = _calendars(calendars or {})
    downs = [_outage(outage, zone, index) for index, outage in enumerate(outages)]
    length = takes if isinstance(takes, timedelta) else durations.parse(takes, field="takes")
    simulated = simulation.simulate(
        checked, start=since, end=until, outages=downs, calendars=known, run_duration=length
    )
    events = tuple(islice(simulated, SIMULATED_TICKS_MAX + 1))
    if len(events) > SIMULATED_TICKS_MAX:
        wanted = (
            f"the simulation has more than {SIMULATED_TICKS_MAX:,} ticks; choose a shorter time"
        )
        raise InvalidInput("end", str(end), wanted)
    return Simulation(
        sentence=description.describe_schedule(checked),
        timezone=checked.timezone,
        schedule=write_schedule(checked),
        start=since,
        end=until,
        events=events,
        changes=tuple(simulation.find_relevant_clock_changes(checked, start=since, end=until)),
    )


def _plain_schedule(schedule: object, options: Mapping[str, object]) -> dict[str, object]:
    # Recognise a job by its attributes: importing `Job` would slow down `rota simulate`.
    plain = getattr(getattr(schedule, "declared", None), "schedule", schedule)
    if isinstance(plain, Schedule):
        plain = write_schedule(plain)
    if isinstance(plain, str):
        plain = {"cron": plain}
    if not isinstance(plain, Mapping):
        wanted = "expected a cron expression, or an object such as {'every': '10m'}"
        raise InvalidInput("schedule", plain, wanted)
    more = {key: value for key, value in options.items() if value is not None}
    if isinstance(more.get("misfire"), str):
        more["misfire"] = {"on_outage": more["misfire"]}
    return {**plain, **more}


def _zone(plain: Mapping[str, object]) -> ZoneInfo:
    """The zone of a schedule, needed to read times that have no offset."""
    probe = {"cron": "* * * * *"}
    # A cron expression may name its zone itself.
    for key in ("cron", "timezone"):
        if isinstance(plain.get(key), str):
            probe[key] = str(plain[key])
    return read_saved_schedule(probe).zone


def read_instant(value: InstantLike, zone: ZoneInfo, field: str) -> datetime:
    """Read an instant; without an offset it is a time in this zone."""
    moment = _read(value)
    if moment is None:
        raise InvalidInput(field, value, INSTANT_EXPECTED)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return moments.parse(moment, field=field)


def _read(value: InstantLike) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    try:
        return datetime.fromisoformat(value.strip())
    except (AttributeError, ValueError):
        return None


def _outage(value: OutageLike, zone: ZoneInfo, index: int) -> Outage:
    field = f"outages[{index}]"
    parts: Sequence[InstantLike] = value.split("/") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or len(parts) != 2:
        wanted = "expected start and end, such as 2026-10-25T00:00/2026-10-25T06:00"
        raise InvalidInput(field, value, wanted)
    with prefix_errors(field):
        start, end = read_instant(parts[0], zone, "from"), read_instant(parts[1], zone, "until")
        return Outage(start=start, end=end)


def _calendars(plain: Mapping[str, Any]) -> dict[str, Calendar]:
    """Read calendars by name, in the form of the API."""
    calendars = {}
    for name, value in plain.items():
        with prefix_errors(f"calendars.{name}"):
            calendar = (
                value
                if isinstance(value, Calendar)
                else read_calendar({"name": name, **value} if isinstance(value, Mapping) else value)
            )
        calendars[name] = calendar
    return calendars
