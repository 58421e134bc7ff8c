"""What a schedule is made of, and its next tick (S1 to S10)."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from rota.contract.schedule import read_schedule, write_schedule
from rota.core.time.planning import plan_next_tick, plan_ticks
from rota.core.time.schedule import SEARCH_HORIZON, Schedule

NOW = datetime(2026, 7, 1, 12, 34, 56, 789, tzinfo=UTC)


def schedule(**spec: object) -> Schedule:
    return read_schedule(spec, now=NOW, seed="acme/report")


def upcoming(made: Schedule, count: int, after: datetime = NOW) -> list[str]:
    ticks = islice(plan_ticks(made, after, after + SEARCH_HORIZON), count)
    return [f"{planned.tick.at:%Y-%m-%dT%H:%M:%S}" for planned in ticks]


def test_an_immediate_job_has_no_ticks_because_its_run_is_written_with_it() -> None:
    made = schedule(immediate=True)

    assert not made.has_ticks
    assert plan_next_tick(made, NOW) is None


def test_a_future_job_runs_once_at_its_instant() -> None:
    made = schedule(at="2026-07-02T09:00:00+02:00")

    assert upcoming(made, 5) == ["2026-07-02T07:00:00"]
    assert plan_next_tick(made, datetime(2026, 7, 2, 7, tzinfo=UTC)) is None


def test_a_delayed_job_becomes_an_instant_when_it_is_made() -> None:
    made = schedule(after="90m")

    planned = plan_next_tick(made, NOW)

    assert planned is not None
    assert planned.tick.at == NOW + timedelta(minutes=90)
    assert "at" in write_schedule(made)


def test_a_list_of_cron_expressions_is_their_union_and_equal_instants_are_one_tick() -> None:
    made = schedule(cron=["0 9 * * *", "0 9,17 * * MON-FRI", "30 12 * * *"])

    # 4 July is a Saturday.
    assert upcoming(made, 6, datetime(2026, 7, 3, tzinfo=UTC)) == [
        "2026-07-03T09:00:00",
        "2026-07-03T12:30:00",
        "2026-07-03T17:00:00",
        "2026-07-04T09:00:00",
        "2026-07-04T12:30:00",
        "2026-07-05T09:00:00",
    ]


def test_rules_of_different_kinds_go_together() -> None:
    made = schedule(
        cron="0 0 * * *",
        rrule="FREQ=DAILY;BYHOUR=6",
        every={"interval": "12h", "anchor": "2026-07-01T03:00:00Z"},
        at="2026-07-02T01:00:00Z",
    )

    assert upcoming(made, 5) == [
        "2026-07-01T15:00:00",
        "2026-07-02T00:00:00",
        "2026-07-02T01:00:00",
        "2026-07-02T03:00:00",
        "2026-07-02T06:00:00",
    ]


def test_an_interval_counts_from_its_creation_to_the_second() -> None:
    assert upcoming(schedule(every="15m"), 2) == ["2026-07-01T12:49:56", "2026-07-01T13:04:56"]


def test_a_fixed_delay_waits_for_the_end_of_the_run() -> None:
    made = schedule(fixed_delay="15m")

    first = plan_next_tick(made, NOW)
    assert first is not None
    running = plan_next_tick(made, first.tick.at, fired=1)
    ended = first.tick.at + timedelta(hours=3)
    second = plan_next_tick(made, first.tick.at, last_end=ended, fired=1)

    assert first.tick.at == NOW.replace(microsecond=0) + timedelta(minutes=15)
    assert running is None
    assert second is not None
    assert second.tick.at == ended + timedelta(minutes=15)


@pytest.mark.parametrize("spec", [{"event": "orders.created"}, {"on_demand": True}])
def test_jobs_that_wait_for_an_event_or_a_person_have_no_ticks(spec: dict[str, object]) -> None:
    assert plan_next_tick(schedule(**spec), NOW) is None


def test_the_window_includes_its_start_and_not_its_end() -> None:
    made = schedule(
        cron="0 * * * *",
        window={"start": "2026-07-01T15:00:00Z", "end": "2026-07-01T17:00:00Z"},
    )

    assert upcoming(made, 9) == ["2026-07-01T15:00:00", "2026-07-01T16:00:00"]


def test_an_interval_with_a_start_counts_from_it() -> None:
    made = schedule(every="7h", window={"start": "2026-07-02T15:00:00Z"})

    assert upcoming(made, 2) == ["2026-07-02T15:00:00", "2026-07-02T22:00:00"]


def test_the_run_cap_ends_the_schedule() -> None:
    made = schedule(cron="0 * * * *", window={"max_runs": 3})

    assert len(upcoming(made, 99)) == 3
    assert plan_next_tick(made, NOW, fired=2) is not None
    assert plan_next_tick(made, NOW, fired=3) is None


def test_jitter_moves_the_start_and_not_the_identity_of_a_tick() -> None:
    made = schedule(cron="0 * * * *", jitter={"window": "10m"})

    ticks = list(islice(plan_ticks(made, NOW, NOW + SEARCH_HORIZON), 20))

    assert all(planned.tick.at.minute == 0 for planned in ticks)
    offsets = {planned.due_at - planned.tick.at for planned in ticks}
    assert len(offsets) > 15
    assert all(timedelta(0) <= offset < timedelta(minutes=10) for offset in offsets)


def test_jitter_longer_than_the_period_stays_before_the_next_tick() -> None:
    made = schedule(every="10s", jitter="1h")

    for planned in islice(plan_ticks(made, NOW, NOW + SEARCH_HORIZON), 50):
        assert planned.tick.at <= planned.due_at < planned.tick.at + timedelta(seconds=10)


def test_jitter_stays_before_the_end_of_validity() -> None:
    made = schedule(
        cron="0 13 * * *",
        jitter={"window": "10m", "stable": True},
        window={"end": "2026-07-01T13:00:02Z"},
    )

    planned = plan_next_tick(made, NOW)

    assert planned is not None
    assert planned.due_at < datetime(2026, 7, 1, 13, 0, 2, tzinfo=UTC)


def test_the_answer_depends_on_the_cursor_alone() -> None:
    made = schedule(cron="*/5 * * * *", jitter={"window": "1m"})
    cursor = datetime(2026, 7, 1, 12, 30, tzinfo=UTC)

    answers = {plan_next_tick(made, cursor + timedelta(seconds=n)) for n in range(0, 300, 7)}

    assert len(answers) == 1
