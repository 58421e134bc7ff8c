"""A bulk that is drafted by column comes to what each of its submissions comes to alone."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.contract.bulk_drafts import build_columns
from rota.contract.job_drafts import build_spec, read_drafts
from rota.core.submissions import SpecColumns
from rota.core.time.moments import to_rfc3339
from rota.engine.submission.bulk_submissions import SubmissionBulk, draft_bulk
from rota.engine.submission.drafts import NO_LABELS, Drafter

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
ID = UUID("0197c2d4-0000-7000-8000-000000000001")
SOON = to_rfc3339(NOW + timedelta(days=1))
OWN: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["a", "e\u0301", "x" * 200, '"\\']),
        "payload": st.sampled_from([None, {}, {"n": 1}, {"s": "é\n"}, [1.5], {"a": {"b": []}}]),
        "labels": st.sampled_from([{}, {"k": "v"}]),
        "user_id": st.sampled_from(["kim", "ümit"]),
    },
)
SHARED: list[dict[str, Any]] = [
    {"kind": "x"},
    {"kind": "x", "priority": 3, "queue": "bulk"},
    {"kind": "x", "schedule_time": SOON},
    {"kind": "x", "schedule_time": "2026-07-09T10:00:00+02:00", "retries": 2},
    {"kind": "x", "schedule": {"at": SOON}},
]


def draft(jobs: list[dict[str, Any]]) -> SubmissionBulk | None:
    columns = build_columns(read_drafts(jobs), tenant="t")
    return None if columns is None else draft_bulk(Drafter(NOW, {}), columns, lambda: ID)


@given(shared=st.sampled_from(SHARED), own=st.lists(OWN, min_size=2, max_size=6))
def test_each_of_a_bulk_is_drafted_as_it_is_alone(
    shared: dict[str, Any], own: list[dict[str, Any]]
) -> None:
    jobs = [shared | each for each in own]

    bulk = draft(jobs)

    assert bulk is not None
    for place, each in enumerate(read_drafts(jobs)):
        alone = Drafter(NOW, {}).draft(build_spec(each, tenant="t"), ID)
        assert bulk.names[place] == alone.name
        assert bulk.payloads[place] == alone.payload
        assert bulk.payload_texts[place] == alone.payload_text
        assert (bulk.labels_texts[place] or NO_LABELS) == alone.labels_text
        assert bulk.user_ids[place] == alone.user_id
        assert bulk.due_ats[place] == (alone.due_at or NOW)
        assert bulk.is_immediate == alone.is_immediate
        assert int(bulk.ids[place], 16) >> 80 == alone.id.int >> 80
    assert len(set(bulk.ids)) == len(jobs)


@pytest.mark.parametrize(
    "odd",
    [
        {"name": "a\n"},
        {"name": " "},
        {"user_id": "a\u202eb"},
        {"labels": {"k": "a\u202eb"}},
        {"payload": {"n": float("nan")}},
        {"payload": {"s": "\ud800"}},
        {"payload": {"s": "{{secret:key}}"}},
        {"schedule_time": "soon"},
        {"schedule_time": "2026-06-01T00:00:00Z"},
        {"schedule_time": "9899-06-01T00:00:00Z"},
        {"schedule_time": None},
        {"kind": "y"},
        {"priority": 2},
        {"cron_expression": "0 3 * * *"},
    ],
    ids=str,
)
def test_a_bulk_with_one_that_needs_a_closer_look_is_left_to_the_long_way(
    odd: dict[str, Any],
) -> None:
    plain = {"kind": "x", "schedule_time": SOON}

    for place in range(3):
        jobs = [plain, plain, plain]
        jobs[place] = plain | odd
        assert draft(jobs) is None


@pytest.mark.parametrize(
    "shared",
    [
        {"kind": "x", "schedule": {"after": "1h", "jitter": "5m"}},
        {"kind": "x", "schedule": {"every": "1h"}},
        {"kind": "x", "unique": {"key": "a"}},
        {"kind": "x", "limits": [{"key": "a", "max": 1}]},
        {"kind": "x", "guarantee": "exactly_once"},
        {"job_type": "CUSTOM", "name": "x"},
        {"name": "x"},
    ],
    ids=str,
)
def test_what_each_has_for_itself_beyond_its_columns_is_left_to_the_long_way(
    shared: dict[str, Any],
) -> None:
    assert draft([shared, shared]) is None


def test_ids_of_a_bulk_are_all_different_and_begin_with_their_due_times() -> None:
    times = [NOW + timedelta(seconds=n % 3 + 1) for n in range(1000)]

    bulk = draft([{"kind": "x", "schedule_time": to_rfc3339(at)} for at in times])

    assert bulk is not None
    ids = [UUID(id_) for id_ in bulk.ids]
    assert len(set(ids)) == 1000
    assert len({id_.int & (1 << 62) - 1 for id_ in ids}) == 1000
    assert {id_.version for id_ in ids} == {7}
    milliseconds = [int(at.timestamp() * 1000) for at in times]
    assert [id_.int >> 80 for id_ in ids] == milliseconds


def test_the_first_of_the_columns_is_the_spec_that_it_stands_for() -> None:
    jobs = [{"kind": "x", "name": n, "schedule_time": SOON, "labels": {"k": n}} for n in "ab"]

    columns = build_columns(read_drafts(jobs), tenant="t")

    assert isinstance(columns, SpecColumns)
    assert columns.build_first_spec() == build_spec(read_drafts(jobs)[0], tenant="t")
