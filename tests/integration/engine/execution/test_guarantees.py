"""Exactly once with the handler's own effects; dead letters come back; deadlines (E2, E9, E10)."""

import asyncio
import threading
from datetime import timedelta
from typing import Any

import msgspec
from tests.support.shop import CLOCK, QUICK, Shop, until

from rota.core.executor import AttemptContext, Fail
from rota.core.outcome import Guarantee
from rota.core.policy import Policy, RetryPolicy
from rota.core.states import RunState
from rota.engine.maintenance.run_rescuer import RunExpirer
from rota.store import live_runs
from rota.store.live_runs import NewRun
from rota.store.pool import open_connection, open_pool

EXACTLY = Policy(guarantee=Guarantee.EXACTLY_ONCE, retries=RetryPolicy(max_retries=0))


async def effects(shop: Shop) -> int:
    return int(await shop.conn.fetchval("select count(*) from effects"))


async def test_effects_and_completion_are_committed_together(shop: Shop) -> None:
    await shop.conn.execute("create table effects (run_id uuid)")

    @shop.handlers.handler("pay")
    async def pay(context: AttemptContext, _payload: Any) -> None:
        async with context.transaction() as conn:
            await conn.execute("insert into effects values ($1)", context.run_id)

    run_ids = [await shop.submit("pay", policy=EXACTLY) for _ in range(10)]
    async with shop.worker():
        runs = [await shop.ends(run_id) for run_id in run_ids]

    assert {(run.state, run.attempt) for run in runs} == {(RunState.SUCCEEDED, 1)}
    assert await effects(shop) == 10


async def test_a_handler_that_raises_inside_its_transaction_leaves_nothing(shop: Shop) -> None:
    await shop.conn.execute("create table effects (run_id uuid)")

    @shop.handlers.handler("pay")
    async def pay(context: AttemptContext, _payload: Any) -> None:
        async with context.transaction() as conn:
            await conn.execute("insert into effects values ($1)", context.run_id)
            raise Fail("no money")

    run_id = await shop.submit("pay", policy=EXACTLY)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert run.state is RunState.DEAD
    assert await effects(shop) == 0


async def test_what_a_handler_raises_inside_its_transaction_keeps_its_name(shop: Shop) -> None:
    @shop.handlers.handler("call")
    async def call(context: AttemptContext, _payload: Any) -> None:
        async with context.transaction():
            raise ConnectionRefusedError("the bank is closed")

    run_id = await shop.submit("call", policy=EXACTLY)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert run.state is RunState.DEAD
    assert '"ConnectionRefusedError"' in (run.reason or "")


async def test_a_run_that_was_cancelled_first_leaves_no_effect(shop: Shop) -> None:
    await shop.conn.execute("create table effects (run_id uuid)")
    inside, cancelled = threading.Event(), threading.Event()

    @shop.handlers.handler("pay")
    async def pay(context: AttemptContext, _payload: Any) -> None:
        async with context.transaction() as conn:
            await conn.execute("insert into effects values ($1)", context.run_id)
            inside.set()
            await asyncio.to_thread(cancelled.wait)

    run_id = await shop.submit("pay", policy=EXACTLY)
    async with shop.worker():
        await asyncio.to_thread(inside.wait)
        await live_runs.cancel_runs(shop.conn, ids=[run_id])
        cancelled.set()
        run = await shop.ends(run_id)

    assert run.state is RunState.CANCELLED
    assert await effects(shop) == 0


async def test_a_run_that_somebody_else_owns_leaves_no_effect(shop: Shop) -> None:
    await shop.conn.execute("create table effects (run_id uuid)")
    inside, taken = threading.Event(), threading.Event()

    @shop.handlers.handler("pay")
    async def pay(context: AttemptContext, _payload: Any) -> None:
        async with context.transaction() as conn:
            await conn.execute("insert into effects values ($1)", context.run_id)
            inside.set()
            await asyncio.to_thread(taken.wait)

    run_id = await shop.submit("pay", policy=EXACTLY)
    async with shop.worker():
        await asyncio.to_thread(inside.wait)
        await live_runs.cancel_runs_now(shop.conn, ids=[run_id])
        taken.set()

    assert await effects(shop) == 0


