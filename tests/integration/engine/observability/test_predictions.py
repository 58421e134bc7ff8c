"""Predictions come from the stored history of a job, and name the deadline of its `expect`."""

import json
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from tests.support.world import NOON, World

from rota.contract.expectation_values import parse_finish_by
from rota.core.errors import NotFound
from rota.core.ids import derive_tick_run_id
from rota.core.submissions import JobSpec
from rota.engine.observability.predictions import predict_job, predict_run, summarize_prediction
from rota.engine.submission.job_submission import define_jobs

DAY = timedelta(days=1)
NIGHTLY = {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}
INSERT_RUN = """
insert into rota.runs (
    id, job_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id, queue_id,
    kind_id, policy_id, job_version, state, left_state, trigger, priority, attempt
)
values ($1, $2, $3, $3, $3, $4, $5, 1, $6, $7, $8, 1, $9, 'running', $10, 5, 1)
"""


async def define_nightly(world: World) -> UUID:
    spec = JobSpec(name="nightly", kind="noop", schedule=NIGHTLY)
    (made,) = await define_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    return made.job_id


async def insert_history(
    world: World, job_id: UUID, *, runs: int, state: str = "succeeded", trigger: str = "tick"
) -> None:
    """Runs of the last nights: each waits 5 s and takes 3 h and up to 19 min."""
    last = datetime.fromisoformat("2026-07-01T02:30:00+02:00")
    for number in range(runs):
        tick = last - number * DAY
        started = tick + timedelta(seconds=5)
        finished = started + timedelta(hours=3, minutes=(number * 7) % 20)
        await world.conn.execute(
            INSERT_RUN,
            derive_tick_run_id(job_id, tick),
            job_id,
            tick,
            started,
            finished,
            world.queue_id,
            world.kind_id,
            world.policy_id,
            state,
            trigger,
        )


async def set_finish_by(world: World, job_id: UUID, text: str) -> None:
    await world.conn.execute(
        "update rota.jobs set expect = $2::jsonb where id = $1",
        job_id,
        json.dumps({"finish_by": text}),
    )


async def test_the_next_tick_is_predicted_with_the_probability_of_its_deadline(
    world: World,
) -> None:
    job_id = await define_nightly(world)
    await insert_history(world, job_id, runs=40)
    await set_finish_by(world, job_id, "05:45")

    found = await predict_job(world.conn, tenant_id=1, job_id=job_id, now=world.now)

    assert found is not None
    assert found.run_id is None
    assert found.scheduled_at.isoformat() == "2026-07-02T00:30:00+00:00"
    assert found.deadline is not None
    assert found.deadline.isoformat() == "2026-07-02T03:45:00+00:00"
    assert found.finish.samples == 40
    # 16 of 20 durations are at most 3 h 15 min.
    assert found.finish.probability == pytest.approx(0.77, abs=0.08)
    assert "likely to succeed by 2026-07-02 05:45:00 CEST" in found.sentence
    assert summarize_prediction(found) == found.sentence


async def test_a_longer_deadline_is_more_likely(world: World) -> None:
    job_id = await define_nightly(world)
    await insert_history(world, job_id, runs=40)
    shares = []
    for text in ("+3h", "+3h10m", "+4h"):
        found = await predict_job(
            world.conn,
            tenant_id=1,
            job_id=job_id,
            now=world.now,
            finish_by=parse_finish_by(text),
        )
        assert found is not None
        assert found.finish.probability is not None
        shares.append(found.finish.probability)

    assert shares == sorted(shares)
    assert shares[0] < 0.1
    assert shares[-1] > 0.9


async def test_a_running_run_counts_only_histories_that_were_still_running(world: World) -> None:
    job_id = await define_nightly(world)
    await insert_history(world, job_id, runs=40)
    _session, claimed = await world.running(job_id=job_id)
    await world.advance(hours=3, minutes=14)

    found = await predict_run(world.conn, tenant_id=1, run_id=claimed.id, now=world.now)

    assert found is not None
    assert found.started_at is not None
    assert found.finish.expected_at is not None
    assert found.finish.expected_at > world.now
    whole = await predict_job(world.conn, tenant_id=1, job_id=job_id, now=NOON)
    assert whole is not None
    assert whole.run_id == claimed.id


async def test_runs_that_people_started_and_backfills_do_not_count(world: World) -> None:
    job_id = await define_nightly(world)
    await insert_history(world, job_id, runs=40, trigger="backfill")

    found = await predict_job(world.conn, tenant_id=1, job_id=job_id, now=world.now)

    assert found is not None
    assert found.finish.samples == 0
    assert found.sentence == "No prediction: too little history: 0 successful runs, 15 needed."
    assert summarize_prediction(found) is None


async def test_too_little_history_is_said_where_a_deadline_could_be_missed(world: World) -> None:
    job_id = await define_nightly(world)
    await insert_history(world, job_id, runs=9)
    await set_finish_by(world, job_id, "06:00")

    found = await predict_job(world.conn, tenant_id=1, job_id=job_id, now=world.now)

    assert summarize_prediction(found) == (
        "No prediction: too little history: 9 successful runs, 15 needed."
    )


async def test_a_finished_run_and_an_unknown_job_have_no_prediction(world: World) -> None:
    assert await predict_run(world.conn, tenant_id=1, run_id=world.new_id(), now=world.now) is None
    with pytest.raises(NotFound):
        await predict_job(world.conn, tenant_id=1, job_id=world.new_id(), now=world.now)
