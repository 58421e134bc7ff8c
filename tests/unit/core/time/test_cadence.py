"""How close together the ticks of a schedule come (T1)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rota.contract.schedule import read_schedule
from rota.core.time.cadence import find_shortest_period

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


@pytest.mark.parametrize(
    ("schedule", "shortest"),
    [
        ({"cron": "*/5 * * * *"}, 5 * MINUTE),
        ({"cron": "* * * * * *"}, SECOND),
        # Dense for a minute of the night only.
        ({"cron": "*/20 30 3 * * *"}, 20 * SECOND),
        ({"cron": "0,7 9 * * *"}, 7 * MINUTE),
        # The second rule is dense half a year from now, behind many ticks of the first.
        ({"cron": ["0 0 * * *", "* 1 31 12 *"]}, MINUTE),
        # Neither rule is dense; together they are.
        ({"cron": ["0 9 * * *", "2 9 * * *"]}, 2 * MINUTE),
        ({"every": "90s"}, 90 * SECOND),
        ({"fixed_delay": "15s"}, 15 * SECOND),
        ({"rrule": "FREQ=DAILY;BYHOUR=9,10"}, 60 * MINUTE),
        ({"at": "2027-01-01T00:00:00Z"}, None),
        ({"immediate": True}, None),
        # Only one tick fits into its window.
        ({"cron": "0 * * * *", "window": {"end": "2026-07-01T13:30:00Z"}}, None),
    ],
)
def test_the_shortest_period_is_found(schedule: dict[str, Any], shortest: timedelta | None) -> None:
    assert find_shortest_period(read_schedule(schedule, now=NOW), NOW) == shortest