async def test_a_dead_letter_comes_back_under_its_id_with_attempts_that_go_on(shop: Shop) -> None:
    @shop.handlers.handler("fixed later")
    async def fixed_later(_context: AttemptContext, payload: Any) -> str:
        if payload == "bad":
            raise Fail("bad payload")
        return "good"

    run_id = await shop.submit("fixed later", "bad")
    async with shop.worker():
        await shop.reaches(run_id, RunState.DEAD)
        replayed = await live_runs.requeue_runs(shop.conn, ids=[run_id], payload='"good"')
        run = await shop.reaches(run_id, RunState.SUCCEEDED)

    assert replayed == [run_id]
    assert (run.attempt, run.failures) == (2, 0)
    assert await shop.attempts(run_id) == [(1, "failed")]


async def test_what_has_succeeded_cannot_be_replayed(shop: Shop) -> None:
    @shop.handlers.handler("fine")
    async def fine(_context: AttemptContext, _payload: Any) -> None:
        pass

    run_id = await shop.submit("fine")
    async with shop.worker():
        await shop.ends(run_id)

    assert await live_runs.requeue_runs(shop.conn, ids=[run_id]) == []
    assert (await shop.look(run_id)).state is RunState.SUCCEEDED


async def test_a_waiting_run_expires_at_its_deadline(shop: Shop) -> None:
    past = CLOCK.now() - timedelta(seconds=1)
    late = await shop.submit("nobody serves this", deadline_at=past)
    calm = await shop.submit("nobody serves this", deadline_at=past + timedelta(hours=1))

    async with open_pool(shop.access, size=1) as pool:
        await RunExpirer(source=pool, emit=shop.events.append).tick()

    assert (await shop.look(late)).state is RunState.EXPIRED
    assert (await shop.look(calm)).state is RunState.QUEUED


async def test_many_runs_are_in_flight_at_once_in_one_process(shop: Shop) -> None:
    """P5, on a smaller scale than the benchmark."""
    running: set[object] = set()
    everybody = asyncio.Event()

    @shop.handlers.handler("together")
    async def together(context: AttemptContext, _payload: Any) -> None:
        running.add(context.run_id)
        if len(running) == 200:
            everybody.set()
        await everybody.wait()

    for _ in range(200):
        await shop.submit("together")

    async def all_done() -> bool:
        return not await shop.conn.fetchval("select count(*) from rota.live_runs")

    async with shop.worker(msgspec.structs.replace(QUICK, slots=200)):
        await until(all_done)

    assert len(running) == 200


async def test_a_run_that_is_asked_for_again_while_it_ends_is_not_made_twice(shop: Shop) -> None:
    """The insert sees no history yet and waits for the live row; then it must look again."""

    @shop.handlers.handler("nobody")
    async def nobody(_context: AttemptContext, _payload: Any) -> None:
        pass

    run_id = await shop.submit("not served")
    run = await shop.conn.fetchrow("select * from rota.live_runs where id = $1", run_id)
    assert run is not None
    again = NewRun(
        id=run_id,
        job_id=run["job_id"],  # type: ignore[call-overload]
        scheduled_at=run["scheduled_at"],  # type: ignore[call-overload]
        due_at=run["due_at"],  # type: ignore[call-overload]
        tenant_id=1,
        queue_id=run["queue_id"],  # type: ignore[call-overload]
        kind_id=run["kind_id"],  # type: ignore[call-overload]
        policy_id=run["policy_id"],  # type: ignore[call-overload]
    )

    async with open_connection(shop.access) as other:
        async with shop.conn.transaction():
            await live_runs.cancel_runs_now(shop.conn, ids=[run_id])
            asking = asyncio.create_task(live_runs.insert_runs(other, [again]))
            await until(lambda: waits_for_a_lock(shop))
        made = await asking

    assert made == []
    assert await shop.conn.fetchval("select count(*) from rota.live_runs") == 0


async def waits_for_a_lock(shop: Shop) -> bool:
    query = "select exists (select 1 from pg_locks where not granted)"
    return bool(await shop.conn.fetchval(query))


async def test_an_ending_that_cannot_be_stored_does_not_keep_the_others(shop: Shop) -> None:
    @shop.handlers.handler("good")
    async def good(_context: AttemptContext, payload: Any) -> Any:
        return payload

    await shop.conn.execute(
        "create function refuse() returns trigger language plpgsql as"
        " $$ begin raise exception 'refused'; end $$"
    )
    await shop.conn.execute(
        "create trigger refuse before insert on rota.runs for each row"
        " when (new.result = '13'::jsonb) execute function refuse()"
    )
    run_ids = [await shop.submit("good", number) for number in range(20)]
    async with shop.worker():
        runs = [await shop.ends(run_id) for run_id in run_ids]

    bad = runs.pop(13)
    assert {run.state for run in runs} == {RunState.SUCCEEDED}
    assert bad.state is RunState.DEAD
    assert "could not be stored" in (bad.reason or "")
