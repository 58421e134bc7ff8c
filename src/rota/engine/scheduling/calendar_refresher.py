"""Keeps the calendars of a scheduler's schedule cache up to date (S15).

Two paths refresh calendars. The tick reader refreshes the calendars of the cursors it has just
read. A transaction that replaces a calendar also moves the cursors of its jobs and raises their
versions; so a cursor that shows the change is never followed by an old calendar, and an entry
computed with the old calendar is refused when it fires. A duty refreshes all cached calendars every
few seconds and when jobs have changed, for changes that moved no cursor. Only calendars that a
cached schedule references are read; without any, no query is sent.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from rota.engine.scheduling.schedule_cache import ScheduleCache
from rota.store import calendars
from rota.store.driver import Connection, ConnectionSource

CALENDAR_REFRESH_INTERVAL_S: Final = 5.0


async def refresh_calendars(
    conn: Connection, schedule_cache: ScheduleCache, names: Collection[str]
) -> None:
    """Refresh these calendars in the cache."""
    schedule_cache.update_calendars(
        names, await calendars.read_current(conn, schedule_cache.get_known_calendars(names))
    )


@dataclass(slots=True, kw_only=True)
class CalendarRefresher:
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
