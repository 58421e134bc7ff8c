"""Prints and log records find the attempt that made them (E14)."""

import asyncio
import io
import logging
import sys
from typing import Any

import pytest
from tests.unit.executors.python.conftest import Bench
from tests.unit.executors.python.recording import Recording

from rota.core.executor import Stream
from rota.core.outcome import Succeeded
from rota.executors.python import Handlers, PythonExecutor
from rota.executors.python.output_routing import AttemptLogHandler

log = logging.getLogger("app.billing")


def speak(word: str) -> None:
    print(word, "printed")  # noqa: T201
    print(word, "complained", file=sys.stderr)  # noqa: T201
    sys.stdout.buffer.write(f"{word} in bytes\n".encode())
    log.warning("%s recorded", word)


def expected(word: str) -> dict[Stream, str]:
    return {
        Stream.STDOUT: f"{word} printed\n{word} in bytes\n",
        Stream.STDERR: f"{word} complained\n",
        Stream.RECORD: f"WARNING app.billing: {word} recorded\n",
    }


def records() -> AttemptLogHandler:
    """The executor's own handler; pytest has others."""
    return next(each for each in logging.root.handlers if isinstance(each, AttemptLogHandler))


@pytest.mark.parametrize("way", ["loop", "thread"])
async def test_attempts_at_the_same_time_have_their_own_output(bench: Bench, way: str):
    @bench.handlers.handler("loop")
    async def on_loop(context: Any, payload: Any) -> None:
        await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(int))])
        speak(payload)

    @bench.handlers.handler("thread")
    def in_thread(context: Any, payload: Any) -> None:
        speak(payload)

    words = ["one", "two", "three"]
    contexts = [Recording() for _ in words]
    await asyncio.gather(*map(bench.run, [way] * 3, words, contexts))

    for word, context in zip(words, contexts, strict=True):
        assert {stream: context.said(stream) for stream in expected(word)} == expected(word)


async def test_a_task_of_a_handler_speaks_for_its_attempt(bench: Bench):
    async def part() -> None:
        print("from a task")  # noqa: T201

    @bench.handlers.handler("split")
    async def split(context: Any, payload: Any) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(part())

    context = Recording()
    await bench.run("split", context=context)

    assert context.said(Stream.STDOUT) == "from a task\n"


async def test_what_is_no_attempts_goes_where_it_went_before(
    capsys: pytest.CaptureFixture[str],
):
    handlers = Handlers()

    @handlers.handler("quiet")
    async def quiet(context: Any, payload: Any) -> None:
        pass

    executor, context = PythonExecutor(handlers), Recording()
    await executor.open()
    print("before")  # noqa: T201
    await executor.run(executor.read("quiet", None), context)
    print("after")  # noqa: T201
    sys.stdout.buffer.write(b"bytes\n")
    await executor.close()

    assert context.said() == ""
    assert capsys.readouterr().out == "before\nafter\nbytes\n"


async def test_the_last_executor_that_closes_gives_the_streams_back():
    before = sys.stdout, sys.stderr, list(logging.root.handlers)
    first, second = PythonExecutor(Handlers()), PythonExecutor(Handlers())

    await first.open()
    await second.open()
    during = sys.stdout, sys.stderr
    await first.close()
    still = sys.stdout, sys.stderr
    await second.close()

    assert during == still
    assert during != before[:2]
    assert (sys.stdout, sys.stderr, logging.root.handlers) == before


async def test_a_stream_that_somebody_else_put_there_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
):
    executor, other = PythonExecutor(Handlers()), io.StringIO()
    await executor.open()

    monkeypatch.setattr(sys, "stdout", other)
    await executor.close()

    assert sys.stdout is other


async def test_a_handler_that_closes_its_output_closes_nobody_elses(bench: Bench):
    behind = sys.stdout

    @bench.handlers.handler("rude")
    async def rude(context: Any, payload: Any) -> bool:
        sys.stdout.buffer.close()
        sys.stdout.close()
        print("and yet it speaks")  # noqa: T201
        return sys.stdout.isatty()

    context = Recording()
    outcome = await bench.run("rude", context=context)

    assert outcome == Succeeded(result=False)
    assert context.said() == "and yet it speaks\n"
    assert not behind.closed


async def test_text_that_utf8_does_not_know_fails_no_run(bench: Bench):
    @bench.handlers.handler("odd")
    async def odd(context: Any, payload: Any) -> None:
        print("lone \udc80 surrogate")  # noqa: T201

    context = Recording()
    await bench.run("odd", context=context)

    assert context.said() == "lone \\udc80 surrogate\n"


async def test_one_large_print_is_passed_on_in_pieces(bench: Bench):
    @bench.handlers.handler("loud")
    async def loud(context: Any, payload: Any) -> None:
        print("x" * 10_000_000, end="")  # noqa: T201
        sys.stdout.buffer.write(b"x" * 10_000_000)

    context = Recording()
    await bench.run("loud", context=context)

    assert context.size == 20_000_000
    assert context.longest == 65_536


async def test_a_record_that_cannot_be_formatted_fails_no_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    await bench.open()
    monkeypatch.setattr(logging.root, "handlers", [records()])

    @bench.handlers.handler("wrong")
    async def wrong(context: Any, payload: Any) -> str:
        log.warning("%d apples", "many")
        return "went on"

    context = Recording()
    outcome = await bench.run("wrong", context=context)

    assert outcome == Succeeded(result="went on")
    assert "Logging error" in context.said(Stream.STDERR)


async def test_a_record_has_its_traceback(bench: Bench):
    @bench.handlers.handler("wrong")
    async def wrong(context: Any, payload: Any) -> None:
        try:
            int("no apples")
        except ValueError:
            log.exception("it failed")

    context = Recording()
    await bench.run("wrong", context=context)

    assert "ValueError: invalid literal" in context.said(Stream.RECORD)


async def test_a_record_that_nobody_else_handles_is_still_shown(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    await bench.open()
    monkeypatch.setattr(logging.root, "handlers", [records()])

    log.warning("the worker itself")
    log.info("not worth it")

    assert capsys.readouterr().err == "the worker itself\n"
