"""Named calendars: kept as people write them, checked, and not deleted under a job (S15)."""

import json
from datetime import UTC, datetime

import pytest
from tests.support.world import World

from rota.contract.calendar import read_calendar
from rota.core.errors import (
    Conflict,
    InvalidInput,
    InvalidSchedule,
    NotFound,
    QuotaExceeded,
    VersionChanged,
)
from rota.store import calendars, tenants
from rota.store.calendars import StoredCalendar

HOLIDAYS: dict[str, object] = {
    "name": "de-holidays",
    "timezone": "Europe/Berlin",
    "dates": ["2026-04-03"],
    "weekly": [{"start": "fri 18:00", "end": "mon 06:00"}],
    "yearly": ["12-25"],
    "recurring": [{"rrule": "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17", "length": "PT3H"}],
}
CHRISTMAS = datetime(2026, 12, 25, 12, tzinfo=UTC)


async def made(world: World, *, tenant_id: int = 1, **given: object) -> StoredCalendar:
    return await calendars.create_calendar(world.conn, tenant_id=tenant_id, plain=HOLIDAYS | given)


async def test_a_calendar_is_read_back_as_it_was_written(world: World) -> None:
    stored = await made(world)

    again = await calendars.get_calendar(world.conn, tenant_id=1, name="de-holidays")

    assert again == stored
    assert (again.version, again.updated_at) == (1, world.now)
    assert again.calendar == read_calendar(HOLIDAYS) == read_calendar(again.plain)
    assert again.calendar.find_covering(CHRISTMAS) is not None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"dates": ["2026-02-30"]}, "dates[0]"),
        ({"yearly": ["13-01"]}, "yearly[0]"),
        ({"colour": "red"}, "colour"),
        ({"name": "a\nb"}, "name"),
    ],
)
async def test_a_wrong_calendar_is_refused_by_its_field(
    world: World, given: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        await made(world, tenant_id=1, **given)

    assert caught.value.field == field
    assert await world.count("calendars") == 0


async def test_a_calendar_without_windows_is_refused(world: World) -> None:
    with pytest.raises(InvalidSchedule):
        await calendars.create_calendar(world.conn, tenant_id=1, plain={"name": "empty"})


async def test_a_name_is_taken_once_per_tenant(world: World) -> None:
    other = await tenants.create_tenant(world.conn, name="other")
    await made(world)

    with pytest.raises(InvalidInput, match="no other calendar"):
        await made(world)

    assert (await made(world, tenant_id=other.id)).version == 1


async def test_an_edit_needs_the_version_that_was_seen(world: World) -> None:
    await made(world)
    later = HOLIDAYS | {"yearly": ["12-26"]}
    await world.advance(hours=1)

    edited = await calendars.replace_calendar(world.conn, tenant_id=1, plain=later, version=1)
    with pytest.raises(VersionChanged) as caught:
        await calendars.replace_calendar(world.conn, tenant_id=1, plain=HOLIDAYS, version=1)

    assert (edited.version, edited.updated_at) == (2, world.now)
    assert (caught.value.wanted, caught.value.found) == (1, 2)
    assert await calendars.get_calendar(world.conn, tenant_id=1, name="de-holidays") == edited


async def test_what_another_tenant_has_is_not_found(world: World) -> None:
    other = await tenants.create_tenant(world.conn, name="other")
    await made(world)

    for asking in (
        calendars.get_calendar(world.conn, tenant_id=other.id, name="de-holidays"),
        calendars.replace_calendar(world.conn, tenant_id=other.id, plain=HOLIDAYS, version=1),
        calendars.delete_calendar(world.conn, tenant_id=other.id, name="de-holidays"),
    ):
        with pytest.raises(NotFound):
            await asking
    assert await calendars.read_calendars(world.conn, tenant_id=other.id) == {}


async def test_all_calendars_of_a_tenant_are_read_by_name(world: World) -> None:
    other = await tenants.create_tenant(world.conn, name="other")
    for name in ("b", "a", "c"):
        await made(world, name=name)
    await made(world, name="foreign", tenant_id=other.id)

    found = await calendars.read_calendars(world.conn, tenant_id=1)
    first = await calendars.list_calendars(world.conn, tenant_id=1, limit=2)
    rest = await calendars.list_calendars(world.conn, tenant_id=1, after=first[-1].calendar.name)

    assert list(found) == ["a", "b", "c"]
    assert [each.calendar.name for each in [*first, *rest]] == ["a", "b", "c"]


async def test_a_calendar_that_a_job_goes_by_is_not_deleted(world: World) -> None:
    await made(world)
    schedule = json.dumps({"cron": "0 9 * * *", "calendars": ["de-holidays"]})
    job = await world.job(name="report", schedule=schedule)

    with pytest.raises(Conflict, match="'report'"):
        await calendars.delete_calendar(world.conn, tenant_id=1, name="de-holidays")
    await world.conn.execute("update rota.jobs set state = 'deleted' where id = $1", job)
    await calendars.delete_calendar(world.conn, tenant_id=1, name="de-holidays")

    assert await world.count("calendars") == 0


async def test_a_tenant_has_100_calendars_and_no_more(world: World) -> None:
    for number in range(100):
        await made(world, name=f"c{number}")

    with pytest.raises(QuotaExceeded, match=r"max_calendars exceeded \(limit 100\)"):
        await made(world, name="one more")
