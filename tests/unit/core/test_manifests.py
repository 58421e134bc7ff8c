"""What a file declares, held against what is there: pure comparisons (I6)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rota.contract.declared_schedule import resolve_declared_schedule
from rota.contract.schedule import read_schedule, write_schedule
from rota.core.errors import InvalidInput
from rota.core.manifest.declaration import ManifestJob, build_manifest
from rota.core.manifest.differences import find_differences, is_same_json
from rota.core.manifest.timetable import find_existing_starts, find_next_starts
from rota.core.submissions import JobSpec

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=3, minutes=7)


def schedule(**rules: Any) -> Any:
    return read_schedule(rules, now=NOW, seed="job")


@pytest.mark.parametrize(
    ("left", "right", "is_same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (False, 0, False),
        (None, False, False),
        ([1, True], [1, 1], False),
        ({"a": [1, {"b": 1.0}]}, {"a": [1.0, {"b": 1}]}, True),
        ([1], [1, 2], False),
        ({"a": None}, {}, False),
    ],
)
def test_values_are_the_same_if_json_says_so(left: Any, right: Any, is_same: bool) -> None:
    assert is_same_json(left, right) is is_same
    assert is_same_json(right, left) is is_same


def test_objects_differ_by_field_and_lists_as_a_whole() -> None:
    before = {"a": {"b": 1, "gone": 2}, "l": [1, 2], "same": {"x": 1}}
    after = {"a": {"b": 2, "new": 3}, "l": [2], "same": {"x": 1}}

    assert list(find_differences(before, after)) == [
        ("a.b", 1, 2),
        ("a.gone", 2, None),
        ("a.new", None, 3),
        ("l", [1, 2], [2]),
    ]


@pytest.mark.parametrize(
    "rules",
    [
        {"every": "15m"},
        {"every": ["15m", "1h"], "cron": "0 1 * * *"},
        {"cron": "@every 90s"},
        {"fixed_delay": "10m"},
        {"rrule": "FREQ=DAILY;BYHOUR=9", "timezone": "America/New_York"},
        {"rrule": "FREQ=HOURLY", "window": {"start": "2026-07-05T00:00:00Z"}},
        {"at": "2026-07-02T00:00:00Z"},
        {"on_demand": True},
    ],
)
def test_what_is_declared_again_is_what_the_job_has(rules: dict[str, Any]) -> None:
    has = schedule(**rules)

    assert resolve_declared_schedule(rules, has, seed="job", now=LATER) is has


def test_another_length_counts_anew_from_now() -> None:
    found = resolve_declared_schedule(
        {"every": "20m"}, schedule(every="15m"), seed="job", now=LATER
    )

    assert write_schedule(found)["every"] == {"interval": "PT20M", "anchor": "2026-07-04T12:07:00Z"}


def test_nothing_declared_is_on_demand() -> None:
    assert not resolve_declared_schedule(None, None, seed="", now=NOW).has_ticks
    assert not resolve_declared_schedule(
        None, schedule(cron="0 1 * * *"), seed="", now=NOW
    ).has_ticks


def test_the_next_runs_of_a_capped_job_that_ran_already_are_not_made_up() -> None:
    capped = schedule(cron="0 1 * * *", window={"max_runs": 9})

    assert len(find_next_starts(capped, NOW, calendars={}, is_new=True)) == 3
    assert len(find_next_starts(capped, NOW, calendars={}, is_new=False)) == 1
    assert find_existing_starts(capped, None, calendars={}) == ()


def test_a_manifest_gives_its_jobs_their_project_and_refuses_what_is_not_steady() -> None:
    found = build_manifest("p", [ManifestJob(spec=JobSpec(name="a", kind="k", labels={"x": "y"}))])
    assert found.jobs[0].spec.labels == {"x": "y", "rota.project": "p"}

    for rule in ({"immediate": True}, {"after": "5m"}):
        with pytest.raises(InvalidInput, match=r"jobs\[0\]\.schedule"):
            build_manifest("p", [ManifestJob(spec=JobSpec(name="a", kind="k", schedule=rule))])
