"""Random histories against an oracle that knows the whole history: what it says must be an incident
is one, and nothing else is.
"""

import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

import pytest
from tests.support.watching import WatchDesk
from tests.support.world import NOON, World

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
WITHIN, AFTER, EVERY, STREAK = 5 * MINUTE, 40 * MINUTE, 150 * MINUTE, 2
# Steps of the model: every tick is decided on the hour and looked at in these minutes after it.
LOOKS = (3, 7, 20, 45, 59)
HOURS = 10


@dataclass
class TickHistory:
    """What happened to a tick. None: not (yet)."""

    at: datetime
    outcome: str
    started_at: datetime | None = None
    ended_at: datetime | None = None


class Oracle:
    """What must be open, from the whole history, at a time."""

    def __init__(self) -> None:
        self.ticks: list[TickHistory] = []

    def list_open(self, now: datetime) -> set[str]:
        found = set()
        if self.is_start_late(now):
            found.add("start_within")
        if self.is_finish_late(now):
            found.add("finish_by")
        if self.is_stale(now):
            found.add("succeed_every")
        if self.is_failing(now):
            found.add("failure_streak")
        return found

    def is_start_late(self, now: datetime) -> bool:
        """The newest tick past its deadline that says something did not start in time, and has not
        started since.
        """
        for tick in reversed(self.ticks):
            if tick.outcome == "skipped" or now < tick.at + WITHIN:
                continue
            is_in_time = tick.started_at is not None and tick.started_at <= tick.at + WITHIN
            return not is_in_time and not (tick.started_at is not None and tick.started_at <= now)
        return False

    def is_finish_late(self, now: datetime) -> bool:
        for tick in reversed(self.ticks):
            if tick.outcome == "skipped" or now < tick.at + AFTER:
                continue
            is_success = tick.outcome == "succeeded" and tick.ended_at is not None
            return not (is_success and tick.ended_at is not None and tick.ended_at <= now)
        return False

    def is_stale(self, now: datetime) -> bool:
        for tick in reversed(self.ticks):
            if tick.outcome == "succeeded" and tick.ended_at and tick.ended_at <= now:
                return now >= tick.ended_at + EVERY
        return now >= NOON + EVERY

    def is_failing(self, now: datetime) -> bool:
        """Two failures in a row open, one success ends; a single failure changes nothing."""
        is_open, row = False, 0
        ended = [tick for tick in self.ticks if tick.ended_at and tick.ended_at <= now]
        for tick in sorted(ended, key=lambda tick: tick.at):
            if tick.outcome == "succeeded":
                is_open, row = False, 0
            elif tick.outcome == "dead":
                row += 1
                is_open = is_open or row >= STREAK
        return is_open


@pytest.mark.parametrize("seed", range(20 if os.environ.get("ROTA_TEST_ALERTS") else 3))
async def test_random_histories(world: World, seed: int) -> None:
    rng = Random(seed)
    desk = await WatchDesk(world, has_defaults=False).begin()
    job_id = await desk.add_job(
        "job",
        {"cron": "0 * * * *"},
        expect={
            "start_within": "PT5M",
            "finish_by": "+PT40M",
            "succeed_every": "PT2H30M",
            "failures": {"streak": STREAK},
        },
    )
    await desk.sync()
    oracle = Oracle()
    for hour in range(1, HOURS + 1):
        at = NOON + hour * HOUR
        await world.move_to(at)
        tick = TickHistory(at, rng.choice(("succeeded", "succeeded", "dead", "dead", "skipped")))
        oracle.ticks.append(tick)
        start = rng.choice((1, 4, 6, 15, 43))
        end = start + rng.choice((1, 10, 30))
        if tick.outcome == "skipped":
            await desk.skip(job_id)
        else:
            (run_id,) = await desk.fire()
            tick.started_at = at + start * MINUTE
            # A run that would outlast its hour ends before the next tick.
            tick.ended_at = at + min(end, 58) * MINUTE
        times = {at + minute * MINUTE for minute in LOOKS}
        times |= {time for time in (tick.started_at, tick.ended_at) if time is not None}
        for time in sorted(times):
            await world.move_to(time)
            if time == tick.started_at:
                await desk.start_run(run_id)
            if time == tick.ended_at:
                await desk.end_run(run_id, tick.outcome)
            if time.minute not in LOOKS:
                continue
            if rng.random() < 0.1:
                desk.start()
                await world.conn.execute("update rota.named_leases set expires_at = '-infinity'")
            await desk.check()
            # A tick that was late and is not any more is looked at again after 5 seconds.
            await world.advance(seconds=6)
            await desk.check()
            assert await list_firing(world) == oracle.list_open(world.now), (seed, world.now)


async def list_firing(world: World) -> set[str]:
    rows = await world.conn.fetch(
        "select condition from rota.watches where state = 'firing'"
        " union select w.condition from rota.watches as w"
        " join rota.alert_states as s using (expectation_id, subject_key)"
        " where s.state = 'firing' and not s.is_met"
    )
    return {row[0] for row in rows}
