"""The preview: a schedule in plain English, and its times to come (S12; S1 to S10, S15)."""

from datetime import UTC, datetime, timedelta

import pytest

from rota.contract.calendar import read_calendar
from rota.contract.schedule import read_schedule
from rota.core.errors import InvalidInput
from rota.core.time import zones
from rota.core.time.planning import plan_ticks
from rota.core.time.preview import PreviewConcern, SchedulePreview, TimeBasis, preview_schedule
from rota.core.time.schedule import SEARCH_HORIZON

NOW = datetime(2026, 3, 27, 12, tzinfo=UTC)
CALENDARS = {
    "de-holidays": read_calendar(
        {"name": "de-holidays", "timezone": "Europe/Berlin", "dates": ["2026-04-03"]}
    )
}


def shown(spec: dict[str, object], **given: object) -> SchedulePreview:
    made = read_schedule(spec, now=NOW, seed="acme/x")
    return preview_schedule(made, NOW, calendars=CALENDARS, **given)  # type: ignore[arg-type]


def concerns(found: SchedulePreview) -> list[PreviewConcern]:
    return [warning.concern for warning in found.warnings]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (
            {
                "cron": "30 2 * * *",
                "timezone": "Europe/Berlin",
                "calendars": ["de-holidays"],
                "jitter": "5m",
            },
            "At 02:30 every day, Europe/Berlin; skips de-holidays; up to 5 minutes of jitter",
        ),
        (
            {
                "cron": "30 2 * * *",
                "calendars": ["de-holidays"],
                "on_blackout": "defer",
                "jitter": {"window": "5m", "stable": True},
                "window": {
                    "start": "2026-04-01T00:00:00Z",
                    "end": "2026-05-01T00:00:00Z",
                    "max_runs": 1,
                },
            },
            (
                "At 02:30 every day, UTC; waits until de-holidays ends; up to 5 minutes of jitter,"
                " the same for every run; starting 2026-04-01 00:00;"
                " ending before 2026-05-01 00:00; at most 1 run"
            ),
        ),
        (
            {"rrule": "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9", "timezone": "Asia/Tokyo"},
            "Every week on Monday at 09:00, Asia/Tokyo",
        ),
        ({"every": "90s"}, "Every 90 seconds, counted from 2026-03-27 12:00:00Z"),
        ({"every": "1d"}, "Every 24 hours, counted from 2026-03-27 12:00:00Z"),
        ({"every": "2d"}, "Every 48 hours, counted from 2026-03-27 12:00:00Z"),
        ({"every": "150s"}, "Every 2 minutes 30 seconds, counted from 2026-03-27 12:00:00Z"),
        ({"every": "1h"}, "Every hour, counted from 2026-03-27 12:00:00Z"),
        ({"fixed_delay": "15m"}, "15 minutes after the previous run ends"),
        ({"at": "2026-04-01T00:00:00Z"}, "Once, at 2026-04-01 00:00, UTC"),
        ({"after": "1h"}, "Once, at 2026-03-27 13:00, UTC"),
        ({"immediate": True}, "Once, immediately"),
        ({"event": "orders.created"}, "Whenever the event orders.created arrives"),
        ({"on_demand": True}, "On demand only"),
        (
            {"cron": "0 9 * * *", "at": "2026-04-01T00:00:00Z"},
            "At 09:00 every day; and once, at 2026-04-01 00:00, UTC",
        ),
    ],
)
def test_a_schedule_is_said_in_plain_english(spec: dict[str, object], sentence: str) -> None:
    assert shown(spec).sentence == sentence


def test_the_times_are_those_that_will_be_fired() -> None:
    spec: dict[str, object] = {
        "cron": "30 2 * * *",
        "timezone": "Europe/Berlin",
        "calendars": ["de-holidays"],
        "jitter": "5m",
    }
    made = read_schedule(spec, now=NOW, seed="acme/x")
    fired = [
        planned.due_at
        for planned in plan_ticks(made, NOW, NOW + SEARCH_HORIZON, calendars=CALENDARS)
    ]

    found = shown(spec, count=100)

    assert [time.due_at for time in found.upcoming] == fired[:100]


