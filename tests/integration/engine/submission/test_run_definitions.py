"""What a handler gets is what its run shows, through any sequence of changes (E10)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import NamedTuple
from uuid import UUID

import pytest
from tests.support.world import World

from rota.core.errors import IllegalMove
from rota.core.states import RunState
from rota.core.submissions import JobSpec, RunSpec
from rota.engine.execution.attempt_pool import JobSpecCache
from rota.engine.submission import job_changes, requeue
from rota.engine.submission.job_changes import JobChanges
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.requeue import ReplayRequest
from rota.engine.submission.run_triggers import run_now, submit_runs
from rota.store import live_runs, run_views
from rota.store.driver import Connection
from rota.store.live_runs import RunEnding

STEPS = 40


class Used(NamedTuple):
    """What a run uses; labels and version are those of its definition."""

    payload: object
    labels: object
    version: int


class Source:
    """The one connection of the test as a pool."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        yield self.conn


class Story:
    """A job that is changed at random, its runs, and what each of them must have used."""

    def __init__(self, world: World, rng: Random) -> None:
        self.world, self.rng = world, rng
        self.source = Source(world.conn)
        # One worker that remembers what it read, and one that has just started.
        self.workers = [JobSpecCache(self.source), JobSpecCache(self.source)]
        self.now = Used({"n": 0}, {"team": "0"}, 1)
        self.runs: dict[UUID, Used] = {}
        self.is_deleted = False

    async def begin(self) -> None:
        spec = JobSpec(name="report", kind="noop", payload=self.now.payload, labels={"team": "0"})
        (made,) = await submit_jobs(
            self.world.conn, [spec], now=self.world.now, new_id=self.world.new_id
        )
        self.job_id = made.job_id

    async def step(self) -> None:
        await self.world.advance(seconds=1)
        steps = [self.edit, self.relabel, self.pause, self.run, self.work, self.work, self.retry]
        steps += [self.replay, self.restart, self.run_with_payload]
        await self.rng.choice(steps)()
        await self.check()

    async def edit(self) -> None:
        if not self.is_deleted:
            payload = self.rng.choice([None, {"n": self.rng.randrange(100)}])
            await self._edit(JobChanges(payload=payload), self.now._replace(payload=payload))

    async def relabel(self) -> None:
        if not self.is_deleted:
            labels = {"team": str(self.rng.randrange(100))}
            await self._edit(JobChanges(labels=labels), self.now._replace(labels=labels))

    async def _edit(self, wanted: JobChanges, after: Used) -> None:
        await job_changes.edit_job(self.world.conn, self.job_id, wanted, now=self.world.now)
        if after != self.now:
            self.now = after._replace(version=self.now.version + 1)

    async def pause(self) -> None:
        if not self.is_deleted:
            await job_changes.pause_job(self.world.conn, self.job_id, by="ana", now=self.world.now)
            await job_changes.resume_job(self.world.conn, self.job_id, now=self.world.now)

    async def run(self) -> None:
        if not self.is_deleted:
            (run_id,) = await submit_runs(
                self.world.conn,
                [RunSpec(job_id=self.job_id)],
                now=self.world.now,
                new_id=self.world.new_id,
            )
            self.runs[run_id] = self.now

    async def run_with_payload(self) -> None:
        if not self.is_deleted:
            spec = RunSpec(job_id=self.job_id, payload={"own": self.rng.randrange(100)})
            made = await run_now(
                self.world.conn, spec, now=self.world.now, new_id=self.world.new_id
            )
            if made.refused is None:
                self.runs[made.run_id] = self.now._replace(payload=spec.payload)

    async def work(self) -> None:
        """A worker claims what waits, and ends it well or not."""
        session = await self.world.session()
        claimed = await self.world.claim(session)
        briefs = await self.rng.choice(self.workers).load_specs(claimed)
        for run, brief in zip(claimed, briefs, strict=True):
            given = brief.payload if run.payload is None else run.payload
            assert json.loads(given or "null") == self.runs[run.id].payload
            state = self.rng.choice([RunState.SUCCEEDED, RunState.DEAD])
            ending = RunEnding(run.id, run.attempt, state)
            await live_runs.finish_runs(self.world.conn, session_id=session, endings=[ending])

    async def restart(self) -> None:
        self.workers[1] = JobSpecCache(self.source)

    async def retry(self) -> None:
        if self.runs:
            run_id = self.rng.choice([*self.runs])
            try:
                await requeue.retry_run(self.world.conn, tenant_id=1, run_id=run_id, by="ana")
            except IllegalMove:
                return

    async def replay(self) -> None:
        if not self.runs:
            return
        old = self.rng.choice([*self.runs])
        edited = self.rng.choice([True, False])
        wanted = ReplayRequest(run_id=old, by="ana")
        if edited:
            wanted = ReplayRequest(run_id=old, by="ana", payload={"edited": old.hex[-4:]})
        try:
            new = await requeue.replay_run(
                self.world.conn,
                wanted,
                tenant_id=1,
                now=self.world.now,
                new_id=self.world.new_id,
            )
        except IllegalMove:
            return
        used = self.runs[old]
        self.runs[new] = used._replace(payload=wanted.payload) if edited else used

    async def delete(self) -> None:
        gone = await job_changes.delete_job(self.world.conn, self.job_id, by="ana")
        assert gone is not None
        self.is_deleted = True

    async def check(self) -> None:
        rows = await run_views.read_runs(self.world.conn, [*self.runs], tenant_id=1)
        shown = {
            row.id: (json.loads(row.payload or "null"), json.loads(row.labels), row.job_version)
            for row in rows
        }
        assert shown == {run_id: tuple(used) for run_id, used in self.runs.items()}


@pytest.mark.parametrize("seed", range(8))
async def test_a_run_gets_and_shows_the_same_through_all_changes(world: World, seed: int) -> None:
    story = Story(world, Random(seed))
    await story.begin()
    deleted_at = story.rng.randrange(STEPS // 2, STEPS)

    for place in range(STEPS):
        if place == deleted_at:
            await story.delete()
        await story.step()

    assert story.runs
