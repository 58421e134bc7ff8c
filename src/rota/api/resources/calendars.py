"""Operations for calendars: holidays and freezes that schedules refer to."""

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import Page, cursor, place_of
from rota.api.resources.shared import audited, expected_version
from rota.api.shapes.pieces import moment
from rota.api.shapes.runs import PageQuery
from rota.api.shapes.tenancy import CalendarDraft, CalendarView
from rota.core.access import Permission
from rota.core.errors import InvalidInput, NotFound, VersionChanged
from rota.engine.submission.rescheduling import reschedule_followers
from rota.store import calendars, hints
from rota.store.calendars import StoredCalendar


def view(stored: StoredCalendar) -> CalendarView:
    return CalendarView(
        name=str(stored.plain["name"]),
        calendar=stored.plain,
        version=stored.version,
        updated_at=moment(stored.updated_at),
    )


def shown(stored: StoredCalendar, status: int | None = None) -> Reply:
    return Reply(view(stored), status, headers={"ETag": f'"{stored.version}"'})


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
    wanted = expected_version(call)
    try:
        before = await calendars.get_calendar(call.conn, tenant_id=call.tenant_id, name=name)
    except NotFound:
        if wanted is not None:
            raise VersionChanged("calendar", wanted, 0) from None
        created = await calendars.create_calendar(call.conn, tenant_id=call.tenant_id, plain=plain)
        await _update_jobs(call, name)
        await audited(call, "calendar.create", "calendar", name)
        return shown(created, 201)
    replaced = await calendars.replace_calendar(
        call.conn,
        tenant_id=call.tenant_id,
        plain=plain,
        version=before.version if wanted is None else wanted,
    )
    await audited(call, "calendar.update", "calendar", name, {"version": replaced.version})
    await _update_jobs(call, name)
    return shown(replaced)


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
    answer=Page[CalendarView],
    problems=("malformed_request",),
)
async def list_calendars(call: Call) -> Reply:
    """List calendars by name."""
    query: PageQuery = call.query
    place = place_of(query.cursor, ["calendars"])
    found = await calendars.list_calendars(
        call.conn,
        tenant_id=call.tenant_id,
        after="" if place is None else place[0],
        limit=query.limit + 1,
    )
    data = found[: query.limit]
    more = None
    if len(found) > query.limit:
        more = cursor(["calendars"], [str(data[-1].plain["name"])])
    return Reply(Page[CalendarView](data=[view(calendar) for calendar in data], next_cursor=more))


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
    return shown(await calendars.get_calendar(call.conn, tenant_id=call.tenant_id, name=name))


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
    await audited(call, "calendar.delete", "calendar", name)
    return Reply()
