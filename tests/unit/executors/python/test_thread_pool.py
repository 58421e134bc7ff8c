"""Sync handlers in threads: limits, stopping, and those that do not stop (E11, E13, F17)."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.unit.executors.python.conftest import Bench
from tests.unit.executors.python.recording import DEADLINE, Recording

from rota.core.errors import LeaseLost
from rota.core.executor import Fail
from rota.core.outcome import Succeeded
from rota.executors.python import (
    AttemptCancelled,
    BlockingContext,
    Handlers,
    PythonExecutor,
    PythonLimits,
)


@pytest.fixture
async def narrow() -> AsyncIterator[Bench]:
    """An executor with a single thread."""
    bench = Bench(PythonLimits(threads=1))
    yield bench
    await bench.executor.close()


def our_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "rota-handler"]


async def test_a_sync_handler_leaves_the_loop_to_others(bench: Bench):
    door = threading.Event()

    @bench.handlers.handler("wait")
    def wait(context: BlockingContext, payload: Any) -> Any:
        print("waiting")  # noqa: T201
        return door.wait(DEADLINE), context.run_id.int, context.due_at == Recording.due_at

    context = Recording()
    attempt = asyncio.ensure_future(bench.run("wait", context=context))
    await context.hears("waiting")
    door.set()

    assert await attempt == Succeeded(result=(True, 1, True))


async def test_a_thread_is_used_again(bench: Bench):
    @bench.handlers.handler("which")
    def which(context: BlockingContext, payload: Any) -> int:
        return threading.get_ident()

    outcomes = {await bench.run("which") for _ in range(5)}

    assert len(outcomes) == 1


async def test_more_runs_than_threads_wait_for_their_turn(narrow: Bench):
    door, begun = threading.Event(), list[int]()

    @narrow.handlers.handler("wait")
    def wait(context: BlockingContext, payload: Any) -> None:
        begun.append(payload)
        context.progress(0.0, "begun")
        assert door.wait(DEADLINE)

    contexts = [Recording(), Recording()]
    first = asyncio.ensure_future(narrow.run("wait", 1, contexts[0]))
    await contexts[0].hears("begun")
    second = asyncio.ensure_future(narrow.run("wait", 2, contexts[1]))
    await asyncio.wait([second], timeout=0.05)

    assert begun == [1]
    door.set()
    await asyncio.gather(first, second)
    assert begun == [1, 2]


async def test_a_run_can_be_cancelled_while_it_waits_for_a_thread(narrow: Bench):
    door = threading.Event()

    @narrow.handlers.handler("wait")
    def wait(context: BlockingContext, payload: Any) -> None:
        context.progress(0.0, "begun")
        assert door.wait(DEADLINE)

    context = Recording()
    first = asyncio.ensure_future(narrow.run("wait", context=context))
    await context.hears("begun")
    second = asyncio.ensure_future(narrow.run("wait"))
    await asyncio.wait([second], timeout=0.01)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second

    door.set()
    assert await first == Succeeded()
    assert narrow.executor.abandoned == 0


async def test_a_sync_handler_resumes_tells_and_saves(bench: Bench):
    @bench.handlers.handler("walk")
    def walk(context: BlockingContext, payload: Any) -> Any:
        start = context.resume()
        context.progress(0.5, "half")
        context.checkpoint({"at": start["at"] + 1})
        return start

    context = Recording(checkpoint={"at": 7})
    outcome = await bench.run("walk", context=context)

    assert outcome == Succeeded(result={"at": 7})
    assert (0.5, "half") in context.told
    assert context.stored == {"at": 8}


async def test_a_lost_lease_reaches_a_sync_handler(bench: Bench):
    @bench.handlers.handler("save")
    def save(context: BlockingContext, payload: Any) -> None:
        context.checkpoint(1)

    context = Recording()
    context.refusal = LeaseLost("attempt", 3)

    with pytest.raises(LeaseLost) as lost:
        await bench.run("save", context=context)
    assert lost.value is context.refusal


async def test_what_a_transaction_refuses_reaches_a_sync_handler(bench: Bench):
    class Refusing(Recording):
        def transaction(self, result: object = None) -> Any:
            raise Fail(f"no transaction for {result}")

    @bench.handlers.handler("pay")
    def pay(context: BlockingContext, payload: Any) -> None:
        with context.transaction("this"):
            raise AssertionError("not reached")

    with pytest.raises(Fail, match="no transaction for this"):
        await bench.run("pay", context=Refusing())


async def test_a_transaction_of_a_thread_is_one_task_on_the_loop(bench: Bench):
    """Begin, statements and end: a driver may bind a transaction to the task that began it."""
    tasks: list[Any] = []

    class Connection:
        async def fetchval(self, query: str) -> str:
            tasks.append(asyncio.current_task())
            return query

    class Lending(Recording):
        @asynccontextmanager
        async def transaction(self, result: object = None) -> AsyncIterator[Connection]:  # noqa: ARG002
            tasks.append(asyncio.current_task())
            yield Connection()
            tasks.append(asyncio.current_task())

    @bench.handlers.handler("pay")
    def pay(context: BlockingContext, payload: Any) -> str:
        with context.transaction() as conn:
            return str(conn.fetchval("select 1"))

    assert await bench.run("pay", context=Lending()) == Succeeded(result="select 1")
    assert len(tasks) == 3
    assert len(set(tasks)) == 1


async def test_no_transaction_begins_in_an_attempt_that_was_asked_to_stop(bench: Bench):
    @bench.handlers.handler("late")
    def late(context: BlockingContext, payload: Any) -> None:
        context.transaction()

    context = Recording()
    context.cancelled = True

    with pytest.raises(asyncio.CancelledError):
        await bench.run("late", context=context)


async def test_a_coroutine_that_nobody_awaits_is_a_final_failure(bench: Bench):
    async def inner() -> None:
        pass

    @bench.handlers.handler("wrapped")
    def wrapped(context: BlockingContext, payload: Any) -> Any:
        return inner()

    with pytest.raises(Fail, match="async def"):
        await bench.run("wrapped")


@pytest.mark.parametrize("method", ["progress", "checkpoint", "resume"])
async def test_a_cancelled_sync_handler_stops_at_its_next_call(bench: Bench, method: str):
    door, ends = threading.Event(), list[str]()

    @bench.handlers.handler("work")
    def work(context: BlockingContext, payload: Any) -> None:
        context.progress(0.0, "begun")
        assert door.wait(DEADLINE)
        assert context.cancelled
        calls = {
            "progress": lambda: context.progress(0.5),
            "checkpoint": lambda: context.checkpoint(1),
            "resume": context.resume,
        }
        try:
            calls[method]()
        except Exception:  # noqa: BLE001 — what a careless handler does
            ends.append("swallowed")
        except AttemptCancelled:
            ends.append("stopped")
            raise

    context = Recording()
    attempt = asyncio.ensure_future(bench.run("work", context=context))
    await context.hears("begun")
    attempt.cancel()
    asyncio.get_running_loop().call_soon(door.set)

    with pytest.raises(asyncio.CancelledError):
        await attempt
    assert ends == ["stopped"]
    assert bench.executor.abandoned == 0
    assert context.stored is None


async def test_a_stop_that_the_handler_notices_first_is_a_cancellation(bench: Bench):
    @bench.handlers.handler("work")
    def work(context: BlockingContext, payload: Any) -> None:
        context.progress(0.5)

    context = Recording()
    context.cancelled = True

    with pytest.raises(asyncio.CancelledError):
        await bench.run("work", context=context)
    assert context.told == []


async def test_a_thread_that_does_not_stop_is_left_behind_and_takes_no_place(narrow: Bench):
    door, stuck = threading.Event(), list[threading.Thread]()

    @narrow.handlers.handler("deaf")
    def deaf(context: BlockingContext, payload: Any) -> None:
        stuck.append(threading.current_thread())
        context.progress(0.0, "begun")
        assert door.wait(DEADLINE)

    @narrow.handlers.handler("next")
    def following(context: BlockingContext, payload: Any) -> str:
        return "ran"

    context = Recording(grace=0.05)
    attempt = asyncio.ensure_future(narrow.run("deaf", context=context))
    await context.hears("begun")
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt

    assert narrow.executor.abandoned == 1
    assert await narrow.run("next") == Succeeded(result="ran")
    door.set()
    await asyncio.to_thread(stuck[0].join, DEADLINE)
    assert not stuck[0].is_alive()
    assert narrow.executor.abandoned == 0


async def test_a_second_cancellation_waits_for_no_grace(bench: Bench):
    door = threading.Event()

    @bench.handlers.handler("deaf")
    def deaf(context: BlockingContext, payload: Any) -> None:
        context.progress(0.0, "begun")
        assert door.wait(DEADLINE)

    context = Recording(grace=60)
    attempt = asyncio.ensure_future(bench.run("deaf", context=context))
    await context.hears("begun")
    attempt.cancel()
    await asyncio.wait([attempt], timeout=0.01)
    attempt.cancel()

    with pytest.raises(asyncio.CancelledError):
        await attempt
    assert bench.executor.abandoned == 1
    door.set()


async def test_closing_ends_the_idle_threads():
    handlers = Handlers()
    executor = PythonExecutor(handlers)

    @handlers.handler("quick")
    def quick(context: BlockingContext, payload: Any) -> None:
        pass

    before = set(our_threads())
    await executor.open()
    await executor.run(executor.read("quick", None), Recording())
    threads = set(our_threads()) - before
    await executor.close()

    assert len(threads) == 1
    for thread in threads:
        await asyncio.to_thread(thread.join, DEADLINE)
        assert not thread.is_alive()
