"""Keeps the calendars of a scheduler's rulebook as they are in the database (S15).

Room: flow/schedule. Two ways lead here. Reading looks at the calendars of what it has read, after
it has read it: whoever replaces a calendar moves the cursors of its jobs and raises their versions
in the same transaction, so a cursor that shows the change is never followed by an old calendar, and
an entry that was computed by the old one is refused when it fires. And a duty looks at all of them
every few seconds and when jobs have changed, for calendars that nobody moved cursors for. Only
calendars that a schedule at hand goes by are read; without any, nothing is asked.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from rota.flow.schedule.rulebook import Rulebook
from rota.store import calendars
from rota.store.driver import Connection, Source

EVERY: Final = 5.0


async def look_at(conn: Connection, rulebook: Rulebook, names: Collection[str]) -> None:
    """Bring these calendars into the rulebook as they are now."""
    rulebook.bring(names, await calendars.current(conn, rulebook.known(names)))


@dataclass(slots=True, kw_only=True)
class MindingCalendars:
    source: Source
    rulebook: Rulebook

    async def tick(self) -> float:
        names = self.rulebook.all_calendars()
        if not names:
            return EVERY
        edition = self.rulebook.edition
        async with self.source.acquire() as conn:
            found = await calendars.current(conn, self.rulebook.known(names))
        if edition != self.rulebook.edition:
            # Reading has looked meanwhile, and may have seen newer ones.
            return 0.0
        self.rulebook.bring(names, found)
        return EVERY
