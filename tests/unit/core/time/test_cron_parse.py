"""What is read, what it means, and what is refused with which words (S4; F11)."""

from datetime import UTC, datetime
from itertools import islice

import pytest

from rota.core.errors import InvalidSchedule
from rota.core.time import cron, zones
from rota.core.time.cron import Cron, DayMatch

START = datetime(2026, 1, 1, tzinfo=UTC)


def values(text: str) -> dict[str, tuple[int, ...]]:
    expression = cron.parse_cron(text)
    fields = (expression.second, expression.minute, expression.hour, expression.month)
    return {value.field.name: value.values for value in fields}


def next_days(expression: Cron, count: int, start: datetime = START) -> list[str]:
    ticks = cron.iterate_ticks(expression, zones.get_zone("UTC"), start)
    return [f"{tick.local:%Y-%m-%d}" for tick in islice(ticks, count)]


def days_of(text: str, day_match: DayMatch = DayMatch.ANY, *, month: int = 1) -> list[int]:
    """The days of a month of 2026 on which an expression without a time fires."""
    expression = cron.parse_cron(f"0 0 {text}", day_match=day_match)
    start = datetime(2025, 12, 31, 23, tzinfo=UTC)
    days = next_days(expression, 366, start)
    return [int(day[8:]) for day in days if day.startswith(f"2026-{month:02}")]


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("*/20 * * * *", "minute", (0, 20, 40)),
        ("5/20 * * * *", "minute", (5, 25, 45)),
        ("10-20/5 * * * *", "minute", (10, 15, 20)),
        ("1,5-7 * * * *", "minute", (1, 5, 6, 7)),
        ("*/60 * * * *", "minute", (0,)),
        ("0 22-2 * * *", "hour", (0, 1, 2, 22, 23)),
        ("0 22-4/2 * * *", "hour", (0, 2, 4, 22)),
        ("0 0 1 nov-feb *", "month", (1, 2, 11, 12)),
        ("0 0 1 NOV-FEB/2 *", "month", (1, 11)),
        ("0 0 1 jan,Jul *", "month", (1, 7)),
        ("0 0 ? * ?", "hour", (0,)),
        ("30 0 9 * * *", "second", (30,)),
        ("0 9 * * *", "second", (0,)),
        ("*/15 0 9 * * *", "second", (0, 15, 30, 45)),
    ],
)
def test_a_field_names_these_values(text: str, field: str, expected: tuple[int, ...]) -> None:
    assert values(text)[field] == expected


# January 2026 begins on a Thursday and has Sundays on the 4th, 11th, 18th and 25th.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L * *", [31]),
        ("LW * *", [30]),
        ("L-3 * *", [28]),
        ("L-30 * *", [1]),
        ("L-1,L * *", [30, 31]),
        ("15W * *", [15]),
        ("3W * *", [2]),
        ("4W * *", [5]),
        ("31W * *", [30]),
        ("1W,15W * *", [1, 15]),
        ("* * 0", [4, 11, 18, 25]),
        ("* * 7", [4, 11, 18, 25]),
        ("* * FRI-MON/3", [2, 5, 9, 12, 16, 19, 23, 26, 30]),
        ("* * 6-7", [3, 4, 10, 11, 17, 18, 24, 25, 31]),
        ("* * 7-1", [4, 5, 11, 12, 18, 19, 25, 26]),
        ("* * 5L", [30]),
        ("* * fril", [30]),
        ("* * 5#3", [16]),
        ("* * FRI#5", [30]),
        ("* * MON#5", []),
        ("* * MON#1,FRI#1", [2, 5]),
        ("* * 1/2", [2, 5, 7, 9, 12, 14, 16, 19, 21, 23, 26, 28, 30]),
        ("10-12 * *", [10, 11, 12]),
    ],
)
def test_a_day_field_names_these_days(text: str, expected: list[int]) -> None:
    assert days_of(text) == expected


def test_the_nearest_weekday_stays_in_its_month() -> None:
    # 1 August 2026 is a Saturday, 31 May 2026 a Sunday.
    assert days_of("1W * *", month=8) == [3]
    assert days_of("31W * *", month=5) == [29]


def test_a_weekday_nearest_to_a_day_that_a_month_lacks_does_not_exist() -> None:
    assert days_of("31W * *", month=4) == []
    assert days_of("29W * *", month=2) == []


def test_two_restricted_day_fields_are_alternatives() -> None:
    assert days_of("13 * FRI") == [2, 9, 13, 16, 23, 30]


def test_two_restricted_day_fields_must_both_match_when_asked() -> None:
    assert days_of("13 * FRI", DayMatch.ALL) == []
    assert days_of("13 * FRI", DayMatch.ALL, month=2) == [13]


