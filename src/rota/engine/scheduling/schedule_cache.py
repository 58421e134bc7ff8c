"""Caches the parsed schedules of jobs, and the tick that follows a tick.

Jobs with equal schedules share one stored schedule, so it is parsed once for all of them, and the
tick after a tick is computed once for all jobs at that tick: thousands of such jobs cost one
computation. Two things depend on the job and cannot be shared: a cron `H` and the jitter, whose
seed is the job id as text. A schedule with either is parsed for each job. Every cache here is
bounded; a dropped entry is read again.

The calendars that schedules reference are cached here too, under tenant-qualified names. A schedule
whose calendar does not exist is faulty; its error does not name calendars of other tenants. Two
paths refresh calendars (S15). The tick reader refreshes the calendars of the cursors it has just
read. A transaction that replaces a calendar also moves the cursors of its jobs and raises their
versions; so a cursor that shows the change is never followed by an old calendar, and an entry
computed with the old calendar is refused when it fires. A duty refreshes all cached calendars every
few seconds and when jobs have changed, for changes that moved no cursor. Only calendars that a
cached schedule references are read; without any, no query is sent.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from rota.contract.schedule import read_stored_schedule
from rota.core.errors import InvalidInput, InvalidSchedule
from rota.core.time import planning
from rota.core.time.budget import SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.misfire import always_runs_late
from rota.core.time.planning import PlannedTick
from rota.core.time.schedule import Schedule
from rota.store import calendars
from rota.store.calendars import StoredCalendar
from rota.store.cursors import DueTick
from rota.store.driver import Connection, ConnectionSource

K = TypeVar("K")
V = TypeVar("V")

CALENDAR_REFRESH_INTERVAL_S: Final = 5.0
CACHE_ENTRIES_MAX: Final = 50_000
# Search steps (core/time/budget.py) for one search on the scheduler's event loop: less than 1 ms.
LOOP_STEPS_MAX: Final = 100
# The text of a stored schedule without calendars, which nearly all are.
NO_CALENDARS_JSON: Final = '"calendars": []'
CALENDAR_MISSING: Final = "calendar does not exist; create it again and the job continues"
# Errors that parsing or evaluating a schedule may raise, each caused by that schedule alone.
SCHEDULE_FAULTS: Final = (InvalidInput, ArithmeticError, LookupError, TypeError, ValueError)


class CachedSchedule(NamedTuple):
    """A parsed schedule. A tick that `always_runs` runs however late, as long as it is the only one
    due.
    """

    schedule: Schedule
    always_runs: bool


class CachedCalendars(dict[str, Calendar]):
    """Calendars by qualified name. `errors` holds the errors of calendars that cannot be parsed."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: dict[str, InvalidInput] = {}

    def __missing__(self, name: str) -> Calendar:
        if name in self.errors:
            raise self.errors[name]
        raise InvalidSchedule("calendars", name.partition("/")[2] or name, CALENDAR_MISSING)


