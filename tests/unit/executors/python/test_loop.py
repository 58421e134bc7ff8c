"""Async handlers on the loop, and what any handler may do wrong (E8, E11, E17)."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.executors.python.conftest import Bench
from tests.unit.executors.python.recording import Recording

from rota.core.executor import Executor, Fail, Retry, Snooze, Stream
from rota.core.outcome import Failed, Succeeded
from rota.executors.python import AttemptCancelled, Handlers, PythonExecutor


class Odd(BaseException):
    pass


def register(bench: Bench, way: str, error: BaseException) -> None:
    """A handler on the loop or in a thread that raises this."""

    @bench.handlers.handler("loop")
    async def on_loop(context: Any, payload: Any) -> None:
        raise error

    @bench.handlers.handler("thread")
    def in_thread(context: Any, payload: Any) -> None:
        raise error


def test_it_is_an_executor():
    assert isinstance(PythonExecutor(Handlers()), Executor)


async def test_what_a_handler_returns_is_the_result(bench: Bench):
    @bench.handlers.handler("double")
    async def double(context: Any, payload: Any) -> Any:
        return {"run": context.attempt, "twice": payload * 2}

    outcome = await bench.run("double", 21)

    assert outcome == Succeeded(result={"run": 3, "twice": 42})


async def test_a_handler_that_returns_nothing_has_succeeded(bench: Bench):
    @bench.handlers.handler("quiet")
    async def quiet(context: Any, payload: Any) -> None:
        pass

    assert await bench.run("quiet") == Succeeded(result=None)


@pytest.mark.parametrize("way", ["loop", "thread"])
@pytest.mark.parametrize(
    "error",
    [
        ValueError("no"),
        Fail("never"),
        Retry("later", after=timedelta(seconds=9)),
        Snooze(timedelta(seconds=9)),
        asyncio.CancelledError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_an_exception_reaches_the_engine_as_it_is(
    bench: Bench, way: str, error: BaseException
):
    register(bench, way, error)

    with pytest.raises(type(error)) as raised:
        await bench.run(way)

    assert raised.value is error


@pytest.mark.parametrize("way", ["loop", "thread"])
@pytest.mark.parametrize(
    "error",
    [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), AttemptCancelled(), Odd("x")],
    ids=lambda error: type(error).__name__,
)
async def test_an_exception_that_would_end_the_worker_is_a_failure(
    bench: Bench, way: str, error: BaseException
):
    register(bench, way, error)
    context = Recording()

    outcome = await bench.run(way, context=context)

    assert isinstance(outcome, Failed)
    assert outcome.failure.type == type(error).__name__
    assert "Traceback" in context.said(Stream.ERROR)
    assert "in_thread" in context.said() or "on_loop" in context.said()


@pytest.mark.parametrize("way", ["loop", "thread"])
async def test_stop_iteration_is_a_failure_like_any_other(bench: Bench, way: str):
    register(bench, way, StopIteration())

    with pytest.raises(RuntimeError, match="StopIteration"):
        await bench.run(way)


@pytest.mark.parametrize("way", ["loop", "thread"])
async def test_endless_recursion_ends_its_run_alone(bench: Bench, way: str):
    def deeper(depth: int) -> int:
        return deeper(depth + 1) + 1

    @bench.handlers.handler("loop")
    async def on_loop(context: Any, payload: Any) -> int:
        return deeper(0)

    @bench.handlers.handler("thread")
    def in_thread(context: Any, payload: Any) -> int:
        return deeper(0)

    with pytest.raises(RecursionError):
        await bench.run(way)


@pytest.mark.parametrize("way", ["loop", "thread"])
async def test_a_result_that_json_does_not_know_is_left_to_the_engine(bench: Bench, way: str):
    strange = object()

    @bench.handlers.handler("loop")
    async def on_loop(context: Any, payload: Any) -> object:
        return strange

    @bench.handlers.handler("thread")
    def in_thread(context: Any, payload: Any) -> object:
        return strange

    assert await bench.run(way) == Succeeded(result=strange)


async def test_a_handler_that_never_returns_is_cancelled(bench: Bench):
    @bench.handlers.handler("endless")
    async def endless(context: Any, payload: Any) -> None:
        print("begun")  # noqa: T201
        await asyncio.Event().wait()

    context = Recording()
    attempt = asyncio.ensure_future(bench.run("endless", context=context))
    await context.hears("begun")

    attempt.cancel()

    with pytest.raises(asyncio.CancelledError):
        await attempt


async def test_an_attempt_on_the_loop_makes_no_task(bench: Bench):
    seen = []

    @bench.handlers.handler("look")
    async def look(context: Any, payload: Any) -> None:
        seen.append(asyncio.current_task())

    await bench.run("look")

    assert seen == [asyncio.current_task()]