def test_a_day_field_that_begins_with_a_star_does_not_restrict() -> None:
    # As in crontab(5): odd days that are Mondays, not odd days and Mondays.
    assert days_of("*/2 * MON") == [5, 19]
    assert days_of("1-31/2 * MON") == [
        1,
        3,
        5,
        7,
        9,
        11,
        12,
        13,
        15,
        17,
        19,
        21,
        23,
        25,
        26,
        27,
        29,
        31,
    ]


@pytest.mark.parametrize(("alias", "spelled"), cron.CRON_ALIASES.items())
def test_an_alias_means_what_it_is_spelled(alias: str, spelled: str) -> None:
    named, plain = cron.parse_cron(alias.title()), cron.parse_cron(spelled)

    assert named.text == alias.title()
    assert next_days(named, 3) == next_days(plain, 3)
    assert named.describe() == plain.describe()


def test_years_end() -> None:
    expression = cron.parse_cron("0 0 0 1 1 * 2027,2029")

    assert next_days(expression, 5) == ["2027-01-01", "2029-01-01"]


def test_a_leap_day_waits_for_its_year() -> None:
    assert next_days(cron.parse_cron("0 0 29 2 *"), 3) == ["2028-02-29", "2032-02-29", "2036-02-29"]
    century = datetime(2096, 3, 1, tzinfo=UTC)
    assert next_days(cron.parse_cron("0 0 29 2 *"), 1, century) == ["2104-02-29"]
    assert cron.fires_within(cron.parse_cron("0 0 29 2 *"), zones.get_zone("UTC"), century)


def test_a_leap_day_that_is_also_a_fifth_monday_is_found_decades_away() -> None:
    expression = cron.parse_cron("0 0 29 2 MON#5", day_match=DayMatch.ALL)

    assert next_days(expression, 2) == ["2044-02-29", "2072-02-29"]
    assert not cron.fires_within(expression, zones.get_zone("UTC"), START)


def test_the_year_rolls_over() -> None:
    new_years_eve = datetime(2026, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)

    tick = cron.find_next_tick(cron.parse_cron("* * * * * *"), zones.get_zone("UTC"), new_years_eve)

    assert tick is not None
    assert tick.at == datetime(2027, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("after", "expected"), [("09:00", 10), ("08:59:59.999999", 9)])
def test_the_next_tick_is_later_than_the_start_and_never_equal(after: str, expected: int) -> None:
    start = datetime.fromisoformat(f"2026-01-01T{after}+00:00")

    tick = cron.find_next_tick(cron.parse_cron("0 * * * *"), zones.get_zone("UTC"), start)

    assert tick is not None
    assert tick.at.hour == expected


@pytest.mark.parametrize(
    ("year", "expected"), [(1, "1970-01-02"), (1969, "1970-01-02"), (9997, None), (9999, None)]
)
def test_time_has_ends_and_both_are_quiet(year: int, expected: str | None) -> None:
    start = datetime(year, 12, 31, 12, tzinfo=UTC)

    tick = cron.find_next_tick(
        cron.parse_cron("0 0 2 * *"), zones.get_zone("Pacific/Kiritimati"), start
    )

    assert (tick and f"{tick.local:%Y-%m-%d}") == expected


@pytest.mark.parametrize("prefix", ["CRON_TZ=", "TZ="])
def test_a_zone_in_front_is_taken_off(prefix: str) -> None:
    expression = cron.parse_cron(f"{prefix}America/New_York   0 9 * * *")

    assert expression.timezone == "America/New_York"
    assert expression.text == "0 9 * * *"
    assert cron.parse_cron("0 9 * * *").timezone is None