class ScheduleCache:
    def __init__(self) -> None:
        self.calendars = CachedCalendars()
        # Increased by every update of calendars.
        self.revision = 0
        self._stored: dict[str, StoredCalendar] = {}
        # The calendars of each schedule that references any.
        self._calendar_names: dict[int, frozenset[str]] = {}
        self._bodies: dict[int, str] = {}
        # Keyed by schedule if all jobs share its ticks, else by schedule and job.
        self._shared: dict[int, CachedSchedule] = {}
        self._own: dict[tuple[int, UUID], CachedSchedule] = {}
        self._following: dict[tuple[int, datetime], PlannedTick | None] = {}

    def find_missing_schedules(self, rows: Iterable[DueTick]) -> set[int]:
        """Return the schedules of these cursors that are not cached."""
        wanted = {row.schedule_id for row in rows if row.schedule_id is not None}
        return wanted - self._bodies.keys()

    def add_schedules(self, bodies: Mapping[int, str]) -> None:
        for schedule_id, body in bodies.items():
            cache_value(self._bodies, schedule_id, body)
            if NO_CALENDARS_JSON not in body:
                cache_value(self._calendar_names, schedule_id, parse_calendar_names(body))

    def find_calendars(self, rows: Iterable[DueTick]) -> set[str]:
        """Return the calendars that the schedules of these cursors reference."""
        if not self._calendar_names:
            return set()
        nothing: frozenset[str] = frozenset()
        return {
            name for row in rows for name in self._calendar_names.get(row.schedule_id or 0, nothing)
        }

    def list_calendars(self) -> set[str]:
        """Return the calendars that any cached schedule references."""
        return {name for named in self._calendar_names.values() for name in named}

    def get_known_calendars(self, names: Iterable[str]) -> dict[str, StoredCalendar | None]:
        """Return the cached version of each of these calendars."""
        return {name: self._stored.get(name) for name in names}

    def update_calendars(self, names: Iterable[str], found: Mapping[str, StoredCalendar]) -> None:
        """Replace these calendars by the versions found, and drop ticks computed with others. A
        calendar that was not found does not exist.
        """
        self.revision += 1
        changed = {name for name in names if self._stored.get(name) is not found.get(name)}
        for name in changed:
            self._stored.pop(name, None)
            self.calendars.pop(name, None)
            self.calendars.errors.pop(name, None)
            if name in found:
                self._stored[name] = found[name]
                self._put_calendar(name, found[name].read)
        if changed:
            stale = {
                id_ for id_, named in self._calendar_names.items() if not named.isdisjoint(changed)
            }
            # A copy, because a search in a thread may add entries concurrently.
            for place in list(self._following):
                if place[0] in stale:
                    self._following.pop(place, None)

    def _put_calendar(self, name: str, read: Calendar | InvalidInput) -> None:
        if isinstance(read, InvalidInput):
            self.calendars.errors[name] = read
        else:
            self.calendars[name] = read

    def has_schedule(self, schedule_id: int | None) -> bool:
        return schedule_id is None or schedule_id in self._bodies

    def is_shared(self, schedule_id: int | None) -> bool:
        """Return whether all jobs with this schedule have the same ticks."""
        return schedule_id in self._shared

    def get_schedule(self, schedule_id: int, job_id: UUID) -> CachedSchedule:
        """Return the parsed schedule of a job. Raises one of `SCHEDULE_FAULTS`."""
        found = self._shared.get(schedule_id) or self._own.get((schedule_id, job_id))
        if found is not None:
            return found
        body = self._bodies.get(schedule_id)
        if body is None:
            raise InvalidSchedule(
                "schedule", schedule_id, "expected the number of a stored schedule"
            )
        schedule = read_stored_schedule(json.loads(body), seed=str(job_id))
        parsed = CachedSchedule(schedule, always_runs_late(schedule))
        if schedule.depends_on_seed:
            return cache_value(self._own, (schedule_id, job_id), parsed)
        return cache_value(self._shared, schedule_id, parsed)

    def find_next_tick(
        self, due: DueTick, budget: SearchBudget | None = None
    ) -> PlannedTick | None:
        """Return the tick after the due one, assuming that one runs; None if it is the last.

        Raises `SearchTooLong` if the search exceeds `budget`; the caller then retries in a thread.
        Default budget: `LOOP_STEPS_MAX`, what a search on the event loop may take.
        """
        if due.schedule_id is None:
            return None
        place = (due.schedule_id, due.tick_at)
        if place in self._following:
            return self._following[place]
        schedule = self.get_schedule(due.schedule_id, due.job_id).schedule
        budget = SearchBudget(LOOP_STEPS_MAX) if budget is None else budget
        planned = planning.plan_next_tick(
            schedule,
            due.tick_at,
            calendars=self.calendars,
            fired=(due.fired or 0) + 1,
            budget=budget,
        )
        if planned is not None and planned.tick.at <= due.tick_at:
            raise InvalidSchedule(
                "schedule", planned.tick.at, f"next tick must be after {due.tick_at}"
            )
        if self.is_shared(due.schedule_id) and schedule.window.max_runs is None:
            return cache_value(self._following, place, planned)
        return planned


def parse_calendar_names(body: str) -> frozenset[str]:
    """Return the calendars that a stored schedule references. Returns none if it cannot be parsed:
    the fault is reported when one of its jobs is due, and must not block other jobs before.
    """
    try:
        stored = json.loads(body)
    except ValueError:
        return frozenset()
    named = stored.get("calendars") if isinstance(stored, dict) else None
    listed = named if isinstance(named, list) else ()
    return frozenset(name for name in listed if isinstance(name, str))


def cache_value(cache: dict[K, V], key: K, value: V) -> V:
    """Cache a value; at the limit, drop the oldest entry. Safe with concurrent threads."""
    if len(cache) >= CACHE_ENTRIES_MAX:
        with suppress(RuntimeError):
            cache.pop(next(iter(cache)), None)
    cache[key] = value
    return value


async def refresh_calendars(
    conn: Connection, schedule_cache: ScheduleCache, names: Collection[str]
) -> None:
    """Refresh these calendars in the cache."""
    schedule_cache.update_calendars(
        names, await calendars.read_current(conn, schedule_cache.get_known_calendars(names))
    )


@dataclass(slots=True, kw_only=True)
class CalendarRefresher:
    """Refreshes all cached calendars, as a background duty."""

    source: ConnectionSource
    schedule_cache: ScheduleCache

    async def tick(self) -> float:
        names = self.schedule_cache.list_calendars()
        if not names:
            return CALENDAR_REFRESH_INTERVAL_S
        edition = self.schedule_cache.revision
        async with self.source.acquire() as conn:
            found = await calendars.read_current(
                conn, self.schedule_cache.get_known_calendars(names)
            )
        if edition != self.schedule_cache.revision:
            # The tick reader has refreshed since, perhaps with newer calendars.
            return 0.0
        self.schedule_cache.update_calendars(names, found)
        return CALENDAR_REFRESH_INTERVAL_S
