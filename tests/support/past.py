"""A job with ticks in the past, the duty of backfills, and a worker for what it makes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from rota.core.ids import derive_tick_run_id
from rota.core.states import RunState
from rota.core.submissions import JobSpec
from rota.engine.dispatch.gated_claims import GatedClaims
from rota.engine.submission.backfills.advancer import BackfillPass, advance_oldest
from rota.engine.submission.backfills.requests import (
    BackfillAnswer,
    BackfillRequest,
    start_backfill,
)
from rota.engine.submission.job_submission import define_jobs
from rota.store import backfills, jobs, live_runs
from rota.store.backfills import BackfillRow
from rota.store.jobs import SkippedRun
from rota.store.live_runs import ClaimedRun, RunEnding
from tests.support.world import NOON, World

HOUR = timedelta(hours=1)
SUCCEEDED = RunState.SUCCEEDED


@dataclass(kw_only=True)
class Past:
    """`report` ticks every hour and has never run."""

    world: World
    job_id: UUID
    started: list[datetime] = field(default_factory=list)
    _sessions: dict[UUID, UUID] = field(default_factory=dict)

    @staticmethod
    async def begin(world: World, **given: Any) -> "Past":
        wanted: dict[str, Any] = {"name": "report", "schedule": {"cron": "0 * * * *"}, **given}
        spec = JobSpec(kind="noop", **wanted)
        (made,) = await define_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
        return Past(world=world, job_id=made.job_id)

    async def ask(self, *, dry_run: bool = False, hours: int = 6, **given: Any) -> BackfillAnswer:
        usual = {"since": NOON - hours * HOUR, "until": NOON}
        return await start_backfill(
            self.world.conn,
            BackfillRequest(**usual | given),
            tenant_id=1,
            job_id=self.job_id,
            by="ann",
            now=self.world.now,
            new_id=self.world.new_id,
            dry_run=dry_run,
        )

    async def backfill(self, **given: Any) -> UUID:
        asked = await self.ask(**given)
        assert asked.backfill_id is not None
        return asked.backfill_id

    async def look(self) -> BackfillPass | None:
        """The next look of the duty, when it is due."""
        await self.world.advance(seconds=60)
        return await advance_oldest(self.world.conn)

    async def claim(self, room: int = 100) -> list[ClaimedRun]:
        session = await self.world.session()
        claimed = await GatedClaims().claim(
            self.world.conn,
            session_id=session,
            queue_id=self.world.queue_id,
            kind_ids=[self.world.kind_id],
            room=room,
        )
        self.started += [run.scheduled_at for run in claimed]
        self._sessions |= {run.id: session for run in claimed}
        return claimed

    def session_of(self, run: ClaimedRun) -> UUID:
        return self._sessions[run.id]

    async def finish(self, runs: list[ClaimedRun], state: RunState = SUCCEEDED) -> None:
        for run in runs:
            ending = RunEnding(run.id, run.attempt, state)
            await live_runs.finish_runs(
                self.world.conn, session_id=self._sessions[run.id], endings=[ending]
            )

    async def work(self, ends: Callable[[ClaimedRun], RunState] = lambda _: SUCCEEDED) -> None:
        """Look and work until nothing is left to do."""
        for _ in range(200):
            await self.look()
            claimed = await self.claim()
            for run in claimed:
                await self.finish([run], ends(run))
            if not claimed and not await self.unfinished():
                return
        raise AssertionError("it never ends")

    async def end_all(self, state: RunState) -> None:
        """All that is alive ends as this, however many."""
        await self.world.conn.execute(
            "with ended as (delete from rota.live_runs returning *)"
            " insert into rota.runs (id, job_id, scheduled_at, due_at, created_at, finished_at,"
            " tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger,"
            " priority) select id, job_id, scheduled_at, due_at, created_at, rota.now(),"
            " tenant_id, queue_id, kind_id, policy_id, job_version, $1, $2,"
            " trigger, priority from ended",
            state.value,
            "running" if state is SUCCEEDED else "queued",
        )

    async def unfinished(self) -> UUID | None:
        return await backfills.find_unfinished(self.world.conn, tenant_id=1, job_id=self.job_id)

    async def row(self, id_: UUID) -> BackfillRow:
        return await backfills.get_backfill(self.world.conn, id_, tenant_id=1)

    async def record(self, *states: RunState) -> list[UUID]:
        """The last ticks before noon, the latest first, on record as these."""
        job = await jobs.lock_job(self.world.conn, self.job_id)
        ticks = [NOON - n * HOUR for n in range(1, len(states) + 1)]
        records = [
            SkippedRun(derive_tick_run_id(self.job_id, at), at, state, "{}")
            for at, state in zip(ticks, states, strict=True)
        ]
        return await jobs.record_skipped(self.world.conn, job, records)

    async def made(self) -> list[datetime]:
        """The nominal times of all runs of backfills, as often as there are runs."""
        rows = await self.world.conn.fetch(
            "select scheduled_at from rota.live_runs where trigger = 'backfill'"
            " union all select scheduled_at from rota.runs where trigger = 'backfill' order by 1"
        )
        return [row[0] for row in rows]


def hours(first: int, last: int) -> list[datetime]:
    """The ticks from so many hours before noon on to so many before, the oldest first."""
    return [NOON - n * HOUR for n in range(first, last - 1, -1)]
