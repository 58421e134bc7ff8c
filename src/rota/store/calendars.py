"""Everything Rota asks of named calendars (S15). Room: store.

A calendar is kept in the plain form that people write (core/time/calendar_plain.py), in its
canonical spelling; it is read again by the same code. What a blackout does to a tick is core's.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from rota.core.errors import Conflict, InvalidInput, NameTaken, NotFound, VersionChanged
from rota.core.submission import check_name
from rota.core.time.calendar_plain import from_plain, to_plain
from rota.core.time.calendars import Calendar
from rota.store import tenants
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import joined

MOST_CALENDARS: Final = 100
FREE: Final = "a name that no other calendar of the tenant has"
_SHOWN: Final = 3


class Row(NamedTuple):
    name: str
    body: str
    version: int
    updated_at: datetime


class Number(NamedTuple):
    number: int


class User(NamedTuple):
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A calendar as it is kept."""

    calendar: Calendar
    version: int
    updated_at: datetime

    @property
    def plain(self) -> dict[str, object]:
        return to_plain(self.calendar)


COUNT = statement("calendars/count", Number)
CREATE = statement("calendars/create", Row)
GET = statement("calendars/get", Row)
PAGE = statement("calendars/page", Row)
READ_ALL = statement("calendars/read_all", Row)
REPLACE = statement("calendars/replace", Row)
USERS = statement("calendars/users", User)
DELETE = statement("calendars/delete", Row)


async def create(conn: Connection, *, tenant_id: int, plain: object) -> Stored:
    """Write a new calendar, given in the form that people write."""
    calendar = _checked(plain)
    async with joined(conn):
        await tenants.take_turn(conn, tenant_id=tenant_id, things="calendars")
        count = await COUNT.one(conn, tenant_id=tenant_id)
        if count is not None and count.number >= MOST_CALENDARS:
            raise InvalidInput("calendars", MOST_CALENDARS, "fewer calendars: delete one first")
        row = await CREATE.one(conn, tenant_id=tenant_id, name=calendar.name, body=_text(calendar))
    if row is None:
        raise NameTaken("name", calendar.name, FREE)
    return _stored(row)


async def get(conn: Connection, *, tenant_id: int, name: str) -> Stored:
    row = await GET.one(conn, tenant_id=tenant_id, name=name)
    if row is None:
        raise NotFound("calendar", name)
    return _stored(row)


async def page(
    conn: Connection, *, tenant_id: int, after: str = "", limit: int = 50
) -> list[Stored]:
    """Calendars by name, from the one after `after` on."""
    rows = await PAGE.all(conn, tenant_id=tenant_id, after=after, most=limit)
    return [_stored(row) for row in rows]


async def read_all(conn: Connection, *, tenant_id: int) -> dict[str, Calendar]:
    """The calendars of a tenant by name, as a schedule asks for them."""
    rows = await READ_ALL.all(conn, tenant_id=tenant_id)
    return {row.name: _stored(row).calendar for row in rows}


async def replace(conn: Connection, *, tenant_id: int, plain: object, version: int) -> Stored:
    """Replace the calendar of this name, if it still has the version that the caller has seen."""
    calendar = _checked(plain)
    row = await REPLACE.one(
        conn, tenant_id=tenant_id, name=calendar.name, body=_text(calendar), version=version
    )
    if row is None:
        found = await get(conn, tenant_id=tenant_id, name=calendar.name)
        raise VersionChanged("calendar", version, found.version)
    return _stored(row)


async def delete(conn: Connection, *, tenant_id: int, name: str) -> None:
    """Delete a calendar that no job goes by."""
    async with joined(conn):
        users = await USERS.all(conn, tenant_id=tenant_id, name=name, most=_SHOWN)
        if users:
            shown = ", ".join(repr(user.name) for user in users)
            raise Conflict("calendar", f"jobs go by it: {shown}")
        if await DELETE.one(conn, tenant_id=tenant_id, name=name) is None:
            raise NotFound("calendar", name)


def _checked(plain: object) -> Calendar:
    calendar = from_plain(plain)
    check_name(calendar.name, "name")
    return calendar


def _stored(row: Row) -> Stored:
    return Stored(
        calendar=from_plain(json.loads(row.body)), version=row.version, updated_at=row.updated_at
    )


def _text(calendar: Calendar) -> str:
    return json.dumps(to_plain(calendar), sort_keys=True)
