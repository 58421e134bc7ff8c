"""After retention nothing is left of submissions: no row, and no byte."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import count

from tests.support.standing import Standing
from tests.support.world import World

from rota.core.limits import JobLimit
from rota.core.outcome import Guarantee
from rota.core.policy import Policy
from rota.core.states import RunState
from rota.core.submissions import JobSpec
from rota.core.time.moments import to_rfc3339
from rota.core.uniqueness import UniqueRule
from rota.engine.maintenance.cleanup import OverdueSubmissionMover, Pruner
from rota.engine.maintenance.partition_maintainer import (
    PARTITION_CHECK_INTERVAL,
    PartitionMaintainer,
)
from rota.engine.maintenance.sweeper import Sweeper
from rota.engine.submission.job_submission import submit_jobs
from rota.store import interning, live_runs, sessions
from rota.store.live_runs import RunEnding

NUMBER = 300
KEEP = timedelta(days=2)
TABLES = """
select c.relname from pg_class as c
where c.relnamespace = 'rota'::regnamespace and c.relkind = 'r' order by c.relname
"""
# Days and months are as many as there are, whatever is in them.
BYTES = """
select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class as c
where
    c.relnamespace = 'rota'::regnamespace and c.relkind = 'r'
    and (
        c.relname ~ '_rest$'
        or not exists (select 1 from pg_inherits as i where i.inhrelid = c.oid)
    )
"""


class Upkeep:
    """What a node does by the clock, on the connection whose clock the test moves."""

    def __init__(self, world: World) -> None:
        source = Standing(world.conn)
        hours = count()
        self.days = PartitionMaintainer(
            pool=source,  # type: ignore[arg-type] # it only acquires
            ahead=timedelta(days=2),
            keep=KEEP,
            keep_events=KEEP,
            keep_audit=timedelta(days=31),
        )
        self.pruning = Pruner(source=source)
        self.overdue = OverdueSubmissionMover(source=source, on_runs_created=lambda: None)
        self.sweeper = Sweeper(
            source=source,
            keep_runs=KEEP,
            keep_deleted_jobs=KEEP,
            monotonic=lambda: next(hours) * 7 * 3600.0,
        )

    async def pass_once(self) -> None:
        while await self.days.tick() != PARTITION_CHECK_INTERVAL.total_seconds():
            pass
        while await self.pruning.tick() == 0.0:
            pass
        await self.sweeper.tick()
        while await self.overdue.tick() == 0.0:
            pass


def specs_of(world: World, round_: int) -> Sequence[JobSpec]:
    later = {"at": to_rfc3339(world.now + timedelta(minutes=1))}
    return [
        JobSpec(
            name=f"invoice {n}",
            kind="noop",
            payload={"customer": n, "text": "x" * 100},
            labels={"round": str(round_)},
            user_id=f"user {n % 7}",
            schedule={"immediate": True} if n % 2 else later,
            policy=Policy(timeout=timedelta(seconds=10 + n % 5), guarantee=Guarantee.AT_MOST_ONCE),
            limits=(JobLimit(key=f"customer:{n}", max_running=1),) if n % 10 == 0 else (),
            unique=UniqueRule(key=f"{round_}/{n}") if n % 10 == 1 else None,
        )
        for n in range(NUMBER)
    ]


async def run_all(world: World) -> int:
    """Execute what waits: what passes a gate is ended as if a worker had it."""
    session = await world.session()
    # Unused rows were removed and made again under other ids.
    world.kind_id = await interning.intern_kind(world.conn, "noop")
    await world.conn.execute("update rota.live_runs set gates = null where gates is not null")
    claimed = await world.claim(session, room=2 * NUMBER)
    endings = [RunEnding(run.id, run.attempt, RunState.SUCCEEDED) for run in claimed]
    await live_runs.finish_runs(world.conn, session_id=session, endings=endings)
    await sessions.close_session(world.conn, session)
    return len(endings)


async def soak(world: World, upkeep: Upkeep, round_: int) -> None:
    """Submit, run and wait until retention has removed all of it."""
    await upkeep.pass_once()
    made = await submit_jobs(
        world.conn, specs_of(world, round_), now=world.now, new_id=world.new_id
    )
    assert len(made) == NUMBER
    await world.advance(minutes=2)
    await upkeep.pass_once()
    assert await run_all(world) == NUMBER
    for _ in range(12):
        await world.advance(days=1)
        await upkeep.pass_once()


async def measure(world: World) -> tuple[dict[str, int], int]:
    """The rows of each table, and the bytes of those that are not made for a day or a month."""
    tables = [row[0] for row in await world.conn.fetch(TABLES)]
    for table in tables:
        await world.conn.execute(f"vacuum full rota.{table}")
    rows = {table: await world.count(table) for table in tables if "_2026" not in table}
    return rows, await world.conn.fetchval(BYTES)


async def test_nothing_is_left_of_submissions_after_retention(world: World) -> None:
    upkeep = Upkeep(world)
    await soak(world, upkeep, 0)
    before = await measure(world)

    await soak(world, upkeep, 1)

    assert await measure(world) == before
    rows, _ = before
    for table in ("jobs", "cursors", "audit", "gates", "runs_rest", "scheduled_runs", "live_runs"):
        assert rows[table] == 0, table
