"""Unique submissions: of many that are equal, one becomes a run (E16)."""

import asyncio
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest
from tests.support.world import World

from rota.core.errors import Conflict, InvalidInput
from rota.core.states import RunState
from rota.core.submissions import JobSpec, RunSpec
from rota.core.uniqueness import HeldWhile, OnConflict, UniqueRule
from rota.engine.submission.job_submission import SubmittedJob, submit_jobs
from rota.engine.submission.run_cancellation import cancel_run
from rota.engine.submission.run_triggers import run_now, submit_runs, submit_unique
from rota.engine.submission.unique_submissions import UniqueResult
from rota.store import live_runs, submissions, uniqueness_keys
from rota.store.live_runs import ClaimedRun, RunEnding

S = RunState
RULE = UniqueRule(key="invoice:{args.id}")
QUEUED = UniqueRule(key="invoice:{args.id}", held_while=HeldWhile.QUEUED)
REJECT = UniqueRule(key="invoice:{args.id}", on_conflict=OnConflict.REJECT)
DEBOUNCE = UniqueRule(
    key="invoice:{args.id}", held_while=HeldWhile.QUEUED, on_conflict=OnConflict.REPLACE
)
HOURLY = UniqueRule(key="invoice:{args.id}", within=timedelta(hours=1))


async def a_job(world: World, name: str = "bill", **given: object) -> UUID:
    (made,) = await jobs_of(world, JobSpec(name=name, kind="noop", **given))  # type: ignore[arg-type]
    return made.job_id


async def jobs_of(world: World, *specs: JobSpec) -> list[SubmittedJob]:
    return await submit_jobs(world.conn, specs, now=world.now, new_id=world.new_id)


async def handed(world: World, *specs: RunSpec) -> list[UniqueResult]:
    return await submit_unique(world.conn, specs, now=world.now, new_id=world.new_id)


async def bill(
    world: World, job_id: UUID, rule: UniqueRule = RULE, *, id_: int = 42, **given: object
) -> UniqueResult:
    payload = given.pop("payload", {"id": id_})
    spec = RunSpec(job_id=job_id, payload=payload, unique=rule, **given)  # type: ignore[arg-type]
    return (await handed(world, spec))[0]


async def begun(world: World) -> tuple[UUID, ClaimedRun]:
    session = await world.session()
    (run,) = await world.claim(session)
    return session, run


async def finished(world: World) -> None:
    session, run = await begun(world)
    ending = RunEnding(run.id, run.attempt, S.SUCCEEDED)
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])


async def test_whoever_comes_later_gets_the_run_that_waits(world: World) -> None:
    job_id = await a_job(world)

    first = await bill(world, job_id)
    second = await bill(world, job_id)
    other = await bill(world, job_id, id_=43)

    assert (first.is_new, second.is_new, other.is_new) == (True, False, True)
    assert second == UniqueResult(job_id, first.run_id, is_new=False)
    assert await world.count("live_runs") == 2


async def test_twenty_at_once_make_one_run(world: World, database: str) -> None:
    job_id = await a_job(world)
    conns = [await asyncpg.connect(database) for _ in range(20)]
    ids = [world.new_id() for _ in conns]

    async def one(conn: asyncpg.Connection, id_: UUID) -> UniqueResult:
        spec = RunSpec(job_id=job_id, id=id_, payload={"id": 1}, unique=RULE)
        return (await submit_unique(conn, [spec], now=world.now, new_id=world.new_id))[0]

    answers = await asyncio.gather(*(one(*each) for each in zip(conns, ids, strict=True)))

    assert sum(answer.is_new for answer in answers) == 1
    assert len({answer.run_id for answer in answers}) == 1
    assert await world.count("live_runs") == 1
    for conn in conns:
        await conn.close()


