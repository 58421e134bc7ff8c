"""The calendars that a file declares, held against those that there are, and written.

Room: flow/submit. A calendar is the tenant's and not a project's: other jobs may go by it, so it is
written and never deleted here. Jobs follow it in the transaction that writes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rota.contract.calendar import write_calendar
from rota.core.errors import Conflict, NotFound
from rota.core.manifest.differences import Difference, differences
from rota.core.time.calendars import Calendar
from rota.flow.submit.rescheduling import follow_calendar
from rota.store import calendars
from rota.store.calendars import Stored
from rota.store.driver import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarChange:
    """A calendar that is not as declared; `stored` is None if there is none."""

    calendar: Calendar
    stored: Stored | None
    differences: tuple[Difference, ...]

    @property
    def name(self) -> str:
        return self.calendar.name

    @property
    def version(self) -> int:
        return 0 if self.stored is None else self.stored.version


async def compare(
    conn: Connection, declared: Sequence[Calendar], *, tenant_id: int
) -> tuple[CalendarChange, ...]:
    """Those that are to be written."""
    found = []
    for calendar in declared:
        stored = await _stored(conn, calendar.name, tenant_id)
        before = {} if stored is None else stored.plain
        changed = tuple(differences(before, write_calendar(calendar)))
        if stored is None or changed:
            found.append(CalendarChange(calendar=calendar, stored=stored, differences=changed))
    return tuple(found)


async def _stored(conn: Connection, name: str, tenant_id: int) -> Stored | None:
    try:
        return await calendars.get(conn, tenant_id=tenant_id, name=name)
    except NotFound:
        return None


def refuse_unseen(changes: Sequence[CalendarChange], seen: Mapping[str, int]) -> None:
    for each in changes:
        saw = seen.get(each.name, 0)
        if saw != each.version:
            said = f"calendar {each.name!r} has version {each.version} now, not {saw}"
            raise Conflict("the manifest", f"not what the plan saw, so nothing was changed: {said}")


async def write(conn: Connection, changes: Sequence[CalendarChange], *, tenant_id: int) -> None:
    """Write them, and have all jobs that go by them know."""
    for each in changes:
        plain = write_calendar(each.calendar)
        if each.stored is None:
            await calendars.create(conn, tenant_id=tenant_id, plain=plain)
        else:
            await calendars.replace(conn, tenant_id=tenant_id, plain=plain, version=each.version)
    for each in changes:
        await follow_calendar(conn, tenant_id=tenant_id, name=each.name)
