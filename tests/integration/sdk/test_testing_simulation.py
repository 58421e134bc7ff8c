"""What `simulate` says is what a real scheduler does: both play the same afternoon."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.integration.engine.scheduling.conftest import Stage
from tests.support.world import NOON, World

from rota.sdk.testing import simulate

END = NOON + timedelta(hours=6)
STEP = timedelta(minutes=5)
OUTAGES = [
    (NOON + timedelta(hours=1, minutes=5), NOON + timedelta(hours=3, minutes=35)),
    (NOON + timedelta(hours=3, minutes=45), NOON + timedelta(hours=4, minutes=20)),
]
SCHEDULES: list[dict[str, Any]] = [
    {"cron": "0 * * * *"},
    {"cron": "*/20 * * * *", "misfire": {"on_outage": "skip"}},
    {"cron": "*/20 * * * *", "misfire": {"on_outage": "all", "pace": "1/10m"}},
    {"cron": "*/10 * * * *", "misfire": {"on_outage": "all", "max_catchup": 4}},
    {"cron": "*/30 * * * *", "misfire": {"on_outage": "all", "start_deadline": "1h"}},
    {"every": {"interval": "25m", "anchor": "2026-07-01T00:00:00Z"}},
    {"cron": ["15 * * * *", "40 13 * * *"], "window": {"max_runs": 4}},
]
STATES = {"fired": "queued", "caught_up": "queued", "missed": "missed", "coalesced": "coalesced"}


async def played(stage: Stage, schedules: list[dict[str, Any]]) -> list[UUID]:
    """A scheduler that looks every five minutes, except in the outages."""
    jobs = [await stage.job(schedule, overlap="allow") for schedule in schedules]
    scheduler = stage.scheduler()
    while stage.world.now < END:
        if not any(start <= stage.world.now < end for start, end in OUTAGES):
            await scheduler.step()
        await stage.advance(seconds=STEP.total_seconds())
    return jobs


async def test_the_real_scheduler_does_what_was_simulated(world: World) -> None:
    stage = Stage(world)

    jobs = await played(stage, SCHEDULES)

    for job_id, schedule in zip(jobs, SCHEDULES, strict=True):
        seen = simulate(schedule, start=NOON + STEP, end=END, outages=OUTAGES)
        told = sorted(
            (f"{event.at:%H:%M:%S}", STATES[event.outcome])
            for event in seen
            # The last ones of a pace are put off to the evening.
            if event.starts_at is None or event.starts_at < END
        )
        assert told == await stage.runs_of(job_id), schedule
