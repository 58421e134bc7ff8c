"""What the rulebook knows of calendars, and forgets when they change (S15)."""

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from rota.contract.calendar import read_calendar, write_calendar
from rota.contract.schedule import read_schedule, write_schedule
from rota.core.errors import InvalidSchedule
from rota.engine.scheduling.schedule_cache import ScheduleCache
from rota.store.calendars import StoredCalendar
from rota.store.cursors import DueTick

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def due(schedule_id: int) -> DueTick:
    return DueTick(UUID(int=1), 1, NOON, NOON, None, schedule_id, 0, 1, "skip")


def stored(start: str, end: str) -> StoredCalendar:
    ranges = [{"start": f"2026-07-01T{start}", "end": f"2026-07-01T{end}"}]
    calendar = read_calendar({"name": "freeze", "ranges": ranges})
    return StoredCalendar(
        read=calendar, document=write_calendar(calendar), version=1, updated_at=NOON
    )


def book() -> ScheduleCache:
    """Schedule 7 goes by the calendar of tenant 1, schedule 8 by that of tenant 2, 9 by none."""
    made = ScheduleCache()
    for id_, names in ((7, ["1/freeze"]), (8, ["2/freeze"]), (9, [])):
        read = read_schedule({"cron": "0 * * * *", "calendars": names}, now=NOON)
        made.add_schedules({id_: json.dumps(write_schedule(read))})
    return made


def next_at(rulebook: ScheduleCache, schedule_id: int) -> datetime:
    planned = rulebook.find_next_tick(due(schedule_id))
    assert planned is not None
    return planned.tick.at


def test_only_what_goes_by_a_calendar_that_changed_is_computed_again() -> None:
    rulebook = book()
    before = stored("13:00", "13:30")
    rulebook.update_calendars(["1/freeze", "2/freeze"], {"1/freeze": before, "2/freeze": before})
    kept = rulebook.find_next_tick(due(8))
    assert next_at(rulebook, 7) == NOON + 2 * HOUR

    rulebook.update_calendars(["1/freeze"], {"1/freeze": stored("13:00", "15:30")})

    assert next_at(rulebook, 7) == NOON + 4 * HOUR
    assert rulebook.find_next_tick(due(8)) is kept


def test_a_missing_calendar_is_told_without_the_names_of_others() -> None:
    rulebook = book()
    rulebook.update_calendars(["1/freeze", "2/freeze"], {"2/freeze": stored("13:00", "13:30")})

    with pytest.raises(
        InvalidSchedule, match="'freeze' is invalid: calendar does not exist"
    ) as told:
        rulebook.find_next_tick(due(7))

    assert "2/" not in str(told.value)
    assert next_at(rulebook, 9) == NOON + HOUR


def test_the_calendars_of_rows_are_those_of_their_schedules() -> None:
    rulebook = book()

    assert rulebook.find_calendars([due(7), due(9)]) == {"1/freeze"}
    assert rulebook.list_calendars() == {"1/freeze", "2/freeze"}


@pytest.mark.parametrize("body", ["[]", "7", "no JSON", '{"calendars": 3}', '{"calendars": [1]}'])
def test_a_body_that_makes_no_sense_has_no_calendars(body: str) -> None:
    rulebook = ScheduleCache()

    rulebook.add_schedules({7: body})

    assert rulebook.list_calendars() == set()
