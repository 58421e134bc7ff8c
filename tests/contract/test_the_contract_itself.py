"""The public suite notices what it is there to notice: every promise is broken once (E17)."""

# ruff: noqa: ARG002 - whoever breaks a promise does not look at what he was given

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext, Stream
from rota.core.outcome import Failed, Failure, Outcome, Succeeded
from rota.sdk.testing.executor_contract import ExecutorContract


class Honest:
    """Keeps every promise; its children here break one each."""

    kinds: Sequence[str] = ("honest",)

    def read(self, kind: str, payload: Any) -> Any:
        if not isinstance(payload, dict) or "do" not in payload:
            raise InvalidInput("do", payload, "an object that says what to do")
        return payload

    async def run(self, spec: Any, context: AttemptContext) -> Outcome:
        match spec["do"]:
            case "fail":
                return Failed(failure=Failure(type="asked to", message="it was asked to"))
            case "wait":
                await asyncio.Event().wait()
            case "talk":
                for _ in range(2000):
                    context.write(Stream.STDOUT, bytes(65536))
            case word:
                context.write(Stream.STDOUT, word.encode())
        return Succeeded(result={"done": spec["do"]})

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass


class TestHonest(ExecutorContract):
    good_payload = {"do": "something"}  # noqa: RUF012
    bad_payloads = ({}, "something", None)
    failing_payload = {"do": "fail"}  # noqa: RUF012
    slow_payload = {"do": "wait"}  # noqa: RUF012
    loud_payload = {"do": "talk"}  # noqa: RUF012
    HEAD_START = 0.1

    def make_executor(self) -> Honest:
        return Honest()

    def speaking_payload(self, word: str) -> Any:
        return {"do": word}


class Nameless(Honest):
    kinds = ()


class Blank(Honest):
    kinds = (" ",)


class Credulous(Honest):
    def read(self, kind: str, payload: Any) -> Any:
        return payload


class Meddling(Honest):
    def read(self, kind: str, payload: Any) -> Any:
        super().read(kind, payload)["seen"] = True
        return payload


class Mute(Honest):
    async def run(self, spec: Any, context: AttemptContext) -> Outcome:
        return None  # type: ignore[return-value]


class Unstorable(Honest):
    async def run(self, spec: Any, context: AttemptContext) -> Outcome:
        return Succeeded(result="\0")


class Wordless(Honest):
    async def run(self, spec: Any, context: AttemptContext) -> Outcome:
        return Failed(failure=Failure(type="", message=""))


class Once(Honest):
    used = False

    async def run(self, spec: Any, context: AttemptContext) -> Outcome:
        if self.used:
            return Failed(failure=Failure(type="used", message="used up"))
        self.used = True
        return await super().run(spec, context)


class Confused(Honest):
    last: AttemptContext | None = None

    async def run(self, spec: Any, context: AttemptContext) -> Outcome:
        self.last = context
        await asyncio.wait([asyncio.create_task(asyncio.Event().wait())], timeout=0.01)
        self.last.write(Stream.STDOUT, spec["do"].encode())
        return Succeeded()


class Deaf(Honest):
    async def run(self, spec: Any, context: AttemptContext) -> Outcome:
        waiting = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.6, waiting.cancel)
        while not waiting.done():
            try:
                await asyncio.wait([waiting])
            except asyncio.CancelledError:
                continue
        return Succeeded()


class Littering(Honest):
    left: list[subprocess.Popen[bytes]] = []  # noqa: RUF012

    async def run(self, spec: Any, context: AttemptContext) -> Outcome:
        if spec["do"] == "wait":
            daemon = 'import os; os.fork() and os._exit(0); os.execv("/bin/sleep", ["sleep", "2"])'
            process = subprocess.Popen([sys.executable, "-c", daemon])  # noqa: ASYNC220
            self.left.append(process)
            process.wait()
        return await super().run(spec, context)


class Blocking(Honest):
    async def run(self, spec: Any, context: AttemptContext) -> Outcome:
        threading.Event().wait(2.5)  # longer than anybody allows
        return await super().run(spec, context)


class Hoarding(Honest):
    async def run(self, spec: Any, context: AttemptContext) -> Outcome:
        hoard = [bytes(65536) for _ in range(500)]
        return Succeeded(result=len(hoard))


class Forgetful(Honest):
    async def open(self) -> None:
        self.task = asyncio.create_task(asyncio.Event().wait())


class Impatient(TestHonest):
    """The suite with little patience, so that its own tests are quick."""

    __test__ = False
    GRACE = timedelta(milliseconds=100)

    def __init__(self, make: Callable[[], Honest]) -> None:
        self.make = make

    def make_executor(self) -> Honest:
        return self.make()


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (Nameless, "test_its_kinds_are_names_and_stay_the_same"),
        (Blank, "test_its_kinds_are_names_and_stay_the_same"),
        (Credulous, "test_every_bad_payload_is_refused_with_field_and_wish"),
        (Meddling, "test_a_good_payload_is_read_and_left_as_it_was"),
        (Mute, "test_a_good_run_succeeds_with_a_result_that_can_be_stored"),
        (Unstorable, "test_a_good_run_succeeds_with_a_result_that_can_be_stored"),
        (Wordless, "test_a_failing_run_says_what_failed"),
        (Once, "test_the_same_executor_runs_again_and_again"),
        (Mute, "test_attempts_at_the_same_time_do_not_mix"),
        (Confused, "test_attempts_at_the_same_time_do_not_mix"),
        (Blocking, "test_a_running_attempt_leaves_the_loop_to_others"),
        (Deaf, "test_a_cancelled_run_stops_within_its_grace_and_leaves_no_process"),
        (Littering, "test_a_cancelled_run_stops_within_its_grace_and_leaves_no_process"),
        (Littering, "test_a_run_that_is_cancelled_twice_leaves_no_process_either"),
        (Once, "test_after_a_cancelled_run_the_next_one_succeeds"),
        (Forgetful, "test_it_closes_without_having_run_and_with_no_task_left"),
        (Hoarding, "test_a_lot_of_output_needs_little_memory"),
    ],
)
async def test_a_broken_promise_is_noticed(broken: type[Honest], test: str) -> None:
    suite = Impatient(broken)

    with pytest.raises((AssertionError, pytest.fail.Exception)):
        await getattr(suite, test)()

    for process in Littering.left:
        process.poll()
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


async def test_something_else_than_an_executor_is_noticed() -> None:
    suite = Impatient(object)  # type: ignore[arg-type]

    with pytest.raises(AssertionError):
        await suite.test_it_is_an_executor()


async def test_a_payload_that_was_not_given_is_asked_for() -> None:
    class Lazy(ExecutorContract):
        def make_executor(self) -> Honest:
            return Honest()

    with pytest.raises(AssertionError, match="set good_payload"):
        await Lazy().test_a_good_run_succeeds_with_a_result_that_can_be_stored()


@pytest.mark.parametrize("heavy", ["pytest", "aiohttp", "asyncpg"])
def test_the_testing_kit_is_light_to_import(heavy: str) -> None:
    code = f"import sys, rota.sdk.testing; sys.exit({heavy!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
