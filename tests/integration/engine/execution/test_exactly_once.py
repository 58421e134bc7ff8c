"""A job that is exactly once succeeds in its own transaction, or not at all (E2)."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from tests.support.shop import Shop, until

import rota
from rota.core.executor import AttemptContext, Fail
from rota.core.outcome import Guarantee, Outcome, Succeeded
from rota.core.policy import Policy, RetryPolicy
from rota.core.states import RunState
from rota.executors.python.contexts import BlockingContext
from rota.store import kinds, live_runs

EXACTLY = Policy(guarantee=Guarantee.EXACTLY_ONCE, retries=RetryPolicy(max_retries=3))
IN_TRANSACTION = """
select count(*) from pg_stat_activity
where datname = current_database() and state like 'idle in transaction%'
"""


async def effects(shop: Shop) -> int:
    return int(await shop.conn.fetchval("select count(*) from effects"))


async def no_transaction_is_open(shop: Shop) -> bool:
    return int(await shop.conn.fetchval(IN_TRANSACTION)) == 0


@pytest.fixture(autouse=True)
async def table(shop: Shop) -> None:
    await shop.conn.execute("create table effects (run_id uuid)")


async def test_an_attempt_that_ends_without_its_transaction_fails_for_good(shop: Shop) -> None:
    @shop.handlers.handler("forgetful")
    async def forgetful(_context: AttemptContext, _payload: Any) -> str:
        return "done"

    @shop.handlers.handler("forgetful thread")
    def forgetful_thread(_context: BlockingContext, _payload: Any) -> str:
        return "done"

    run_ids = [
        await shop.submit(kind, policy=EXACTLY) for kind in ("forgetful", "forgetful thread")
    ]
    async with shop.worker():
        runs = [await shop.ends(run_id) for run_id in run_ids]

    assert {(run.state, run.attempt) for run in runs} == {(RunState.DEAD, 1)}
    for run in runs:
        assert "job is exactly_once but its handler returned" in (run.reason or "")
        assert "without using ctx.transaction()" in (run.reason or "")


async def test_the_same_handler_succeeds_at_least_once(shop: Shop) -> None:
    @shop.handlers.handler("plain")
    async def plain(_context: AttemptContext, _payload: Any) -> str:
        return "done"

    run_id = await shop.submit("plain")
    async with shop.worker():
        run = await shop.ends(run_id)

    assert run.state is RunState.SUCCEEDED


class Outside:
    """An executor that acts on the outside world and knows nothing of transactions."""

    kinds: Sequence[str] = ("outside",)
    started = 0

    def read(self, kind: str, payload: Any) -> Any:  # noqa: ARG002 — the contract
        return payload

    async def run(self, spec: Any, context: AttemptContext) -> Outcome:  # noqa: ARG002 — the contract
        type(self).started += 1
        return Succeeded()

    async def open(self) -> None: ...

    async def close(self) -> None: ...


async def test_an_attempt_that_cannot_keep_the_promise_is_not_started(shop: Shop) -> None:
    Outside.started = 0
    shop.others = (Outside,)
    run_id = await shop.submit("outside", policy=EXACTLY)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, run.attempt) == (RunState.DEAD, 1)
    assert "exactly_once" in (run.reason or "")
    assert Outside.started == 0


async def test_workers_say_which_kinds_can_be_exactly_once(shop: Shop) -> None:
    @shop.handlers.handler("thread")
    def thread(_context: BlockingContext, _payload: Any) -> None: ...

    shop.others = (Outside,)
    async with shop.worker():
        rows = await shop.conn.fetch(
            "select name, exactly_once from rota.kinds where exactly_once is not null"
        )
        incapable = await kinds.find_without_exactly_once(
            shop.conn, ["thread", "outside", "unknown"]
        )

    assert {row[0]: row[1] for row in rows} == {"thread": True, "outside": False}
    assert incapable == {"outside"}


async def test_effects_of_a_thread_and_its_completion_are_committed_together(shop: Shop) -> None:
    @shop.handlers.handler("pay")
    def pay(context: BlockingContext, _payload: Any) -> str:
        with context.transaction(result={"paid": 1}) as conn:
            assert conn.execute("insert into effects values ($1)", context.run_id) == "INSERT 0 1"
            conn.executemany("insert into effects values ($1)", [(context.run_id,)] * 2)
            assert len(conn.fetch("select run_id from effects where run_id = $1", context.run_id))
            row = conn.fetchrow("select run_id from effects where run_id = $1", context.run_id)
            assert row["run_id"] == context.run_id
            assert conn.fetchval("select 1") == 1
            assert conn.fetchrow("select 1 where false") is None
        return "too late"

    run_ids = [await shop.submit("pay", policy=EXACTLY) for _ in range(10)]
    async with shop.worker():
        runs = [await shop.ends(run_id) for run_id in run_ids]

    assert {(run.state, run.attempt) for run in runs} == {(RunState.SUCCEEDED, 1)}
    assert {run.result for run in runs} == {'{"paid": 1}'}
    assert await effects(shop) == 30


async def test_a_thread_that_raises_inside_its_transaction_leaves_nothing(shop: Shop) -> None:
    @shop.handlers.handler("pay")
    def pay(context: BlockingContext, _payload: Any) -> None:
        with context.transaction() as conn:
            conn.execute("insert into effects values ($1)", context.run_id)
            raise Fail("no money")

    run_id = await shop.submit("pay", policy=EXACTLY)
    async with shop.worker():
        run = await shop.ends(run_id)
        await until(lambda: no_transaction_is_open(shop))

    assert run.state is RunState.DEAD
    assert "no money" in (run.reason or "")
    assert await effects(shop) == 0


async def test_a_statement_that_fails_keeps_its_name_and_rolls_back(shop: Shop) -> None:
    @shop.handlers.handler("pay")
    def pay(context: BlockingContext, _payload: Any) -> None:
        with context.transaction() as conn:
            conn.execute("insert into effects values ($1)", context.run_id)
            conn.execute("insert into no_such_table values (1)")

    run_id = await shop.submit("pay", policy=Policy(retries=RetryPolicy(max_retries=0)))
    async with shop.worker():
        run = await shop.ends(run_id)

    assert run.state is RunState.DEAD
    assert '"UndefinedTableError"' in (run.reason or "")
    assert await effects(shop) == 0


async def test_a_thread_that_times_out_inside_its_transaction_leaves_nothing(shop: Shop) -> None:
    seen: list[BaseException] = []

    @shop.handlers.handler("slow")
    def slow(context: BlockingContext, _payload: Any) -> None:
        try:
            with context.transaction() as conn:
                conn.execute("insert into effects values ($1)", context.run_id)
                conn.execute("select pg_sleep(60)")
        except BaseException as error:
            seen.append(error)
            raise

    policy = Policy(timeout=timedelta(milliseconds=500), retries=RetryPolicy(max_retries=0))
    run_id = await shop.submit("slow", policy=policy)
    async with shop.worker():
        run = await shop.ends(run_id)
        await until(lambda: no_transaction_is_open(shop))

    assert run.state is RunState.DEAD
    assert '"Timeout"' in (run.reason or "")
    assert [type(error) for error in seen] == [rota.AttemptCancelled]
    assert await effects(shop) == 0


async def test_a_thread_that_does_not_stop_keeps_no_transaction_open(shop: Shop) -> None:
    """It is left behind; its transaction is not."""
    inside, end = threading.Event(), threading.Event()
    refused: list[BaseException] = []

    @shop.handlers.handler("stubborn")
    def stubborn(context: BlockingContext, _payload: Any) -> None:
        with context.transaction() as conn:
            conn.execute("insert into effects values ($1)", context.run_id)
            inside.set()
            end.wait()
            try:
                conn.execute("select 1")
            except BaseException as error:
                refused.append(error)
                raise

    run_id = await shop.submit("stubborn", policy=Policy(grace=timedelta(milliseconds=100)))
    async with shop.worker():
        await asyncio.to_thread(inside.wait)
        await live_runs.cancel_runs(shop.conn, ids=[run_id])
        run = await shop.ends(run_id)
        await until(lambda: no_transaction_is_open(shop))
        end.set()

        async def was_refused() -> bool:
            return bool(refused)

        await until(was_refused)

    assert run.state is RunState.CANCELLED
    assert [type(error) for error in refused] == [rota.AttemptCancelled]
    assert await effects(shop) == 0


async def test_a_transaction_that_a_handler_never_leaves_is_rolled_back(shop: Shop) -> None:
    kept: list[Any] = []

    @shop.handlers.handler("careless")
    def careless(context: BlockingContext, _payload: Any) -> None:
        kept.append(context.transaction())
        conn = kept[0].__enter__()
        conn.execute("insert into effects values ($1)", context.run_id)
        kept.append(conn)

    run_id = await shop.submit("careless", policy=EXACTLY)
    async with shop.worker():
        run = await shop.ends(run_id)
        await until(lambda: no_transaction_is_open(shop))
        with pytest.raises(RuntimeError, match="the transaction has ended"):
            await asyncio.to_thread(kept[1].execute, "select 1")

    assert run.state is RunState.DEAD
    assert await effects(shop) == 0


async def test_a_thread_whose_run_is_somebody_elses_leaves_no_effect(shop: Shop) -> None:
    inside, taken = threading.Event(), threading.Event()
    seen: list[BaseException] = []

    @shop.handlers.handler("pay")
    def pay(context: BlockingContext, _payload: Any) -> None:
        try:
            with context.transaction() as conn:
                conn.execute("insert into effects values ($1)", context.run_id)
                inside.set()
                taken.wait()
        except BaseException as error:
            seen.append(error)
            raise

    run_id = await shop.submit("pay", policy=EXACTLY)
    async with shop.worker():
        await asyncio.to_thread(inside.wait)
        await live_runs.cancel_runs_now(shop.conn, ids=[run_id])
        taken.set()

        async def was_seen() -> bool:
            return bool(seen)

        await until(was_seen)

    assert await effects(shop) == 0
    assert type(seen[0]).__name__ in {"LeaseLost", "AttemptCancelled"}


async def test_a_thread_hands_on_a_job_in_the_transaction_that_completes_its_run(
    shop: Shop,
) -> None:
    @shop.handlers.handler("order")
    def order(context: BlockingContext, _payload: Any) -> None:
        with context.transaction() as conn:
            conn.execute("insert into effects values ($1)", context.run_id)
            rota.in_transaction(conn).create_job(name="receipt", kind="receipt")

    @shop.handlers.handler("receipt")
    async def receipt(_context: AttemptContext, _payload: Any) -> None: ...

    run_id = await shop.submit("order", policy=EXACTLY)
    async with shop.worker():
        run = await shop.ends(run_id)

    made = await shop.conn.fetchval(
        "select count(*) from (select name from rota.live_runs union all"
        " select name from rota.runs) as submitted where name = 'receipt'"
    )
    assert run.state is RunState.SUCCEEDED
    assert (made, await effects(shop)) == (1, 1)
