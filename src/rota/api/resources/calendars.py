"""Operations for calendars: holidays and freezes that schedules refer to."""

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import read_expected_version, write_audit_entry
from rota.api.schemas.field_types import format_time
from rota.api.schemas.runs import PageQuery
from rota.api.schemas.tenancy import CalendarDraft, CalendarView
from rota.core.access import Permission
from rota.core.errors import InvalidInput, NotFound, VersionChanged
from rota.engine.submission.rescheduling import reschedule_followers
from rota.store import calendars, hints
from rota.store.calendars import StoredCalendar


def build_calendar_view(stored: StoredCalendar) -> CalendarView:
    return CalendarView(
        name=str(stored.plain["name"]),
        calendar=stored.plain,
        version=stored.version,
        updated_at=format_time(stored.updated_at),
    )


def reply_calendar(stored: StoredCalendar, status: int | None = None) -> Reply:
    return Reply(build_calendar_view(stored), status, headers={"ETag": f'"{stored.version}"'})


@operation(
    "PUT",
    "/v1/calendars/{name}",
    tag="calendars",
    permission=Permission.MANAGE,
    body=CalendarDraft,
    answer=CalendarView,
    other_statuses=(201,),
    problems=("invalid_schedule", "version_changed", "conflict"),
    example={"calendar": {"dates": ["2026-12-25", "2026-12-26"]}},
)
async def put_calendar(call: Call) -> Reply:
    """Create a calendar (201) or replace it (200).

    The next ticks of the jobs that use the calendar are recomputed; at most 1,000 jobs may use it.
    """
    name = call.params["name"]
    plain = {**call.body.calendar}
    if plain.setdefault("name", name) != name:
        expected = "must equal the name in the path, or be omitted"
        raise InvalidInput("calendar.name", plain["name"], expected)
    wanted = read_expected_version(call)
    try:
        before = await calendars.get_calendar(call.conn, tenant_id=call.tenant_id, name=name)
    except NotFound:
        if wanted is not None:
            raise VersionChanged("calendar", wanted, 0) from None
        created = await calendars.create_calendar(call.conn, tenant_id=call.tenant_id, plain=plain)
        await _update_jobs(call, name)
        await write_audit_entry(call, "calendar.create", "calendar", name)
        return reply_calendar(created, 201)
    replaced = await calendars.replace_calendar(
        call.conn,
        tenant_id=call.tenant_id,
        plain=plain,
        version=before.version if wanted is None else wanted,
    )
    await write_audit_entry(
        call, "calendar.update", "calendar", name, {"version": replaced.version}
    )
    await _update_jobs(call, name)
    return reply_calendar(replaced)


async def _update_jobs(call: Call, name: str) -> None:
    """Recompute the jobs that use the calendar."""
    await reschedule_followers(call.conn, tenant_id=call.tenant_id, name=name)
    call.hints |= {hints.JOBS_CHANNEL, hints.RUNS_CHANNEL}


@operation(
    "GET",
    "/v1/calendars",
    tag="calendars",
    permission=Permission.READ,
    query=PageQuery,
    answer=ListPage[CalendarView],
    problems=("malformed_request",),
)
async def list_calendars(call: Call) -> Reply:
    """List calendars by name."""
    query: PageQuery = call.query
    place = read_cursor(query.cursor, ["calendars"])
    found = await calendars.list_calendars(
        call.conn,
        tenant_id=call.tenant_id,
        after="" if place is None else place[0],
        limit=query.limit + 1,
    )
    data = found[: query.limit]
    more = None
    if len(found) > query.limit:
        more = write_cursor(["calendars"], [str(data[-1].plain["name"])])
    return Reply(
        ListPage[CalendarView](
            data=[build_calendar_view(calendar) for calendar in data], next_cursor=more
        )
    )


@operation(
    "GET",
    "/v1/calendars/{name}",
    tag="calendars",
    permission=Permission.READ,
    answer=CalendarView,
)
async def get_calendar(call: Call) -> Reply:
    """Get a calendar."""
    name = call.params["name"]
    return reply_calendar(
        await calendars.get_calendar(call.conn, tenant_id=call.tenant_id, name=name)
    )


@operation(
    "DELETE",
    "/v1/calendars/{name}",
    tag="calendars",
    permission=Permission.MANAGE,
    status=204,
    problems=("conflict",),
)
async def delete_calendar(call: Call) -> Reply:
    """Delete a calendar that no job uses."""
    name = call.params["name"]
    await calendars.delete_calendar(call.conn, tenant_id=call.tenant_id, name=name)
    await write_audit_entry(call, "calendar.delete", "calendar", name)
    return Reply()
