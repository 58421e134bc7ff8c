"""What an edit writes into the audit log (issue 7: versions of a job)."""

from typing import Any

import msgspec

from rota.api.job_differences import compare_jobs, group_differences
from rota.api.schemas.jobs import JobView
from rota.core.manifest.differences import Difference


def view(**given: Any) -> JobView:
    known: dict[str, Any] = {
        "job_id": "job_1",
        "name": "nightly",
        "kind": "report",
        "schedule_type": "CRON",
        "cron_expression": "0 * * * *",
        "schedule_time": None,
        "schedule": {"cron": "0 * * * *"},
        "timezone": "UTC",
        "status": "active",
        "payload": {"password": "hunter2"},
        "graph": None,
        "max_retries": 3,
        "retries": {"max": 3},
        "timeout": "PT15M",
        "deadline": None,
        "grace": "PT10S",
        "guarantee": "at_least_once",
        "target": None,
        "queue": "default",
        "priority": 5,
        "overlap": "skip",
        "keep_first": False,
        "when_queue_paused": "skip",
        "limits": [],
        "labels": {},
        "user_id": None,
        "description": None,
        "expect": None,
        "alert": None,
        "held": None,
        "next_run_at": None,
        "version": 1,
        "created_at": "2026-07-01T00:00:00Z",
        "updated_at": "2026-07-01T00:00:00Z",
    }
    return msgspec.convert(known | given, JobView)


def test_values_are_told_before_and_after_by_the_names_of_the_api() -> None:
    new = view(schedule={"cron": "5 * * * *"}, cron_expression="5 * * * *", queue="slow", version=2)

    found = compare_jobs(view(), new)

    assert found.before == {"schedule": {"cron": "0 * * * *"}, "queue": "default"}
    assert found.after == {
        "changed": ["schedule", "queue"],
        "version": 2,
        "schedule": {"cron": "5 * * * *"},
        "queue": "slow",
    }


def test_of_a_payload_only_that_it_changed_is_kept() -> None:
    found = compare_jobs(view(), view(payload={}, version=2))

    assert found.after == {"changed": ["payload"], "version": 2}
    assert "hunter2" not in str(found)


def test_what_is_long_is_named_and_not_kept() -> None:
    found = compare_jobs(view(), view(labels={"a": "b" * 5_000}, version=2))

    assert found.after == {"changed": ["labels"], "version": 2}
    assert found.before == {}


def test_what_rota_notes_in_labels_is_no_change_of_theirs() -> None:
    found = compare_jobs(view(), view(version=2, labels={"rota.declared": "1.2"}))

    assert found.after == {"changed": [], "version": 2}


def test_differences_by_path_become_fields_with_only_what_differs_inside() -> None:
    found = group_differences(
        [
            Difference("retries.max", 3, 1),
            Difference("labels.rota.project", None, "shop"),
            Difference("queue", "default", "slow"),
        ]
    )

    assert found == {
        "retries": ({"max": 3}, {"max": 1}),
        "labels": ({"rota.project": None}, {"rota.project": "shop"}),
        "queue": ("default", "slow"),
    }
