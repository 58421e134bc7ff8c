"""Lengths of time as people write them (S3, S5, S6, S10)."""

from datetime import timedelta

import pytest

from rota.core.errors import InvalidInput, InvalidSchedule
from rota.core.time import durations


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("15m", 900),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2d", 172_800),
        ("1w", 604_800),
        ("1w2d3h4m5s", 788_645),
        ("500ms", 0.5),
        ("1.5s", 1.5),
        ("0s", 0),
        ("PT15M", 900),
        ("P1DT2H", 93_600),
        ("P2W", 1_209_600),
        ("PT0.25S", 0.25),
        ("PT90M", 5400),
    ],
)
def test_both_spellings_are_read(text: str, seconds: float) -> None:
    assert durations.parse(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "P",
        "PT",
        "P1DT",
        "5",
        "-5s",
        "5x",
        "1m1h",
        "P1M",
        "P1Y",
        "1.5h",
        "s",
        "٣s",
        "9" * 70,
    ],
)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput, match="a duration such as 90s"):
        durations.parse(text)


@pytest.mark.parametrize("value", [90, 1.5, True, None, ["90s"]])
def test_a_number_alone_is_refused_because_it_has_no_unit(value: object) -> None:
    with pytest.raises(InvalidInput, match="a number alone has no unit"):
        durations.parse(value)


def test_bounds_are_said_in_words_and_the_error_is_the_callers() -> None:
    with pytest.raises(
        InvalidSchedule, match=r"every: '999ms' is invalid: must be at least 1 second"
    ):
        durations.parse("999ms", field="every", minimum=timedelta(seconds=1), error=InvalidSchedule)
    with pytest.raises(InvalidInput, match="at most 3653 days"):
        durations.parse("3654d")


def test_a_number_too_large_for_a_date_is_too_long_and_not_a_crash() -> None:
    with pytest.raises(InvalidInput, match="at most"):
        durations.parse("999999999999w")


@pytest.mark.parametrize(
    ("seconds", "iso", "words"),
    [
        (0, "PT0S", "0 seconds"),
        (1, "PT1S", "1 second"),
        (900, "PT15M", "15 minutes"),
        (5400, "PT1H30M", "1 hour 30 minutes"),
        (86_400, "P1D", "1 day"),
        (93_600, "P1DT2H", "1 day 2 hours"),
        (2.5, "PT2.5S", "2.5 seconds"),
    ],
)
def test_one_spelling_for_machines_and_one_for_people(seconds: float, iso: str, words: str) -> None:
    length = timedelta(seconds=seconds)

    assert durations.to_iso(length) == iso
    assert durations.to_words(length) == words
    assert durations.parse(iso) == length