def test_every_time_comes_with_its_local_time_the_viewers_and_what_happened_to_it() -> None:
    found = shown(
        {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "calendars": ["de-holidays"]},
        count=8,
        viewer="America/New_York",
    )

    moved, later = found.upcoming[1], found.upcoming[6]
    assert f"{moved.local:%m-%d %H:%M}" == "03-29 02:30"
    assert f"{moved.viewer_local:%m-%d %H:%M %Z}" == "03-28 21:00 EDT"
    assert moved.notes == ("moved from 02:30, which the clock jumped over",)
    assert later.notes == ("skips 2026-04-03 02:30: de-holidays until 2026-04-04 00:00",)


def test_the_class_and_the_rules_in_use_are_shown() -> None:
    wall = shown({"cron": "0 9 * * *", "timezone": "Europe/Berlin"})
    elapsed = shown({"cron": "*/15 * * * *", "timezone": "Europe/Berlin"})

    assert (wall.follows, elapsed.follows) == (TimeBasis.WALL_CLOCK, TimeBasis.ELAPSED_TIME)
    assert (wall.timezone, wall.tzdata) == ("Europe/Berlin", zones.tzdata_version())


def test_two_day_fields_are_pointed_out_as_alternatives() -> None:
    both = shown({"cron": "17 9 13 * FRI"})
    one = shown({"cron": "17 9 13 * *"})

    assert concerns(both) == [PreviewConcern.EITHER_DAY]
    assert concerns(one) == []


def test_what_the_next_changes_of_clocks_do_is_said_for_each_choice() -> None:
    spec: dict[str, object] = {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}
    run_after = shown(spec)
    skip = shown({**spec, "dst": {"gap": "skip", "overlap": "second"}})

    assert [warning.detail for warning in run_after.warnings][:2] == [
        "2026-03-29: moved from 02:30, which the clock jumped over",
        "2026-10-25: 02:30 occurs twice; only the first runs",
    ]
    assert [warning.detail for warning in skip.warnings][:2] == [
        "2026-03-29: 02:30 is skipped: the clock jumps over it",
        "2026-10-25: 02:30 occurs twice; only the second runs",
    ]


def test_a_schedule_that_follows_elapsed_time_is_not_warned_about_clocks() -> None:
    assert concerns(shown({"cron": "*/15 * * * *", "timezone": "Europe/Berlin"})) == []


def test_a_change_of_clocks_in_a_blackout_is_no_warning() -> None:
    calendars = {
        "sundays": read_calendar(
            {
                "name": "sundays",
                "timezone": "Europe/Berlin",
                "weekly": [{"start": "sun 00:00", "end": "mon 00:00"}],
            }
        )
    }
    spec = {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "calendars": ["sundays"]}

    found = preview_schedule(read_schedule(spec, now=NOW), NOW, calendars=calendars)

    assert concerns(found) == []


@pytest.mark.parametrize(
    ("spec", "concern"),
    [
        ({"cron": "* * * * * *"}, PreviewConcern.DENSE),
        ({"cron": "0 9 * * *"}, PreviewConcern.HERD),
        ({"cron": "5 * * * *", "jitter": "2h"}, PreviewConcern.JITTER_CUT),
        ({"cron": "5 9 * * *", "window": {"max_runs": 3}}, PreviewConcern.ENDS),
    ],
)
def test_what_its_author_may_not_have_meant_is_pointed_out(
    spec: dict[str, object], concern: PreviewConcern
) -> None:
    assert concerns(shown(spec)) == [concern]


def test_a_hashed_minute_and_a_jitter_are_answers_to_the_herd() -> None:
    assert PreviewConcern.HERD not in concerns(shown({"cron": "H 9 * * *"}))
    assert PreviewConcern.HERD not in concerns(shown({"cron": "0 9 * * *", "jitter": "5m"}))


def test_of_a_fixed_delay_only_the_next_time_is_known() -> None:
    found = shown({"fixed_delay": "15m"}, count=10)

    assert [time.at for time in found.upcoming] == [NOW + timedelta(minutes=15)]