def test_an_unknown_zone_in_front_is_refused_as_a_zone() -> None:
    with pytest.raises(InvalidSchedule) as refused:
        cron.parse_cron("CRON_TZ=Mars/Olympus 0 9 * * *")

    assert refused.value.field == "timezone"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "5 fields"),
        ("* * * *", "(got 4)"),
        ("* * * * * * * *", "(got 8)"),
        ("60 * * * *", "minute must be 0–59 (got 60)"),
        ("* 24 * * *", "hour must be 0–23 (got 24)"),
        ("* * 0 * *", "day-of-month must be 1–31 (got 0)"),
        ("* * * 13 *", "month must be 1–12 or JAN–DEC (got 13)"),
        ("* * * * 8", "day-of-week must be 0–7 or SUN–SAT (got 8)"),
        ("* * * * MONDAY", "SUN–SAT"),
        ("* * * * * * 1969", "year must be 1970–2199 (got 1969)"),
        ("1,,2 * * * *", "minute must be 0–59 (got '')"),
        ("x * * * *", "minute must be 0–59 (got 'X')"),
        ("-5 * * * *", "minute must be 0–59 (got '-5')"),
        ("1-2-3 * * * *", "minute must be 0–59 (got '1-2-3')"),
        ("50-10 * * * *", "to wrap around, write 50-59,0-10"),
        ("* * 25-5 * *", "to wrap around, write 25-31,1-5"),
        ("*/0 * * * *", "minute step must be a whole number of at least 1"),
        ("*/x * * * *", "minute step must be a whole number of at least 1"),
        ("*/ * * * *", "minute step must be a whole number of at least 1"),
        ("*/90 * * * *", "for every 90 minutes use @every 90m"),
        ("0 */48 * * *", "for every 48 hours use @every 48h"),
        (
            "10-20/15 * * * *",
            "must be at most 11, the number of values in its range (got '10-20/15')",
        ),
        ("50/15 * * * *", "write the first value alone"),
        ("* * */40 * *", "write the first value alone"),
        ("* * L-31 * *", "must be L, LW, L-1 to L-30, or 1W to 31W"),
        ("* * 32W * *", "must be L, LW, L-1 to L-30, or 1W to 31W"),
        ("* * 1-5W * *", "must be L, LW"),
        ("* * * * L", "as in FRIL"),
        ("* * * * 5#6", "a number from 1 to 5 after #"),
        ("* * * * 5#", "a number from 1 to 5 after #"),
        ("* * * * MON-FRI#2", "day-of-week must be 0–7 or SUN–SAT (got 'MON-FRI#2')"),
        ("H(30-10) * * * *", "must be H(low-high) with an ascending range"),
        ("H(5) * * * *", "must be H, H/15, H(0-29) or H(0-29)/10"),
        ("H(0-29 * * * *", "must be H, H/15, H(0-29) or H(0-29)/10"),
        ("H(0-60) * * * *", "minute must be 0–59 (got 'H(0-60)')"),
        ("H5 * * * *", "must be H, H/15, H(0-29) or H(0-29)/10"),
        ("0 0 0 1 1 * H", "year does not support H"),
        ("0 0 30 2 *", "never fire"),
        ("0 0 31 4,6,9,11 *", "never fire"),
        ("0 0 0 29 2 * 2027", "never fire"),
        ("@reboot", "@reboot is not supported"),
        ("@every 90s", "@every is an interval"),
        ("@at 2030-01-01T00:00:00Z", "@at is a single time"),
        ("@dayly", "@daily"),
        ("0 0 * * ५", "ASCII"),
        ("0 " * 200, "at most 256 characters"),
        (",".join(["1"] * 65) + " * * * *", "at most 64 comma-separated parts"),
        ("9" * 200 + " * * * *", "minute must be 0–59"),
    ],
)
def test_what_has_no_meaning_is_refused_with_the_place_and_what_is_right(
    text: str, wanted: str
) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        cron.parse_cron(text)

    assert refused.value.field == "cron"
    assert refused.value.value == text
    assert wanted in refused.value.wanted


def test_a_fifth_monday_on_the_first_is_known_to_be_impossible() -> None:
    with pytest.raises(InvalidSchedule, match="never fire"):
        cron.parse_cron("0 0 1-28 * MON#5", day_match=DayMatch.ALL)


def test_an_unknown_way_to_match_days_is_refused() -> None:
    with pytest.raises(InvalidSchedule) as refused:
        cron.parse_cron("0 0 * * *", day_match="some")  # type: ignore[arg-type]

    assert (refused.value.field, refused.value.wanted) == ("day_match", "expected any or all")


def test_the_longest_list_is_read() -> None:
    expression = cron.parse_cron(",".join(["1"] * 64) + " * * * *")

    assert expression.minute.values == (1,)


def test_only_an_h_tells_seeds_apart() -> None:
    assert cron.parse_cron("0 9 * * *", seed="a") is cron.parse_cron("0 9 * * *", seed="b")
    assert cron.parse_cron("h * * * *", seed="a") is not cron.parse_cron("h * * * *", seed="b")


def test_reading_twice_gives_the_same_value() -> None:
    assert cron.parse_cron("0 9 * * *") is cron.parse_cron("0 9 * * *")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("0 0 */100,1-7 * MON", "write MON#1 as day-of-week"),
        ("0 0 */100,8-14 * 2", "write TUE#2 as day-of-week"),
        ("0 0 */100,22-28 * sun", "write SUN#4 as day-of-week"),
    ],
)
def test_the_trick_for_the_nth_weekday_is_refused_with_the_word_for_it(
    text: str, hint: str
) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        cron.parse_cron(text)

    assert hint in refused.value.wanted


def test_a_step_that_is_too_long_for_days_names_no_weekday_that_is_not_there() -> None:
    with pytest.raises(InvalidSchedule) as refused:
        cron.parse_cron("0 0 */100,1-7 * *")

    assert "#" not in refused.value.wanted