@pytest.mark.parametrize("held_while", HeldWhile)
async def test_twenty_at_once_make_one_run_after_the_one_before_has_ended(
    world: World, database: str, held_while: HeldWhile
) -> None:
    """The key is there already and must be handed over exactly once."""
    rule = UniqueRule(key="k", held_while=held_while)
    job_id = await a_job(world)
    await bill(world, job_id, rule)
    await finished(world)
    conns = [await asyncpg.connect(database) for _ in range(20)]
    ids = [world.new_id() for _ in conns]

    async def one(conn: asyncpg.Connection, id_: UUID) -> UniqueResult:
        spec = RunSpec(job_id=job_id, id=id_, unique=rule)
        return (await submit_unique(conn, [spec], now=world.now, new_id=world.new_id))[0]

    answers = await asyncio.gather(*(one(*each) for each in zip(conns, ids, strict=True)))

    assert sum(answer.is_new for answer in answers) == 1
    assert await world.count("live_runs") == 1
    for conn in conns:
        await conn.close()


async def test_batches_with_the_same_keys_in_any_order_do_not_deadlock(
    world: World, database: str
) -> None:
    job_id = await a_job(world)
    conns = [await asyncpg.connect(database) for _ in range(6)]
    keys = list(range(10))
    orders = [keys if n % 2 else keys[::-1] for n in range(6)]
    ids = [[world.new_id() for _ in keys] for _ in conns]

    async def batch(conn: asyncpg.Connection, order: list[int], mine: list[UUID]) -> int:
        specs = [
            RunSpec(job_id=job_id, id=id_, payload={"id": key}, unique=RULE)
            for key, id_ in zip(order, mine, strict=True)
        ]
        return len(await submit_runs(conn, specs, now=world.now, new_id=world.new_id))

    made = await asyncio.gather(*(batch(*each) for each in zip(conns, orders, ids, strict=True)))

    assert sum(made) == 10
    assert await world.count("live_runs") == 10
    for conn in conns:
        await conn.close()


async def test_a_run_that_has_begun_holds_its_key_only_if_the_rule_says_live(
    world: World,
) -> None:
    job_id = await a_job(world)
    first = await bill(world, job_id)
    await begun(world)

    live = await bill(world, job_id)
    queued = await bill(world, job_id, QUEUED)

    assert (live.is_new, live.run_id) == (False, first.run_id)
    assert queued.is_new


async def test_a_run_that_waits_for_its_retry_holds_its_key(world: World) -> None:
    job_id = await a_job(world)
    first = await bill(world, job_id, QUEUED)
    session, run = await begun(world)
    again = live_runs.ReturnedAttempt(
        run.id, run.attempt, S.RETRYING, "failed", 1, timedelta(minutes=1)
    )
    await live_runs.put_back_runs(world.conn, session_id=session, attempts=[again])

    second = await bill(world, job_id, QUEUED)

    assert (second.is_new, second.run_id) == (False, first.run_id)


async def test_a_run_that_has_ended_gives_its_key_back(world: World) -> None:
    job_id = await a_job(world)
    first = await bill(world, job_id)
    await cancel_run(world.conn, tenant_id=1, run_id=first.run_id, by="ana", now=world.now)

    second = await bill(world, job_id)
    await finished(world)
    third = await bill(world, job_id)

    assert second.is_new
    assert third.is_new


async def test_a_period_holds_the_key_past_the_end_of_the_run(world: World) -> None:
    job_id = await a_job(world)
    first = await bill(world, job_id, HOURLY)
    await finished(world)

    await world.advance(minutes=59)
    within = await bill(world, job_id, HOURLY)
    await world.advance(minutes=1)
    after = await bill(world, job_id, HOURLY)

    assert (within.is_new, within.run_id) == (False, first.run_id)
    assert after.is_new


async def test_reject_says_which_run_holds_the_key_and_makes_nothing(world: World) -> None:
    job_id = await a_job(world)
    first = await bill(world, job_id)
    new = RunSpec(job_id=job_id, payload={"id": 1}, unique=REJECT)
    taken = RunSpec(job_id=job_id, payload={"id": 42}, unique=REJECT)

    with pytest.raises(Conflict, match=f"run {first.run_id}: holds the unique key 'invoice:42'"):
        await handed(world, new, taken)

    assert await world.count("live_runs") == 1
    assert (await handed(world, new))[0].is_new


