"""Times on the terminal, and what people type for them (I4)."""

from datetime import UTC, datetime, timedelta

import pytest

from rota.cli import times
from rota.core.errors import InvalidInput
from rota.core.time import moments

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0s"),
        (0.9, "0s"),
        (59, "59s"),
        (60, "1m"),
        (61, "1m1s"),
        (600, "10m"),
        (659, "10m"),
        (7800, "2h10m"),
        (86_400, "1d"),
        (90_000, "1d1h"),
        (86_400 * 30, "30d"),
        (-5, "0s"),
    ],
)
def test_lengths_are_short(seconds: float, said: str) -> None:
    assert times.format_length(timedelta(seconds=seconds)) == said


def test_times_are_seen_from_now() -> None:
    assert times.format_relative("2026-07-01T11:57:00Z", NOON) == "3m ago"
    assert times.format_relative(NOON + timedelta(seconds=90), NOON) == "in 1m30s"
    assert times.format_relative(None, NOON) == ""
    assert times.format_time(NOON, NOON) == "2026-07-01T12:00:00Z (0s ago)"


@pytest.mark.parametrize(
    ("seconds", "said"), [(None, ""), (0.0123, "12ms"), (1.25, "1.2s"), (75, "1m15s")]
)
def test_durations_have_the_digits_that_matter(seconds: float | None, said: str) -> None:
    assert times.format_seconds(seconds) == said


def test_a_time_may_be_typed_as_how_long_ago_or_as_itself() -> None:
    hour_ago = times.parse_time("1h", field="--since")
    assert hour_ago is not None
    passed = times.now() - moments.parse(hour_ago)

    assert timedelta(hours=1) <= passed < timedelta(hours=1, minutes=1)
    assert times.parse_time("2026-07-01T14:00:00+02:00", field="x") == "2026-07-01T12:00:00Z"
    assert times.parse_time(None, field="x") is None
    with pytest.raises(InvalidInput, match="--since: 'yesterday' is invalid"):
        times.parse_time("yesterday", field="--since")
