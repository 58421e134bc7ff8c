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

from rota.flow.schedule.rulebook import Rulebook
from rota.store import calendars
from rota.store.driver import Connection, ConnectionSource

EVERY: Final = 5.0


async def look_at(conn: Connection, rulebook: Rulebook, names: Collection[str]) -> None:
    """Refresh these calendars in the cache."""
    rulebook.bring(names, await calendars.read_current(conn, rulebook.known(names)))


@dataclass(slots=True, kw_only=True)
class MindingCalendars:
    source: ConnectionSource
    rulebook: Rulebook

    async def tick(self) -> float:
        names = self.rulebook.all_calendars()
        if not names:
            return EVERY
        edition = self.rulebook.edition
        async with self.source.acquire() as conn:
            found = await calendars.read_current(conn, self.rulebook.known(names))
        if edition != self.rulebook.edition:
            # The tick reader has refreshed since, perhaps with newer calendars.
            return 0.0
        self.rulebook.bring(names, found)
        return EVERY
