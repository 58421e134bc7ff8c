"""Legal schedules that are meant to keep a process busy: each search counts its steps (P8)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random

import pytest
from tests.support.hostile_schedules import BERLIN, CALENDARS, DENSE, SCHEDULES, full_calendar

from rota.contract.calendar import read_calendar
from rota.contract.schedule import read_schedule
from rota.core.errors import InvalidSchedule, SearchTooLong
from rota.core.time import planning, zones
from rota.core.time.budget import (
    NEXT_TICK_STEPS_MAX,
    PREVIEW_STEPS_MAX,
    SearchBudget,
)
from rota.core.time.cadence import find_shortest_period
from rota.core.time.calendars import Calendar, blackout_at
from rota.core.time.misfire import ScheduleProgress, decide_catch_up
from rota.core.time.past_ticks import PastTicks
from rota.core.time.preview import PreviewConcern, preview_schedule
from rota.core.time.rrule.search import find_next_local
from rota.core.time.schedule import Schedule
from rota.core.time.simulation import simulate
from rota.core.time.tick import DstGap, DstOverlap
from rota.core.time.tick_density import DensitySpan, ScheduleGroup, compute_tick_density
from rota.core.time.zone_change import ZoneChange
from rota.core.time.zones import from_wall_seconds, to_wall_seconds

NOW = datetime(2026, 10, 20, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
RANGES = [
    {"start": f"2026-10-20T{hour}:00", "end": f"2026-10-20T{hour}:01"} for hour in (13, 14, 15, 16)
]


def known() -> dict[str, Calendar]:
    """Fresh ones: what another test has worked out must not make a difference."""
    return {name: read_calendar(each) for name, each in CALENDARS.items()}


def schedule(name: str) -> Schedule:
    return read_schedule(SCHEDULES[name], now=NOW, seed="x")


def told(ask: Callable[[], object]) -> str:
    """What was wrong, if something was."""
    try:
        ask()
    except InvalidSchedule as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_next_tick_is_found_or_refused_within_the_budget(name: str) -> None:
    budget, calendars = SearchBudget(), known()

    said = told(
        lambda: planning.plan_next_tick(schedule(name), NOW, calendars=calendars, budget=budget)
    )

    # One step of its own may be larger than what was left: a part of a calendar.
    assert budget.spent <= 2 * NEXT_TICK_STEPS_MAX
    assert not said or ("calendars: " in said and ("steps" in said or "free" in said))


@pytest.mark.parametrize("windows", [24, 72, 144, 360])
def test_a_calendar_full_of_windows_is_refused_with_what_to_do(windows: int) -> None:
    with pytest.raises(SearchTooLong) as refused:
        planning.plan_next_tick(schedule(f"{windows} windows a day"), NOW, calendars=known())

    assert refused.value.field == "calendars"
    assert str(refused.value) == (
        f"calendars: 'full-{windows}' is invalid: finding a time takes more than 5,000 steps; use"
        " fewer rules, fewer or longer blackout windows, or times outside the blackouts"
    )


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_preview_ends_within_its_budget(name: str) -> None:
    budget, calendars = SearchBudget(2_000), known()

    told(
        lambda: preview_schedule(schedule(name), NOW, count=100, calendars=calendars, budget=budget)
    )

    assert budget.spent <= budget.limit + NEXT_TICK_STEPS_MAX


def test_a_preview_of_a_dense_schedule_looks_at_the_fold_itself_and_not_at_the_days_around() -> (
    None
):
    budget = SearchBudget(PREVIEW_STEPS_MAX)

    shown = preview_schedule(schedule("dense cron"), NOW, count=5, budget=budget)

    notes = [
        each.detail for each in shown.warnings if each.concern is PreviewConcern.DAYLIGHT_SAVING
    ]
    assert notes[0] == "2026-10-25: 02:00 occurs twice; only the first runs"
    assert budget.spent < 100


def test_a_preview_that_is_cut_short_shows_what_it_found_and_says_so() -> None:
    shown = preview_schedule(
        schedule("thirty dense crons"), NOW, count=100, budget=SearchBudget(30 * 40)
    )

    assert 30 < len(shown.upcoming) < 100
    said = {each.concern: each.detail for each in shown.warnings}
    assert PreviewConcern.ENDS not in said
    assert said[PreviewConcern.SEARCH_LIMIT] == (
        "the search stopped after 1,200 steps; the schedule may have more times than shown"
    )


@pytest.mark.parametrize(
    "name", ["dense cron", "sparse rrules", "72 windows a day", "no time is free, deferred"]
)
def test_what_an_outage_left_is_decided_or_refused(name: str) -> None:
    progress = ScheduleProgress(cursor=NOW - 30 * DAY)

    said = told(lambda: decide_catch_up(schedule(name), progress, NOW, calendars=known()))

    assert not said or "steps" in said or "free" in said


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_past_range_is_counted_or_refused_within_its_budget(name: str) -> None:
    budget = SearchBudget(2_000)
    past = PastTicks(
        schedule=schedule(name), since=NOW - 400 * DAY, until=NOW, calendars=known(), budget=budget
    )

    said = told(lambda: past.count(50))

    assert not said or "steps" in said or "free" in said
    assert budget.spent <= budget.limit + NEXT_TICK_STEPS_MAX


@pytest.mark.parametrize("name", ["thirty dense crons", "sparse rrules", "thirty-two times"])
def test_the_shortest_period_is_found_or_refused(name: str) -> None:
    said = told(lambda: find_shortest_period(schedule(name), NOW))

    assert not said or "steps" in said


@pytest.mark.parametrize("name", ["72 windows a day", "sparse in windows", "dense rrule"])
def test_a_change_of_zone_rules_is_applied_or_refused_within_its_budget(name: str) -> None:
    read = schedule(name)
    budget = SearchBudget(10_000)
    change = ZoneChange(
        schedule=read, before=zones.get_zone("UTC"), calendars=known(), budget=budget
    )
    first = planning.plan_next_tick(
        read_schedule({**SCHEDULES[name], "calendars": []}, now=NOW, seed="x"), NOW
    )
    assert first is not None

    said = told(lambda: change.next_tick(first.tick.at, fired=0))

    assert not said or "steps" in said
    assert budget.spent <= budget.limit + NEXT_TICK_STEPS_MAX


def test_a_simulation_of_a_full_calendar_is_refused() -> None:
    played = simulate(schedule("72 windows a day"), start=NOW, end=NOW + DAY, calendars=known())

    assert "steps" in told(lambda: list(played))


def test_the_load_of_hostile_schedules_counts_them_as_far_as_they_are_found() -> None:
    names = ["dense cron", "thirty dense crons", "72 windows a day"]
    groups = [ScheduleGroup(schedule=schedule(name), size=1) for name in names]
    span = DensitySpan(since=NOW, until=NOW + DAY, width=timedelta(hours=1))

    found = compute_tick_density(groups, span, calendars=known())

    assert len(found.groups) == len(groups)
    assert found.groups[0].ticks > 0


def test_a_budget_does_not_depend_on_what_was_computed_before() -> None:
    calendars = known()
    spent = []
    read = schedule("144 windows a day")
    for budget in (SearchBudget(), SearchBudget()):
        told(partial(planning.plan_next_tick, read, NOW, calendars=calendars, budget=budget))
        spent.append(budget.spent)

    assert spent[0] == spent[1]


def test_a_search_that_nobody_waits_for_ends_at_its_next_check() -> None:
    class Gone(Exception):
        pass

    def check() -> None:
        raise Gone

    with pytest.raises(Gone):
        planning.plan_next_tick(
            schedule("360 windows a day"),
            NOW,
            calendars=known(),
            budget=SearchBudget(check=check),
        )


def test_windows_that_touch_become_one_stretch() -> None:
    hours = ",".join(map(str, range(24)))
    whole = read_calendar(
        {"name": "all", "recurring": [{"rrule": f"FREQ=DAILY;BYHOUR={hours}", "length": "PT1H"}]}
    )

    found = whole.find_covering(NOW)

    assert found is not None
    assert found.end - found.start > 7 * DAY
    (part,) = whole.parts.values()
    assert len(part.starts) == 1


def test_a_dense_calendar_is_worked_out_a_day_at_a_time_and_a_sparse_one_a_year() -> None:
    dense = read_calendar(full_calendar(360))
    sparse = read_calendar({"name": "s", "yearly": ["12-25"]})

    assert dense.windows.part_length == DAY
    assert sparse.windows.part_length == 366 * DAY


def test_a_schedule_of_many_rules_asks_only_those_whose_tick_has_passed() -> None:
    crons = [f"{minute} 3 * * *" for minute in range(30)]
    read = read_schedule({"cron": ["0 * * * *", *crons], "calendars": ["day"]}, now=NOW, seed="x")
    day = read_calendar({"name": "day", "ranges": RANGES})
    budget = SearchBudget()

    found = planning.plan_next_tick(read, NOW, calendars={"day": day}, budget=budget)

    assert found is not None
    assert found.tick.at.hour == 17
    # Each of the 31 rules once, and one of them four times more; and the blackouts.
    assert budget.spent < 2 * 31


def naive(calendar: Calendar, instant: datetime) -> bool:
    """Whether a window holds the instant, by asking for every window near it."""
    zone = zones.get_zone(calendar.timezone)
    near = instant.replace(tzinfo=None)
    windows = [(each.start, each.end) for each in calendar.ranges]
    for week in range(-3, 3):
        monday = datetime.combine(near.date() - near.weekday() * DAY, datetime.min.time())
        monday += week * 7 * DAY
        windows += [(monday + each.start, monday + each.end) for each in calendar.weekly]
    for day in range(-3, 4):
        midnight = datetime.combine(near.date() + day * DAY, datetime.min.time())
        if any(
            (each.month, each.day) == (midnight.month, midnight.day) for each in calendar.yearly
        ):
            windows.append((midnight, midnight + DAY))
    for recurring in calendar.recurring:
        local = find_next_local(recurring.rule, to_wall_seconds(near - recurring.length - 2 * DAY))
        while local is not None and from_wall_seconds(local) < near + 2 * DAY:
            windows.append((from_wall_seconds(local), from_wall_seconds(local) + recurring.length))
            local = find_next_local(recurring.rule, local + 1)

    def edge(local: datetime, overlap: DstOverlap) -> datetime:
        return zones.resolve_local_time(local, zone, gap=DstGap.RUN_AFTER, overlap=overlap)[0].at

    return any(
        edge(start, DstOverlap.FIRST) <= instant < edge(end, DstOverlap.SECOND)
        for start, end in windows
    )


RRULES = (
    "FREQ=DAILY",
    "FREQ=DAILY;INTERVAL=3",
    "FREQ=WEEKLY;BYDAY=SU,MO",
    "FREQ=MONTHLY;BYDAY=-1SU",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE;BYSETPOS=-1,1",
    "FREQ=YEARLY;BYMONTH=3,10;BYDAY=SU",
    "FREQ=DAILY;UNTIL=20261025T023000",
    "FREQ=DAILY;COUNT=20",
)
ZONES = (BERLIN, "UTC", "Australia/Lord_Howe", "America/Santiago", "Antarctica/Troll")
CHANGES = (
    datetime(2026, 3, 29, 1, tzinfo=UTC),
    datetime(2026, 10, 25, 1, tzinfo=UTC),
    datetime(2026, 4, 4, 15, tzinfo=UTC),
    datetime(2026, 9, 6, 4, tzinfo=UTC),
)


def random_calendar(chance: Random) -> Calendar:
    def rule() -> dict[str, str]:
        hours = ",".join(map(str, sorted(chance.sample(range(24), chance.choice([1, 3, 24])))))
        text = f"{chance.choice(RRULES)};BYHOUR={hours};BYMINUTE={chance.choice([0, 15, 30])}"
        start = f"2026{chance.choice(['0101', '0328', '1024'])}T023000"
        lines = [f"DTSTART:{start}", f"RRULE:{text}"]
        if chance.random() < 0.4:
            lines.append("EXDATE:20261025T020000,20260329,20261026")
        if chance.random() < 0.4:
            lines.append("RDATE:20261025T013000,20260101T000000")
        length = chance.choice(["PT1S", "PT30M", "PT1H", "PT90M", "P1D", "P3D"])
        return {"rrule": "\n".join(lines), "length": length}

    return read_calendar(
        {
            "name": "random",
            "timezone": chance.choice(ZONES),
            "recurring": [rule() for _ in range(chance.randint(1, 3))],
            "weekly": [{"start": "sat 22:30", "end": "sun 02:30"}] if chance.random() < 0.3 else [],
            "yearly": ["03-29", "02-29"] if chance.random() < 0.3 else [],
            "ranges": [{"start": "2026-10-25T02:15", "end": "2026-10-25T02:45"}]
            if chance.random() < 0.3
            else [],
        }
    )


@pytest.mark.parametrize("seed", range(16))
def test_merged_windows_hold_the_same_instants_as_the_windows_one_by_one(seed: int) -> None:
    chance = Random(seed)
    try:
        calendar = random_calendar(chance)
    except InvalidSchedule:
        calendar = random_calendar(Random(seed + 1000))
    for change in CHANGES:
        for _ in range(3):
            instant = change + timedelta(minutes=chance.randint(-600, 600))
            found = blackout_at([calendar], instant)

            assert (found is not None) == naive(calendar, instant), instant
            if found is not None and found.end - found.start < 300 * DAY:
                assert not naive(calendar, found.end)
                assert not naive(calendar, found.start - timedelta(microseconds=1))


def test_the_dense_cron_of_the_corpus_is_legal() -> None:
    assert planning.plan_next_tick(read_schedule({"cron": DENSE}, now=NOW), NOW) is not None
