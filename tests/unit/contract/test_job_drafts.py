"""The fields of a job, from a request or a program, become what is written."""

from datetime import date, timedelta
from typing import Any, get_args
from uuid import UUID

import msgspec
import pytest

from rota.contract.bulk_drafts import build_variants
from rota.contract.job import GuaranteeName, JobDraft, OverlapName, PausedQueueName
from rota.contract.job_drafts import build_spec, read_draft, read_drafts
from rota.core.errors import InvalidInput
from rota.core.outcome import Guarantee
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.submissions import JobSpec

GOOD: list[dict[str, Any]] = [
    {"name": "a"},
    {"kind": "k"},
    {"job_type": "k", "name": "a"},
    {"kind": "k", "job_type": "k"},
    {"kind": "k", "schedule": {}},
    {"kind": "k", "schedule": {"cron": "0 9 * * *", "timezone": "Europe/Berlin"}},
    {
        "kind": "k",
        "schedule_type": "CRON",
        "cron_expression": "0 9 * * *",
        "timezone": "Asia/Tokyo",
    },
    {"kind": "k", "schedule_time": "2030-01-01T00:00:00Z"},
    {"kind": "k", "schedule_type": "IMMEDIATE"},
    {"kind": "k", "schedule_type": "ON_DEMAND"},
    {"kind": "k", "schedule_type": "INTERVAL", "schedule": {"every": "10m"}},
    {"kind": "k", "max_retries": 7},
    {"kind": "k", "retries": 0},
    {"kind": "k", "retries": {"max": 2, "kind": "constant", "base": "3s", "jitter": "none"}},
    {"kind": "k", "retries": {"base": "3s"}, "max_retries": 4},
    {"kind": "k", "timeout": "1m", "deadline": "2h", "grace": "1s", "guarantee": "at_most_once"},
    {"kind": "k", "target": "payments"},
    {"kind": "k", "queue": "q", "priority": "high", "overlap": "queue_one", "keep_first": True},
    {"kind": "k", "when_queue_paused": "accumulate"},
    {
        "kind": "k",
        "limits": [{"key": "a", "max": 2}, {"key": "b", "rate": {"count": 3, "per": "1m"}}],
    },
    {"kind": "k", "labels": {"a": "b"}, "user_id": "u", "payload": {"x": [1, None]}},
    {"kind": "k", "unique": {"key": "a:{args.id}", "while": "queued", "within": "1h"}},
]
BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "name: required, or give `kind`"),
    ({"kind": "k", "job_type": "other"}, "job_type: 'other'"),
    ({"kind": "k", "schedule": {"cron": "* * * * *"}, "timezone": "UTC"}, "timezone: 'UTC'"),
    (
        {"kind": "k", "schedule_time": "2030-01-01T00:00:00Z", "cron_expression": "* * * * *"},
        "cron_expression: '* * * * *'",
    ),
    (
        {"kind": "k", "schedule_type": "CRON"},
        "schedule_type: 'CRON' is invalid: needs `cron_expression`",
    ),
    (
        {"kind": "k", "schedule_type": "CRON", "schedule_time": "2030-01-01T00:00:00Z"},
        "schedule_type: 'CRON' is invalid: needs a schedule with cron",
    ),
    ({"kind": "k", "timezone": "UTC"}, "timezone: 'UTC'"),
    ({"kind": "k", "max_retries": 1, "retries": 2}, "max_retries: 1"),
    ({"kind": "k", "retries": {"max": 1}, "max_retries": 2}, "max_retries: 2"),
    ({"kind": "k", "limits": [{"key": "a"}]}, "limits[0].max: required, or give `rate`"),
    ({"kind": "k", "timeout": "never"}, "timeout: 'never'"),
    ({"kind": "k", "target": "two words"}, "target: 'two words'"),
]
WRONG_TYPES: list[dict[str, Any]] = [
    {"name": 1},
    {"kind": "k", "queue": 1},
    {"kind": "k", "priority": []},
    {"kind": "k", "keep_first": "yes"},
    {"kind": "k", "when_queue_paused": "wait"},
    {"kind": "k", "when_queue_paused": True},
    {"kind": "k", "labels": []},
    {"kind": "k", "limits": {}},
    {"kind": "k", "limits": ["a"]},
    {"kind": "k", "limits": [{"key": "a", "max": "2"}]},
    {"kind": "k", "limits": [{"key": "a", "rate": {"count": "3", "per": "1m"}}]},
    {"kind": "k", "schedule": "0 9 * * *"},
    {"kind": "k", "schedule_type": "SOMETIMES"},
    {"kind": "k", "retries": "many"},
    {"kind": "k", "unique": "a"},
    {"kind": "k", "payload": {1j}},
]


def read(fields: dict[str, Any]) -> JobSpec:
    return build_spec(read_draft(fields), tenant="t")


@pytest.mark.parametrize("fields", GOOD, ids=str)
def test_what_a_program_says_is_what_a_request_says(fields: dict[str, Any]) -> None:
    request = msgspec.json.decode(msgspec.json.encode(fields), type=JobDraft)

    assert read(fields) == build_spec(request, tenant="t")


@pytest.mark.parametrize("fields", GOOD, ids=str)
def test_each_of_many_is_what_it_is_alone(fields: dict[str, Any]) -> None:
    for before in ({"kind": "k"}, fields):
        _, found = build_variants(read_drafts([before, fields]), tenant="t")

        assert found.to_spec() == read(fields)


@pytest.mark.parametrize(("fields", "sentence"), BAD, ids=str)
def test_what_does_not_fit_together_is_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(fields)

    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("fields", WRONG_TYPES, ids=str)
def test_a_wrong_type_is_named(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(fields)

    assert list(fields)[-1] in refused.value.field


def test_values_of_python_become_what_json_has() -> None:
    spec = read(
        {
            "kind": "k",
            "name": None,
            "timeout": timedelta(minutes=2),
            "payload": {"day": date(2026, 7, 1), "id": UUID(int=1)},
            "overlap": Overlap.ALLOW,
        }
    )

    assert (spec.name, spec.overlap) == (None, Overlap.ALLOW)
    assert spec.policy.timeout == timedelta(minutes=2)
    assert spec.payload == {"day": "2026-07-01", "id": "00000000-0000-0000-0000-000000000001"}


def test_every_choice_is_one_that_core_knows() -> None:
    """The words stand in the contract; what they mean is core's."""
    pairs = [
        (OverlapName, Overlap),
        (PausedQueueName, WhenQueuePaused),
        (GuaranteeName, Guarantee),
    ]
    for words, choices in pairs:
        assert set(get_args(words)) == set(choices)
