"""The schedules of the jobs at hand, read once, and the tick that follows a tick.

Room: flow/schedule. Jobs that say the same share one stored schedule, so it is read once for all of
them, and the tick after a tick is computed once for all that stand at it: a herd of thousands costs
one computation. Two things depend on the job and cannot be shared: a cron `H` and the jitter, whose
seed is the id of the job as text. A schedule with either is read for each job. Everything here is a
cache with a bound; what was dropped is read again.

The calendars that schedules go by are here too, under names that no two tenants share. They are
brought by minding_calendars.py, which also says when they must be looked at. A schedule whose
calendar does not exist is at fault, and says so without naming the calendars of others.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Self, TypeVar
from uuid import UUID

from rota.contract.schedule import read_stored_schedule
from rota.core.errors import InvalidInput, InvalidSchedule
from rota.core.time import planning
from rota.core.time.budget import SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.planning import Planned
from rota.core.time.policies import CatchUp
from rota.core.time.schedule import Schedule
from rota.store.calendars import Stored
from rota.store.cursors import Due

K = TypeVar("K")
V = TypeVar("V")

MOST: Final = 50_000
# Steps of one search (core/time/budget.py) on the event loop of a scheduler: less than 1 ms.
LOOP_STEPS_MAX: Final = 100
# How a stored schedule says that it goes by no calendar, which is as good as all of them.
WITHOUT: Final = '"calendars": []'
EXISTING: Final = "a calendar that exists; once it is made again, the job goes on"
# What a schedule can fail with when it is read or evaluated, each the fault of that schedule alone.
FAULTS: Final = (InvalidInput, ArithmeticError, LookupError, TypeError, ValueError)


class Rule(NamedTuple):
    """A schedule, and when its ticks need no closer look.

    A tick is as good as on time for the length of `patience`; one that `always_runs`, however late,
    as long as it is the only one that is due. Where missed ticks are paced each is put off in turn,
    so what counts is how old it is, and not when it was due at last.
    """

    schedule: Schedule
    patience: timedelta
    always_runs: bool
    is_paced: bool

    @classmethod
    def of(cls, schedule: Schedule) -> Self:
        misfire = schedule.misfire
        deadline, paced = misfire.start_deadline, misfire.pace is not None
        may_be_dropped = misfire.on_outage is CatchUp.SKIP or deadline is not None
        return cls(
            schedule=schedule,
            patience=misfire.late_after if deadline is None else min(misfire.late_after, deadline),
            always_runs=not (may_be_dropped or paced or schedule.calendars),
            is_paced=paced,
        )


class Calendars(dict[str, Calendar]):
    """Calendars by their qualified names. `unread` says of others why they cannot be read here."""

    def __init__(self) -> None:
        super().__init__()
        self.unread: dict[str, InvalidInput] = {}

    def __missing__(self, name: str) -> Calendar:
        if name in self.unread:
            raise self.unread[name]
        raise InvalidSchedule("calendars", name.partition("/")[2] or name, EXISTING)


class Rulebook:
    def __init__(self) -> None:
        self.calendars = Calendars()
        # Rises whenever calendars are brought.
        self.edition = 0
        self._stored: dict[str, Stored] = {}
        # The calendars of the schedules that go by any.
        self._going_by: dict[int, frozenset[str]] = {}
        self._bodies: dict[int, str] = {}
        # By schedule where it is the same for all jobs, by schedule and job where it is not.
        self._shared: dict[int, Rule] = {}
        self._own: dict[tuple[int, UUID], Rule] = {}
        self._following: dict[tuple[int, datetime], Planned | None] = {}

    def missing(self, rows: Iterable[Due]) -> set[int]:
        """The schedules of these that are not known here."""
        wanted = {row.schedule_id for row in rows if row.schedule_id is not None}
        return wanted - self._bodies.keys()

    def learn(self, bodies: Mapping[int, str]) -> None:
        for schedule_id, body in bodies.items():
            remember(self._bodies, schedule_id, body)
            if WITHOUT not in body:
                remember(self._going_by, schedule_id, calendars_in(body))

    def calendars_of(self, rows: Iterable[Due]) -> set[str]:
        """The calendars that the schedules of these go by."""
        if not self._going_by:
            return set()
        nothing: frozenset[str] = frozenset()
        return {name for row in rows for name in self._going_by.get(row.schedule_id or 0, nothing)}

    def all_calendars(self) -> set[str]:
        """The calendars that any schedule here goes by."""
        return {name for named in self._going_by.values() for name in named}

    def known(self, names: Iterable[str]) -> dict[str, Stored | None]:
        """What is known of these calendars."""
        return {name: self._stored.get(name) for name in names}

    def bring(self, names: Iterable[str], found: Mapping[str, Stored]) -> None:
        """These calendars were looked at, and those that were found exist. What was computed by
        others than these is forgotten.
        """
        self.edition += 1
        changed = {name for name in names if self._stored.get(name) is not found.get(name)}
        for name in changed:
            self._stored.pop(name, None)
            self.calendars.pop(name, None)
            self.calendars.unread.pop(name, None)
            if name in found:
                self._stored[name] = found[name]
                self._bring(name, found[name].read)
        if changed:
            stale = {id_ for id_, named in self._going_by.items() if not named.isdisjoint(changed)}
            # A copy: a search in a thread may add to it meanwhile.
            for place in list(self._following):
                if place[0] in stale:
                    self._following.pop(place, None)

    def _bring(self, name: str, read: Calendar | InvalidInput) -> None:
        if isinstance(read, InvalidInput):
            self.calendars.unread[name] = read
        else:
            self.calendars[name] = read

    def knows(self, schedule_id: int | None) -> bool:
        return schedule_id is None or schedule_id in self._bodies

    def is_shared(self, schedule_id: int | None) -> bool:
        """Whether all jobs with this schedule have the same ticks."""
        return schedule_id in self._shared

    def rule(self, schedule_id: int, job_id: UUID) -> Rule:
        """The rule of a job; raises one of `FAULTS` if there is no reading it."""
        found = self._shared.get(schedule_id) or self._own.get((schedule_id, job_id))
        if found is not None:
            return found
        body = self._bodies.get(schedule_id)
        if body is None:
            raise InvalidSchedule(
                "schedule", schedule_id, "the number of a schedule that is stored"
            )
        schedule = read_stored_schedule(json.loads(body), seed=str(job_id))
        made = Rule.of(schedule)
        if schedule.depends_on_seed:
            return remember(self._own, (schedule_id, job_id), made)
        return remember(self._shared, schedule_id, made)

    def following(self, due: Due, budget: SearchBudget | None = None) -> Planned | None:
        """The tick after the one that is due, once that has been run; None if it was the last.

        `SearchTooLong` if that takes more steps than `budget` has. Without one it is what a search
        on the event loop may take; whoever gets the error asks again in a thread.
        """
        if due.schedule_id is None:
            return None
        place = (due.schedule_id, due.tick_at)
        if place in self._following:
            return self._following[place]
        schedule = self.rule(due.schedule_id, due.job_id).schedule
        budget = SearchBudget(LOOP_STEPS_MAX) if budget is None else budget
        planned = planning.next_tick(
            schedule,
            due.tick_at,
            calendars=self.calendars,
            fired=(due.fired or 0) + 1,
            budget=budget,
        )
        if planned is not None and planned.tick.at <= due.tick_at:
            raise InvalidSchedule("schedule", planned.tick.at, f"a tick after {due.tick_at}")
        if self.is_shared(due.schedule_id) and schedule.window.max_runs is None:
            return remember(self._following, place, planned)
        return planned


def calendars_in(body: str) -> frozenset[str]:
    """The calendars that a stored schedule goes by. Of one that cannot be read there are none: it
    is found at fault when a job of it is due, and must not be in the way of others before.
    """
    try:
        stored = json.loads(body)
    except ValueError:
        return frozenset()
    named = stored.get("calendars") if isinstance(stored, dict) else None
    listed = named if isinstance(named, list) else ()
    return frozenset(name for name in listed if isinstance(name, str))


def remember(cache: dict[K, V], key: K, value: V) -> V:
    """Keep a value; beyond the bound, the oldest one goes. A thread may do the same meanwhile."""
    if len(cache) >= MOST:
        with suppress(RuntimeError):
            cache.pop(next(iter(cache)), None)
    cache[key] = value
    return value
