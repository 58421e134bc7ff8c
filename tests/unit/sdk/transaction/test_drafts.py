"""The fields of a job mean the same in a transaction as they do in a request."""

from typing import Any

import msgspec
import pytest

from rota.api import drafts as of_api
from rota.api.shapes.jobs import JobDraft
from rota.core.errors import InvalidInput
from rota.core.submission import JobSpec
from rota.sdk.transaction import drafts

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
BAD: list[dict[str, Any]] = [
    {},
    {"kind": "k", "job_type": "other"},
    {"kind": "k", "schedule": {"cron": "* * * * *"}, "timezone": "UTC"},
    {"kind": "k", "schedule_time": "2030-01-01T00:00:00Z", "cron_expression": "* * * * *"},
    {"kind": "k", "schedule_type": "CRON"},
    {"kind": "k", "schedule_type": "CRON", "schedule_time": "2030-01-01T00:00:00Z"},
    {"kind": "k", "timezone": "UTC"},
    {"kind": "k", "max_retries": 1, "retries": 2},
    {"kind": "k", "retries": {"max": 1}, "max_retries": 2},
    {"kind": "k", "limits": [{"key": "a"}]},
    {"kind": "k", "timeout": "never"},
    {"kind": "k", "target": "two words"},
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


def here(fields: dict[str, Any]) -> JobSpec:
    return drafts.spec_of(fields, tenant="t", suffix=lambda: "x")


def there(fields: dict[str, Any]) -> JobSpec:
    draft = msgspec.convert(fields, JobDraft)
    return of_api.spec_of(draft, tenant="t", suffix=lambda: "x")


@pytest.mark.parametrize("fields", GOOD, ids=str)
def test_the_same_fields_make_the_same_job(fields: dict[str, Any]) -> None:
    assert here(fields) == there(fields)


@pytest.mark.parametrize("fields", BAD, ids=str)
def test_what_the_api_refuses_is_refused_in_the_same_words(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as mine:
        here(fields)
    with pytest.raises(InvalidInput) as theirs:
        there(fields)

    assert str(mine.value) == str(theirs.value)


@pytest.mark.parametrize("fields", WRONG_TYPES, ids=str)
def test_a_wrong_type_is_named(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        here(fields)

    assert list(fields)[-1] in refused.value.field


def test_every_field_of_the_api_is_known() -> None:
    wanted = {field.encode_name for field in msgspec.structs.fields(JobDraft)}

    assert wanted <= set(drafts.KNOWN)
