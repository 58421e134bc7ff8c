"""Stores named calendars (S15).

A calendar is stored in its plain form (contract/calendar.py), in canonical spelling, and parsed by
the same code. Core decides how a blackout affects a tick.

A name belongs to a tenant, but all tenants share the stored schedules, which schedulers read. Those
use the names that `qualified` returns. A job keeps the names that its user wrote.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from typing import Final, NamedTuple
from uuid import UUID

from rota.contract.calendar import read_calendar, read_stored_calendar, write_calendar
from rota.core.errors import (
    Conflict,
    InvalidInput,
    InvalidSchedule,
    NameTaken,
    NotFound,
    VersionChanged,
)
from rota.core.submissions import check_visible_name
from rota.core.time.calendars import Calendar
from rota.store import tenant_locks, tenants
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.threads import compute_in_thread
from rota.store.transaction import join_transaction, transaction

# How many parsed calendars, of all tenants, a process caches.
READ_CALENDARS_MAX: Final = 256
# Characters of documents parsed on the event loop; longer ones are parsed in a thread.
LOOP_TEXT_MAX: Final = 10_000
CALENDAR_NAME_TAKEN: Final = (
    "already in use; choose a name that no other calendar of the tenant has"
)
_USERS_SHOWN_MAX: Final = 3
# Seconds after which a caller with an outdated calendar may retry with the new one.
_RETRY_AFTER_S: Final = 1.0
_DIGITS: Final = 9


class CalendarRow(NamedTuple):
    name: str
    body: str
    version: int
    updated_at: datetime


class CalendarCount(NamedTuple):
    number: int


class CalendarUser(NamedTuple):
    name: str


class CalendarJob(NamedTuple):
    """A job that uses a calendar; `is_held` if it was quarantined because of its calendars."""

    id: UUID
    is_held: bool


class CurrentCalendar(NamedTuple):
    """A calendar of any tenant; `body` is None if the caller has the current version."""

    tenant_id: int
    name: str
    body: str | None
    version: int
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCalendar:
    """A stored calendar. `read` is the error if this version cannot read its document."""

    read: Calendar | InvalidInput
    document: dict[str, object]
    version: int
    updated_at: datetime

    @property
    def calendar(self) -> Calendar:
        if isinstance(self.read, InvalidInput):
            raise self.read
        return self.read

    @property
    def plain(self) -> dict[str, object]:
        """The document, including the fields that this version does not know."""
        if isinstance(self.read, InvalidInput):
            return self.document
        return {**write_calendar(self.read), **self.document}


class TenantCalendars(dict[str, Calendar]):
    """Calendars by name. `unread` holds the errors of those that this version cannot read;
    accessing one of them raises its error.
    """

    def __init__(self) -> None:
        super().__init__()
        self.unread: dict[str, InvalidInput] = {}

    def __missing__(self, name: str) -> Calendar:
        if name in self.unread:
            raise self.unread[name]
        raise KeyError(name)


COUNT = statement("calendars/count", CalendarCount)
CREATE = statement("calendars/create", CalendarRow)
GET = statement("calendars/get", CalendarRow)
PAGE = statement("calendars/page", CalendarRow)
READ_ALL = statement("calendars/read_all", CalendarRow)
REPLACE = statement("calendars/replace", CalendarRow)
USERS = statement("calendars/users", CalendarUser)
FOLLOWERS = statement("calendars/jobs", CalendarJob)
CURRENT = statement("calendars/current", CurrentCalendar)
HOLD = statement("calendars/lock", CalendarRow)
DELETE = statement("calendars/delete", CalendarRow)


async def create_calendar(conn: Connection, *, tenant_id: int, plain: object) -> StoredCalendar:
    """Create a calendar from its plain form."""
    calendar = _checked(plain)
    async with join_transaction(conn):
        await tenant_locks.lock_resource(conn, tenant_id=tenant_id, resource="calendars")
        count = await COUNT.one(conn, tenant_id=tenant_id)
        existing = 0 if count is None else count.number
        await tenants.check_quota(
            conn, tenant_id=tenant_id, quota="max_calendars", existing=existing
        )
        row = await CREATE.one(conn, tenant_id=tenant_id, name=calendar.name, body=_text(calendar))
    if row is None:
        raise NameTaken("name", calendar.name, CALENDAR_NAME_TAKEN)
    return _read_row(row)


async def get_calendar(conn: Connection, *, tenant_id: int, name: str) -> StoredCalendar:
    row = await GET.one(conn, tenant_id=tenant_id, name=name)
    if row is None:
        raise NotFound("calendar", name)
    return _read_row(row)


async def list_calendars(
    conn: Connection, *, tenant_id: int, after: str = "", limit: int = 50
) -> list[StoredCalendar]:
    """Return calendars by name, starting after `after`."""
    rows = await PAGE.all(conn, tenant_id=tenant_id, after=after, most=limit)
    return [_read_row(row) for row in rows]


async def read_calendars(conn: Connection, *, tenant_id: int) -> dict[str, Calendar]:
    """Return the calendars of a tenant by name, as schedules need them. One that this version
    cannot read is left out: it must not affect jobs that do not use it.
    """
    rows = await READ_ALL.all(conn, tenant_id=tenant_id)
    if sum(len(row.body) for row in rows) > LOOP_TEXT_MAX:
        return await compute_in_thread(partial(_read_rows, rows))
    return _read_rows(rows)


def _read_rows(rows: Sequence[CalendarRow]) -> TenantCalendars:
    known = TenantCalendars()
    for row in rows:
        read = _read(row.body)
        if isinstance(read, Calendar):
            known[row.name] = read
        else:
            known.unread[row.name] = read
    return known


async def replace_calendar(
    conn: Connection, *, tenant_id: int, plain: object, version: int
) -> StoredCalendar:
    """Replace the calendar of this name if it still has the version that the caller saw."""
    calendar = _checked(plain)
    row = await REPLACE.one(
        conn, tenant_id=tenant_id, name=calendar.name, body=_text(calendar), version=version
    )
    if row is None:
        found = await get_calendar(conn, tenant_id=tenant_id, name=calendar.name)
        raise VersionChanged("calendar", version, found.version)
    return _read_row(row)


async def delete_calendar(conn: Connection, *, tenant_id: int, name: str) -> None:
    """Delete a calendar that no job uses. The delete comes first and waits for transactions that
    hold the calendar, so that a job that is being created with it is seen.
    """
    async with transaction(conn):
        if await DELETE.one(conn, tenant_id=tenant_id, name=name) is None:
            raise NotFound("calendar", name)
        users = await USERS.all(conn, tenant_id=tenant_id, name=name, most=_USERS_SHOWN_MAX)
        if users:
            shown = ", ".join(repr(user.name) for user in users)
            raise Conflict("calendar", f"in use by jobs: {shown}")


async def lock_calendars(
    conn: Connection, *, tenant_id: int, known: Mapping[str, Calendar]
) -> None:
    """Lock calendars as the caller knows them until the end of the transaction, which writes a tick
    that was computed with them. Refuse if they have changed.
    """
    rows = await HOLD.all(conn, tenant_id=tenant_id, names=sorted(known))
    stored = {row.name: _read_row(row).calendar for row in rows}
    for name, calendar in known.items():
        if stored.get(name) == calendar:
            continue
        if name in stored or await GET.one(conn, tenant_id=tenant_id, name=name) is not None:
            reason = f"{name!r} was changed by another request"
            raise Conflict("calendar", reason, retry_after=_RETRY_AFTER_S)
        raise InvalidSchedule("calendars", name, "no such calendar; create it first")


async def read_calendar_jobs(
    conn: Connection, *, tenant_id: int, name: str, limit: int
) -> list[CalendarJob]:
    """Return jobs that use a calendar and have future ticks or are quarantined because of it."""
    return await FOLLOWERS.all(conn, tenant_id=tenant_id, name=name, most=limit)


def qualify_name(tenant_id: int, name: str) -> str:
    """Return the name of a calendar that is unique among all tenants."""
    return f"{tenant_id}/{name}"


async def read_current(
    conn: Connection, known: Mapping[str, StoredCalendar | None]
) -> dict[str, StoredCalendar]:
    """Return the existing ones of these calendars in their current version, by qualified name;
    `known` holds the versions that the caller has.
    """
    wanted = {
        parts: cached for name, cached in known.items() if (parts := _parts(name)) is not None
    }
    rows = await CURRENT.all(
        conn,
        tenant_ids=[tenant_id for tenant_id, _ in wanted],
        names=[name for _, name in wanted],
        versions=[cached and cached.version for cached in wanted.values()],
        updated_ats=[cached and cached.updated_at for cached in wanted.values()],
    )
    found: dict[str, StoredCalendar] = {}
    for row in rows:
        calendar = wanted[row.tenant_id, row.name]
        if row.body is not None:
            calendar = _read_row(CalendarRow(row.name, row.body, row.version, row.updated_at))
        if calendar is not None:
            found[qualify_name(row.tenant_id, row.name)] = calendar
    return found


def _parts(name: str) -> tuple[int, str] | None:
    """Return the tenant and the name; None if the name is not qualified."""
    tenant_id, slash, plain = name.partition("/")
    if not slash or not (tenant_id.isascii() and tenant_id.isdigit()) or len(tenant_id) > _DIGITS:
        return None
    return int(tenant_id), plain


def _checked(plain: object) -> Calendar:
    calendar = read_calendar(plain)
    check_visible_name(calendar.name, "name")
    return calendar


def _read_row(row: CalendarRow) -> StoredCalendar:
    document = json.loads(row.body)
    return StoredCalendar(
        read=_read(row.body), document=document, version=row.version, updated_at=row.updated_at
    )


def _read(body: str) -> Calendar | InvalidInput:
    try:
        return _calendar_of(body)
    except InvalidInput as error:
        return error


# benefit: a calendar of 2,000 dates takes 10 ms to parse, and each request parses all of a tenant.
@lru_cache(maxsize=READ_CALENDARS_MAX)
def _calendar_of(body: str) -> Calendar:
    return read_stored_calendar(json.loads(body))


def _text(calendar: Calendar) -> str:
    return json.dumps(write_calendar(calendar), sort_keys=True)
