"""Instants as text (S2)."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from rota.core.errors import InvalidInput
from rota.core.time import moments


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2030-01-31T09:00:00Z", datetime(2030, 1, 31, 9, tzinfo=UTC)),
        ("2030-01-31t09:00:00z", datetime(2030, 1, 31, 9, tzinfo=UTC)),
        ("2030-01-31 09:00+02:00", datetime(2030, 1, 31, 7, tzinfo=UTC)),
        ("2030-01-31T09:00:00.25-00:30", datetime(2030, 1, 31, 9, 30, 0, 250_000, tzinfo=UTC)),
    ],
)
def test_rfc_3339_is_read_into_utc(text: str, instant: datetime) -> None:
    assert moments.parse(text) == instant
    assert moments.parse(text).tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    ["2030-01-31T09:00:00", "2030-01-31", "tomorrow", "", 1_900_000_000, None, "2030-02-30T00:00Z"],
)
def test_what_means_another_instant_elsewhere_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="expected an instant with an offset"):
        moments.parse(value)


@pytest.mark.parametrize("text", ["1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z"])
def test_years_that_arithmetic_could_leave_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="year must be 1970–9899"):
        moments.parse(text)


def test_an_aware_datetime_is_taken_and_a_naive_one_is_not() -> None:
    east = timezone(timedelta(hours=2))

    assert moments.to_rfc3339(moments.parse(datetime(2030, 1, 1, 2, tzinfo=east))) == (
        "2030-01-01T00:00:00Z"
    )
    with pytest.raises(InvalidInput):
        moments.parse(datetime(2030, 1, 1, 2))  # noqa: DTZ001
