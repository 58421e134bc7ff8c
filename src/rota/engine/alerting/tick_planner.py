"""Finds the ticks of jobs whose expectations are checked, with the planner of the schedulers.

Jobs with equal schedules share one parsed schedule and the tick after a tick, as in the scheduler's
own cache. Calendars are read again every few seconds; a tick that a changed calendar removed has no
run and says nothing.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from rota.contract.schedule import read_stored_schedule
from rota.core.clock import ClockSource
from rota.core.errors import InvalidInput, SearchTooLong
from rota.core.time import planning
from rota.core.time.budget import SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.planning import NO_CALENDARS
from rota.core.time.schedule import Schedule
from rota.store import calendars
from rota.store.driver import Connection

K = TypeVar("K")
V = TypeVar("V")

CALENDAR_SECONDS_MAX: Final = 15.0
CACHED_MAX: Final = 50_000
# Search steps for one search on the event loop: less than 1 ms.
LOOP_STEPS_MAX: Final = 100
SCHEDULE_ERRORS: Final = (InvalidInput, ArithmeticError, LookupError, TypeError, ValueError)


class CheckedTick(NamedTuple):
    at: datetime
    due_at: datetime


class TickPlanner:
    """Plans ticks; one per service, because it is not safe for threads."""

    def __init__(self, clock: ClockSource) -> None:
        self._clock = clock
        self._shared: dict[str, Schedule | None] = {}
        self._own: dict[tuple[str, UUID], Schedule | None] = {}
        self._following: dict[tuple[str, datetime], CheckedTick | None] = {}
        self._calendars: dict[int, tuple[float, Mapping[str, Calendar]]] = {}

    def read_schedule(self, text: str | None, job_id: UUID) -> Schedule | None:
        """Return the schedule of a job; None if it has no ticks or cannot be read."""
        if text is None:
            return None
        if text in self._shared:
            return self._shared[text]
        if (text, job_id) in self._own:
            return self._own[text, job_id]
        schedule: Schedule | None = None
        try:
            schedule = read_stored_schedule(json.loads(text), seed=str(job_id))
        except SCHEDULE_ERRORS:
            schedule = None
        if schedule is not None and not schedule.has_ticks:
            schedule = None
        if schedule is not None and schedule.depends_on_seed:
            cache_value(self._own, (text, job_id), schedule)
        else:
            cache_value(self._shared, text, schedule)
        return schedule

    async def load_calendars(self, conn: Connection, tenant_ids: Iterable[int]) -> None:
        """Read the calendars of tenants whose schedules use any, if they are not fresh."""
        now = self._clock.monotonic()
        for tenant_id in tenant_ids:
            known = self._calendars.get(tenant_id)
            if known is None or now - known[0] > CALENDAR_SECONDS_MAX:
                found = await calendars.read_calendars(conn, tenant_id=tenant_id)
                self._calendars[tenant_id] = (now, found)

    async def find_next(
        self, text: str, job_id: UUID, *, tenant_id: int, after: datetime, fired: int | None
    ) -> CheckedTick | None:
        """Return the tick after a tick. None: the schedule ends, its next tick depends on the end
        of a run, or it cannot be planned.
        """
        schedule = self.read_schedule(text, job_id)
        if schedule is None or schedule.follows_end:
            return None
        is_shared = text in self._shared and not schedule.calendars and fired is None
        if is_shared and (text, after) in self._following:
            return self._following[text, after]
        known = self._calendars[tenant_id][1] if tenant_id in self._calendars else NO_CALENDARS
        plan = partial(planning.plan_next_tick, schedule, after, calendars=known, fired=fired or 0)
        try:
            try:
                planned = plan(budget=SearchBudget(LOOP_STEPS_MAX))
            except SearchTooLong:
                planned = await asyncio.to_thread(plan)
        except SCHEDULE_ERRORS:
            return None
        found = None if planned is None else CheckedTick(planned.tick.at, planned.due_at)
        if is_shared:
            cache_value(self._following, (text, after), found)
        return found


def cache_value(cache: dict[K, V], key: K, value: V) -> None:
    """Cache a value; at the limit, drop the oldest entry."""
    if len(cache) >= CACHED_MAX:
        del cache[next(iter(cache))]
    cache[key] = value