@pytest.mark.parametrize("count", [0, 101])
def test_a_preview_has_1_to_100_times(count: int) -> None:
    with pytest.raises(InvalidInput, match="must be 1–100"):
        shown({"cron": "0 9 * * *"}, count=count)


@pytest.mark.parametrize(
    ("spec", "spring", "autumn"),
    [
        (
            {"cron": "*/20 2 * * *"},
            "2026-03-29: 3 times from 02:00 to 02:40 do not run: the clock jumps over them",
            "2026-10-25: 3 times from 02:00 to 02:40 run twice: the clock is set back",
        ),
        (
            {"cron": "*/30 1-3 * * *"},
            "2026-03-29: 2 times from 02:00 to 02:30 do not run: the clock jumps over them",
            "2026-10-25: 2 times from 02:00 to 02:30 run twice: the clock is set back",
        ),
        (
            {"rrule": "FREQ=HOURLY;BYHOUR=2;BYMINUTE=15"},
            "2026-03-29: 02:15 does not run: the clock jumps over it",
            "2026-10-25: 02:15 runs twice: the clock is set back",
        ),
        (
            {"cron": "* * 2 * * *"},
            "2026-03-29: more than 100 times from 02:00 on do not run: the clock jumps over them",
            "2026-10-25: more than 100 times from 02:00 on run twice: the clock is set back",
        ),
    ],
)
def test_a_rule_of_some_hours_that_follows_elapsed_time_warns_about_clock_changes(
    spec: dict[str, object], spring: str, autumn: str
) -> None:
    found = shown(spec | {"timezone": "Europe/Berlin"})

    warned = [
        each.detail for each in found.warnings if each.concern is PreviewConcern.DAYLIGHT_SAVING
    ]
    assert found.follows is TimeBasis.ELAPSED_TIME
    assert warned[:2] == [spring, autumn]


@pytest.mark.parametrize(
    "spec",
    [
        {"cron": "*/20 * * * *", "timezone": "Europe/Berlin"},
        {"cron": "0 * * * *", "timezone": "Europe/Berlin"},
        {"cron": "*/20 2 * * *"},
        {"cron": "*/20 12 * * *", "timezone": "Europe/Berlin"},
        {"cron": "*/20 2 * 7 *", "timezone": "Europe/Berlin"},
        {"every": "1h", "timezone": "Europe/Berlin"},
        {"rrule": "FREQ=MINUTELY;INTERVAL=20", "timezone": "Europe/Berlin"},
        {
            "cron": "*/20 2 * * *",
            "timezone": "Europe/Berlin",
            "window": {"end": "2026-03-28T12:00:00Z"},
        },
    ],
)
def test_a_clock_change_that_takes_no_time_away_is_no_warning(spec: dict[str, object]) -> None:
    assert PreviewConcern.DAYLIGHT_SAVING not in concerns(shown(spec))


def test_a_preview_ends_with_what_it_has_where_a_calendar_leaves_nothing() -> None:
    """For more than 8 years each 29 February is in a weekend, or there is none."""
    calendar = read_calendar(
        {"name": "weekend", "weekly": [{"start": "fri 18:00", "end": "mon 06:00"}]}
    )
    made = read_schedule(
        {"cron": "15 2 29 2 *", "timezone": "America/Nuuk", "calendars": ["weekend"]},
        now=NOW,
        seed="acme/x",
    )

    few, many = (
        preview_schedule(made, NOW, calendars={"weekend": calendar}, count=n) for n in (5, 100)
    )

    assert len(few.upcoming) == 5
    assert few.upcoming == many.upcoming[:5]
    assert 20 <= len(many.upcoming) < 100
    assert PreviewConcern.ENDS in concerns(many)


def test_a_preview_without_any_free_time_is_refused() -> None:
    calendar = read_calendar(
        {
            "name": "always",
            "weekly": [
                {"start": "mon 00:00", "end": "sun 00:00"},
                {"start": "sun 00:00", "end": "mon 00:00"},
            ],
        }
    )
    made = read_schedule({"cron": "0 9 * * *", "calendars": ["always"]}, now=NOW, seed="acme/x")

    with pytest.raises(InvalidInput, match="leave time free"):
        preview_schedule(made, NOW, calendars={"always": calendar})
