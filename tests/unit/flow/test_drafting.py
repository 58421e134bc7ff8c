"""The short way of drafting a job at a time comes to the same as the long way (S2)."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.core.errors import InvalidInput
from rota.core.submission import JobSpec, canonical
from rota.core.time import plain, planning
from rota.core.time.moments import rfc3339
from rota.flow.submit.drafting import Drafting

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
ID = UUID(int=7)
MOMENTS = st.datetimes(
    min_value=datetime(2020, 1, 1),  # noqa: DTZ001 — strategies take naive ones
    max_value=datetime(2040, 1, 1),  # noqa: DTZ001 — as above
    timezones=st.timezones(),
)


@given(at=MOMENTS)
def test_a_time_is_drafted_as_the_reader_of_schedules_reads_it(at: datetime) -> None:
    wanted = {"at": rfc3339(at)}
    spec = JobSpec(name="x", kind="x", schedule=wanted)
    try:
        schedule = plain.parse(wanted, now=NOW, seed=str(ID))
    except InvalidInput as refused:
        with pytest.raises(InvalidInput) as error:
            Drafting(NOW, {}).draft(spec, ID)
        assert error.value.field == f"schedule.{refused.field}"
        return

    draft = Drafting(NOW, {}).draft(spec, ID)

    assert draft.schedule == schedule
    assert draft.schedule_text == canonical(plain.to_plain(schedule))
    assert draft.first == planning.next_tick(schedule, NOW)


@pytest.mark.parametrize(
    "schedule",
    [
        {"at": rfc3339(NOW)},
        {"at": rfc3339(NOW - timedelta(days=1))},
        {"at": rfc3339(NOW + timedelta(days=366 * 9))},
        {"at": "2026-07-02"},
        {"at": "2026-07-02T10:00:00"},
        {"at": 7},
        {"at": None},
        {},
    ],
)
def test_a_time_that_will_not_do_is_refused(schedule: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Drafting(NOW, {}).draft(JobSpec(name="x", kind="x", schedule=schedule), ID)


def test_several_times_are_more_than_one_tick() -> None:
    times = [rfc3339(NOW + timedelta(days=days)) for days in (2, 1)]

    draft = Drafting(NOW, {}).draft(JobSpec(name="x", kind="x", schedule={"at": times}), ID)

    assert draft.first is not None
    assert draft.first.tick.at == NOW + timedelta(days=1)
    assert draft.interned_schedule(1) is not None