async def test_debounce_moves_the_run_that_waits_to_the_last_time_and_payload(
    world: World,
) -> None:
    job_id = await a_job(world)
    soon, later = world.now + timedelta(seconds=5), world.now + timedelta(seconds=9)
    first = await bill(world, job_id, DEBOUNCE, payload={"id": 1, "n": 1}, due_at=soon)

    second = await bill(
        world, job_id, DEBOUNCE, payload={"id": 1, "n": 2}, due_at=later, priority=1
    )

    row = await world.conn.fetchrow(
        "select id, due_at, ready_at, scheduled_at, priority, payload from rota.live_runs"
    )
    assert row is not None
    assert second == UniqueResult(job_id, first.run_id, is_new=False, is_replaced=True)
    assert tuple(row) == (first.run_id, later, later, later, 1, '{"n": 2, "id": 1}')


async def test_debounce_after_the_run_has_begun_makes_the_next_one(world: World) -> None:
    job_id = await a_job(world)
    first = await bill(world, job_id, DEBOUNCE)
    await begun(world)

    second = await bill(world, job_id, DEBOUNCE)

    assert (second.is_new, second.is_replaced) == (True, False)
    assert second.run_id != first.run_id


async def test_what_has_begun_cannot_be_replaced_and_says_so(world: World) -> None:
    """With a rule that holds the key while it runs: what was handed in must not vanish."""
    rule = UniqueRule(key="k", on_conflict=OnConflict.REPLACE)
    job_id = await a_job(world)
    first = await bill(world, job_id, rule)
    await begun(world)

    with pytest.raises(Conflict, match=str(first.run_id)):
        await bill(world, job_id, rule, payload={"n": 2})


async def test_a_run_of_another_job_is_not_replaced(world: World) -> None:
    first = await bill(world, await a_job(world), DEBOUNCE)
    other = await a_job(world, "other")

    with pytest.raises(Conflict, match=str(first.run_id)):
        await bill(world, other, DEBOUNCE)


async def test_the_same_key_of_another_tenant_is_another_key(world: World) -> None:
    ours = await a_job(world)
    await world.conn.execute("insert into rota.tenants (name) values ('other')")
    theirs = await a_job(world, tenant="other")

    first, second = await bill(world, ours), await bill(world, theirs)

    assert first.is_new
    assert second.is_new


async def test_two_equal_ones_in_one_batch_are_one_run(world: World) -> None:
    spec = RunSpec(job_id=await a_job(world), payload={"id": 1}, unique=RULE)
    plain = RunSpec(job_id=spec.job_id)

    first, free, second = await handed(world, spec, plain, spec)

    assert (first.is_new, free.is_new, second.is_new) == (True, True, False)
    assert first.run_id == second.run_id
    assert await world.count("live_runs") == 2


async def test_a_key_takes_its_places_from_the_payload_of_the_job(world: World) -> None:
    job_id = await a_job(world, payload={"id": 9})

    first = await bill(world, job_id, payload=None)
    second = await bill(world, job_id, id_=9)

    assert second.run_id == first.run_id


async def test_bulk_submission_returns_only_what_is_new(world: World) -> None:
    spec = RunSpec(job_id=await a_job(world), payload={"id": 1}, unique=RULE)

    made = await submit_runs(world.conn, [spec, spec], now=world.now, new_id=world.new_id)
    again = await submit_runs(world.conn, [spec], now=world.now, new_id=world.new_id)

    assert (len(made), again) == (1, [])


async def test_wrong_rules_say_where(world: World) -> None:
    job_id = await a_job(world)
    spec = RunSpec(job_id=job_id, payload={"id": [1]}, unique=RULE)

    with pytest.raises(InvalidInput, match=r"runs\[0\].unique.key"):
        await handed(world, spec)
    with pytest.raises(InvalidInput, match="unique"):
        await run_now(world.conn, spec, now=world.now, new_id=world.new_id)
    with pytest.raises(InvalidInput, match=r"jobs\[0\].unique.on_conflict"):
        await jobs_of(world, JobSpec(name="x", kind="noop", unique=DEBOUNCE, payload={"id": 1}))


NOW = {"immediate": True}


