"""What is said about a job is checked where it is said (I3)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rota.core.errors import InvalidInput
from rota.sdk.app import declaration

LATER = datetime(2031, 1, 1, 9, tzinfo=UTC)


def test_nothing_said_is_no_schedule() -> None:
    declared = declaration.read_declaration({})

    assert (declared.schedule, dict(declared.options)) == (None, {})


def test_a_child_process_cannot_be_exactly_once() -> None:
    with pytest.raises(InvalidInput, match="child process has no connection"):
        declaration.read_declaration({"isolation": "process", "guarantee": "exactly_once"})


@pytest.mark.parametrize(
    ("given", "schedule"),
    [
        (
            {"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"},
            {"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"},
        ),
        ({"every": timedelta(minutes=90)}, {"every": "PT1H30M"}),
        ({"every": "10m"}, {"every": "10m"}),
        ({"at": LATER}, {"at": "2031-01-01T09:00:00Z"}),
        ({"after": "10m"}, {"after": "10m"}),
        ({"rrule": "FREQ=DAILY;BYHOUR=9"}, {"rrule": "FREQ=DAILY;BYHOUR=9"}),
        (
            {"schedule": {"cron": "0 2 * * *", "jitter": timedelta(minutes=5)}},
            {"cron": "0 2 * * *", "jitter": "PT5M"},
        ),
    ],
)
def test_each_way_to_say_when_becomes_a_schedule(
    given: dict[str, Any], schedule: dict[str, Any]
) -> None:
    assert declaration.read_declaration(given).schedule == schedule


def test_durations_may_be_timedeltas_and_options_are_as_json_has_them() -> None:
    declared = declaration.read_declaration(
        {
            "timeout": timedelta(minutes=10),
            "retries": {"max": 2, "delays": [timedelta(seconds=1), "5s"]},
            "limits": ({"key": "customer:{args.id}", "max": 1},),
            "queue": None,
        }
    )

    assert declared.options == {
        "timeout": "PT10M",
        "retries": {"max": 2, "delays": ["PT1S", "5s"]},
        "limits": [{"key": "customer:{args.id}", "max": 1}],
    }


@pytest.mark.parametrize(
    ("given", "field", "wanted"),
    [
        ({"cron": "61 * * * *"}, "schedule.cron", "0"),
        ({"cron": "0 9 * * *", "timezone": "Europe/Bärlin"}, "schedule.timezone", ""),
        ({"every": "soon"}, "schedule.every", "duration"),
        ({"every": 5}, "every", "no unit"),
        ({"at": datetime(2031, 1, 1)}, "at", "offset"),  # noqa: DTZ001 — that is the mistake
        ({"timezone": "Europe/Berlin"}, "timezone", "a schedule"),
        ({"cron": "0 9 * * *", "schedule": {"every": "5m"}}, "cron", "move cron into `schedule`"),
        ({"schedule": {"immediate": True}}, "schedule.immediate", "submit"),
        ({"args": {"a": 1}}, "args", "a schedule"),
        ({"timeout": "forever"}, "timeout", "duration"),
        ({"retries": -1}, "", ""),
        ({"retries": {"most": 3}}, "", ""),
        ({"priority": "urgent"}, "priority", "one of high"),
        ({"overlap": "wait"}, "overlap", "queue_one"),
        ({"when_queue_paused": "wait"}, "when_queue_paused", "skip, accumulate"),
        ({"guarantee": "maybe"}, "guarantee", ""),
        ({"target": "two words"}, "target", "such as payments"),
        ({"labels": {"a": ""}}, "labels.a", "characters"),
        ({"queue": ""}, "queue", "characters"),
        ({"kind": "a\nb"}, "kind", "control characters"),
        ({"retires": 3}, "retires", "did you mean retries?"),
        ({"crontab": "* * * * *"}, "crontab", "did you mean cron?"),
    ],
)
def test_what_is_wrong_is_refused_with_its_name(
    given: dict[str, Any], field: str, wanted: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        declaration.read_declaration(given)

    assert refused.value.field.startswith(field)
    assert wanted in refused.value.wanted
