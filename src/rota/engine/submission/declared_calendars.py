"""Compares the calendars that a file declares with the stored ones, and writes the changes.

A calendar belongs to the tenant and not to a project: jobs of other projects may use it, so this
module never deletes one. Jobs are rescheduled in the transaction that writes their calendar.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rota.contract.calendar import write_calendar
from rota.core.errors import Conflict, NotFound
from rota.core.manifest.differences import Difference, find_differences
from rota.core.time.calendars import Calendar
from rota.engine.submission.rescheduling import reschedule_followers
from rota.store import calendars
from rota.store.calendars import StoredCalendar
from rota.store.driver import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarChange:
    """A calendar that differs from its declaration. `stored` is None if it does not exist."""

    calendar: Calendar
    stored: StoredCalendar | None
    differences: tuple[Difference, ...]

    @property
    def name(self) -> str:
        return self.calendar.name

    @property
    def version(self) -> int:
        return 0 if self.stored is None else self.stored.version


async def compare_calendars(
    conn: Connection, declared: Sequence[Calendar], *, tenant_id: int
) -> tuple[CalendarChange, ...]:
    """Return the declared calendars that have to be written."""
    changes = []
    for calendar in declared:
        stored = await _read_stored(conn, calendar.name, tenant_id)
        before = {} if stored is None else stored.plain
        changed = tuple(find_differences(before, write_calendar(calendar)))
        if stored is None or changed:
            changes.append(CalendarChange(calendar=calendar, stored=stored, differences=changed))
    return tuple(changes)


async def _read_stored(conn: Connection, name: str, tenant_id: int) -> StoredCalendar | None:
    try:
        return await calendars.get_calendar(conn, tenant_id=tenant_id, name=name)
    except NotFound:
        return None


def refuse_outdated_calendars(changes: Sequence[CalendarChange], seen: Mapping[str, int]) -> None:
    for change in changes:
        saw = seen.get(change.name, 0)
        if saw != change.version:
            detail = f"calendar {change.name!r} has version {change.version} now, not {saw}"
            raise Conflict("the manifest", f"the plan is outdated; nothing was changed: {detail}")


async def write_calendars(
    conn: Connection, changes: Sequence[CalendarChange], *, tenant_id: int
) -> None:
    """Write calendars, and reschedule all jobs that use them."""
    for change in changes:
        plain = write_calendar(change.calendar)
        if change.stored is None:
            await calendars.create_calendar(conn, tenant_id=tenant_id, plain=plain)
        else:
            await calendars.replace_calendar(
                conn, tenant_id=tenant_id, plain=plain, version=change.version
            )
    for change in changes:
        await reschedule_followers(conn, tenant_id=tenant_id, name=change.name)
