"""The short way of drafting a job at a time comes to the same as the long way (S2)."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.contract.schedule import read_schedule, write_schedule
from rota.core.errors import InvalidInput
from rota.core.ids import build_id, read_id_time, rebuild_id
from rota.core.submissions import JobSpec, SpecVariant, encode_canonical
from rota.core.time import planning
from rota.core.time.moments import to_rfc3339
from rota.engine.submission.drafts import CheckedJob, Drafter

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
ID = build_id(NOW, b"0123456789")
MOMENTS = st.datetimes(
    min_value=datetime(2020, 1, 1),  # noqa: DTZ001 — strategies take naive ones
    max_value=datetime(2040, 1, 1),  # noqa: DTZ001 — as above
    timezones=st.timezones(),
)


@given(at=MOMENTS)
def test_a_time_is_drafted_as_the_reader_of_schedules_reads_it(at: datetime) -> None:
    wanted = {"at": to_rfc3339(at)}
    spec = JobSpec(name="x", kind="x", schedule=wanted)
    try:
        schedule = read_schedule(wanted, now=NOW, seed=str(ID))
    except InvalidInput as refused:
        with pytest.raises(InvalidInput) as error:
            Drafter(NOW, {}).draft(spec, ID)
        assert error.value.field == f"schedule.{refused.field}"
        return

    draft = Drafter(NOW, {}).draft(spec, ID)

    assert draft.schedule == schedule
    assert draft.schedule_text == encode_canonical(write_schedule(schedule))
    first = planning.plan_next_tick(schedule, NOW)
    assert first is not None
    assert (draft.tick_at, draft.due_at) == (first.tick.at, first.due_at)
    assert draft.is_submission
    assert draft.id == rebuild_id(ID, first.due_at)


@pytest.mark.parametrize(
    "schedule",
    [
        {"at": to_rfc3339(NOW)},
        {"at": to_rfc3339(NOW - timedelta(days=1))},
        {"at": to_rfc3339(NOW + timedelta(days=366 * 9))},
        {"at": "2026-07-02"},
        {"at": "2026-07-02T10:00:00"},
        {"at": 7},
        {"at": None},
        {},
    ],
)
def test_a_time_that_will_not_do_is_refused(schedule: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Drafter(NOW, {}).draft(JobSpec(name="x", kind="x", schedule=schedule), ID)


def test_several_times_are_more_than_one_tick() -> None:
    times = [to_rfc3339(NOW + timedelta(days=days)) for days in (2, 1)]

    draft = Drafter(NOW, {}).draft(JobSpec(name="x", kind="x", schedule={"at": times}), ID)

    assert draft.tick_at == NOW + timedelta(days=1)
    assert draft.interned_schedule(1) is not None
    assert not draft.is_submission


TIMES = [None, to_rfc3339(NOW + timedelta(days=1)), "2026-07-09T10:00:00+02:00"]
SCHEDULES: list[dict[str, object]] = [
    {"immediate": True},
    {"after": "1h"},
    {"after": "1h", "jitter": "5m"},
    {"every": "1h"},
]
VARIANTS = st.builds(
    SpecVariant,
    st.just(JobSpec(name="first", kind="x")),
    name=st.sampled_from([None, "a", "e\u0301"]),
    payload=st.sampled_from([None, {}, {"n": 1}, {"s": "é\n"}, [1.5], "x", True, {"a": {"b": []}}]),
    labels=st.sampled_from([{}, {"k": "v"}]),
    user_id=st.sampled_from([None, "kim"]),
    at=st.sampled_from(TIMES),
)


@given(schedule=st.sampled_from(SCHEDULES), asked=st.lists(VARIANTS, min_size=2, max_size=5))
def test_a_variant_is_drafted_as_the_spec_that_it_stands_for(
    schedule: dict[str, object], asked: list[SpecVariant]
) -> None:
    """Whatever its neighbours are; only the tail of its id is another."""
    spec = JobSpec(name="first", kind="x", schedule=schedule, priority=3)
    drafting = Drafter(NOW, {})
    for each in asked:
        variant = each._replace(spec=spec)

        draft = drafting.draft_variant(variant, lambda: ID)

        whole = Drafter(NOW, {}).draft(variant.to_spec(), ID)
        assert own_fields(draft) == own_fields(whole)
        assert draft.id.int >> 80 == whole.id.int >> 80


def own_fields(draft: CheckedJob) -> dict[str, object]:
    """All that is written of a draft; the schedule of a submission is not."""
    shown = {"payload_text": json.loads(draft.payload_text or "null")}
    fields = draft._asdict() | shown
    unwritten = {"id", "spec", "schedule", "schedule_text"}
    return {key: value for key, value in fields.items() if key not in unwritten}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": "a\n"}, "name"),
        ({"payload": {"n": float("nan")}}, "payload"),
        ({"payload": {"s": "\ud800"}}, "payload"),
        ({"payload": {"s": "{{secret:"}}, "payload"),
        ({"labels": {"k": "v" * 65}}, "labels"),
        ({"user_id": " "}, "user_id"),
        ({"at": "2026-06-01T00:00:00Z"}, "schedule.at"),
        ({"at": "soon"}, "schedule.at"),
    ],
)
def test_a_variant_that_will_not_do_is_refused_with_its_field(
    wrong: dict[str, object], field: str
) -> None:
    spec = JobSpec(name=None, kind="x")
    good = SpecVariant(spec, "a", {"n": 1}, {}, None, to_rfc3339(NOW + timedelta(days=1)))
    drafting = Drafter(NOW, {})
    drafting.draft_variant(good, lambda: ID)

    with pytest.raises(InvalidInput) as refused:
        drafting.draft_variant(good._replace(**wrong), lambda: ID)  # type: ignore[arg-type]

    assert refused.value.field.startswith(field)


def test_ids_of_a_bulk_are_all_different_and_begin_with_their_due_times() -> None:
    spec = JobSpec(name=None, kind="x")
    drafting, ids = Drafter(NOW, {}), []
    for n in range(1000):
        at = NOW + timedelta(seconds=n % 3 + 1)
        variant = SpecVariant(spec, None, None, {}, None, at)
        ids.append((drafting.draft_variant(variant, lambda: ID).id, at))

    assert len({id_ for id_, _ in ids}) == 1000
    assert all(read_id_time(id_) == at and id_.version == 7 for id_, at in ids)
    assert len({id_.int & (1 << 62) - 1 for id_, _ in ids}) == 1000
