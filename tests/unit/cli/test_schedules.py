"""Schedules on the terminal: all their rules, and the times that clocks will show."""

import json
from types import SimpleNamespace

import pytest

from rota.cli.commands.next_times import NextOutputOptions, next_times
from rota.cli.schedules import summarize_rules


def job(zone: str | None = "UTC", kind: str = "CRON", **schedule: object) -> SimpleNamespace:
    return SimpleNamespace(schedule=schedule or None, timezone=zone, schedule_type=kind)


def test_a_time_in_a_gap_is_shown_as_the_clock_will_show_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """S12: 02:30 does not come on that day; what fires at 01:00Z fires at 03:00 local time."""
    next_times("30 2 * * *", tz="Europe/Berlin", after="2026-03-28T00:00:00Z", count=2)

    rows = capsys.readouterr().out.splitlines()[3:5]
    assert rows[0].startswith("2026-03-28 02:30:00 +01:00  2026-03-28T01:30:00Z")
    assert rows[1].startswith("2026-03-29 03:00:00 +02:00  2026-03-29T01:00:00Z")
    assert "moved from 02:30" in rows[1]


def test_both_hours_of_an_overlap_are_told_apart_by_their_offsets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    schedule = json.dumps(
        {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "dst": {"overlap": "both"}}
    )

    next_times(
        schedule,
        after="2026-10-24T12:00:00Z",
        count=2,
        output_options=NextOutputOptions(as_json=True),
    )

    shown = json.loads(capsys.readouterr().out)["upcoming"]
    assert [each["local"] for each in shown] == [
        "2026-10-25T02:30:00+02:00",
        "2026-10-25T02:30:00+01:00",
    ]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (job(cron="0 9 * * *"), "0 9 * * *"),
        (
            job(
                "Europe/Berlin",
                "MIXED",
                cron=["0 9 * * *", "0 18 * * *"],
                every={"interval": "PT4M", "anchor": "2026-01-01T00:00:00Z"},
            ),
            "0 9 * * * + 0 18 * * * + every 4 minutes Europe/Berlin",
        ),
        (job(fixed_delay={"delay": "PT1H", "anchor": "x"}), "fixed_delay 1 hour"),
        (job(None, "ON_DEMAND"), "on demand"),
    ],
    ids=["one", "combined", "delay", "none"],
)
def test_a_schedule_is_told_with_all_its_rules(given: SimpleNamespace, told: str) -> None:
    assert summarize_rules(given) == told