async def test_a_job_that_is_handed_in_twice_is_found(world: World) -> None:
    spec = JobSpec(name="once", kind="noop", schedule=NOW, unique=RULE, payload={"id": 1})

    (first,) = await jobs_of(world, spec)
    plain = JobSpec(name="beside", kind="noop", schedule=NOW)
    second, beside = await jobs_of(world, spec, plain)

    assert second == SubmittedJob(first.job_id, first.run_id, None, is_deduplicated=True)
    assert not first.is_deduplicated
    assert not beside.is_deduplicated
    assert await world.count("live_runs") == 2


async def test_a_job_that_is_handed_in_twice_is_found_under_its_own_name(world: World) -> None:
    """A job of that name would be refused without a rule."""
    spec = JobSpec(
        name="each hour", kind="noop", schedule={"every": "1h"}, unique=UniqueRule(key="k")
    )

    (first,) = await jobs_of(world, spec)
    (second,) = await jobs_of(world, spec)

    assert second == SubmittedJob(first.job_id, None, None, is_deduplicated=True)
    assert await world.count("jobs") == 1


async def test_a_submission_waits_from_before_its_instant_until_it_begins(world: World) -> None:
    rule = UniqueRule(key="k", held_while=HeldWhile.QUEUED)
    first, second = (
        JobSpec(name=name, kind="noop", schedule={"after": "1h"}, unique=rule)
        for name in ("one", "two")
    )
    (made,) = await jobs_of(world, first)

    (found,) = await jobs_of(world, second)
    await world.advance(hours=1)
    await submissions.move_due(world.conn, await world.own(), range(128), per_shard=10)
    (waiting,) = await jobs_of(world, second)
    await begun(world)
    (free,) = await jobs_of(world, second)

    assert found == SubmittedJob(made.job_id, None, None, is_deduplicated=True)
    assert waiting.job_id == made.job_id
    assert not free.is_deduplicated


async def test_a_job_whose_key_is_held_can_be_rejected(world: World) -> None:
    rule = UniqueRule(key="k", on_conflict=OnConflict.REJECT)
    one, two = (
        JobSpec(name=name, kind="noop", schedule=NOW, unique=rule) for name in ("one", "two")
    )
    (made,) = await jobs_of(world, one)

    with pytest.raises(Conflict, match=str(made.run_id)):
        await jobs_of(world, two)
    with pytest.raises(InvalidInput, match=r"jobs\[1\].unique.key"):
        await jobs_of(world, one, two)

    assert await world.count("live_runs") == 1


async def test_twenty_jobs_at_once_become_one(world: World, database: str) -> None:
    conns = [await asyncpg.connect(database) for _ in range(20)]
    rule = UniqueRule(key="k")

    async def one(n: int, conn: asyncpg.Connection) -> SubmittedJob:
        spec = JobSpec(name=f"job {n}", kind="noop", schedule=NOW, unique=rule)
        return (await submit_jobs(conn, [spec], now=world.now, new_id=world.new_id))[0]

    answers = await asyncio.gather(*(one(n, conn) for n, conn in enumerate(conns)))

    assert sum(not answer.is_deduplicated for answer in answers) == 1
    assert len({(answer.job_id, answer.run_id) for answer in answers}) == 1
    assert await world.count("live_runs") == 1
    for conn in conns:
        await conn.close()


async def test_keys_are_forgotten_when_nobody_holds_them(world: World) -> None:
    job_id = await a_job(world)
    await bill(world, job_id)
    await finished(world)
    await bill(world, job_id, id_=1)
    await bill(world, job_id, HOURLY, id_=2)
    later = {"after": "1h"}
    await jobs_of(world, JobSpec(name="x", kind="noop", schedule=later, unique=UniqueRule(key="k")))

    at_once = await uniqueness_keys.prune_keys(world.conn, limit=10)
    await world.advance(minutes=10)
    soon = await uniqueness_keys.prune_keys(world.conn, limit=10)

    assert (at_once, soon) == (0, 1)
    assert await world.count("unique_keys") == 3
    assert not (await bill(world, job_id, id_=1)).is_new
