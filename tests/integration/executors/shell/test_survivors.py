"""Nothing that a program started outlives its attempt (E11, F24): however the attempt ends."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from rota.core.executor import Stream
from rota.core.outcome import Failed, Outcome, Succeeded
from rota.executors.shell import ShellExecutor, executor, supervised_child
from rota.sdk.testing import RecordingContext, orphans
from rota.store.embedded.polling import wait_until

PYTHON = os.path.realpath(sys.executable)
SHORT = timedelta(milliseconds=400)
DYING_S = 10.0

# Everything that programs do to outlive their parents, at once: a background child, one that
# ignores SIGTERM, a daemon (forks twice, own session), one that holds the output open, one stopped.
STUBBORN = """
import os, signal, sys, time
told, tell = os.pipe()
def child(*, ignoring=False, daemon=False, stopped=False):
    if os.fork():
        return
    if daemon:
        os.setsid()
        if os.fork():
            os._exit(0)
    if ignoring:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
    os.write(1, b"ready\\n")
    os.write(tell, b"x")
    if stopped:
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        time.sleep(60)
child()
child(ignoring=True)
child(daemon=True)
child(daemon=True, ignoring=True)
child(stopped=True)
child(daemon=True, ignoring=True, stopped=True)
"""
CHILDREN = 6
STAYS = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)\n"
# Leaves when all children are there.
LEAVES = f"for _ in range({CHILDREN}): os.read(told, 1)\n"


class WatchedContext(RecordingContext):
    """Wakes whoever waits for a number of lines."""

    def __init__(self, lines: int, grace: timedelta = SHORT) -> None:
        super().__init__(grace=grace)
        self.lines = lines
        self.spoken = asyncio.Event()

    def write(self, stream: Stream, chunk: bytes) -> None:
        super().write(stream, chunk)
        if self.output_of(Stream.STDOUT).content.count(b"\n") >= self.lines:
            self.spoken.set()


@pytest.fixture(autouse=True)
def nobody_left() -> Iterator[None]:
    """The proof of every test in this file: the processes after it are those before it."""
    with orphans.adopt_orphans():
        before = orphans.list_living_descendants()
        yield
        # Whoever was killed may not have been scheduled since; a survivor sleeps for a minute.
        is_over = wait_until(lambda: orphans.list_living_descendants() <= before, seconds=DYING_S)
        left = orphans.list_living_descendants() - before
        for number in left:
            os.kill(number, signal.SIGKILL)
    assert is_over, left


def start(code: str, context: RecordingContext) -> asyncio.Task[Outcome]:
    shell = ShellExecutor(allow=("*",))
    payload = {"argv": [PYTHON, "-I", "-S", "-c", code]}
    return asyncio.create_task(shell.run(shell.read("shell", payload), context))


async def stopped(attempt: asyncio.Task[Outcome]) -> float:
    """Cancel it, and return how long that took."""
    began = time.monotonic()
    attempt.cancel()
    await asyncio.wait([attempt], timeout=30)
    assert attempt.cancelled()
    return time.monotonic() - began


async def test_a_cancelled_program_is_ended_with_all_its_descendants() -> None:
    context = WatchedContext(CHILDREN)
    attempt = start(STUBBORN + STAYS, context)
    await asyncio.wait_for(context.spoken.wait(), 20)

    took = await stopped(attempt)

    assert took < SHORT.total_seconds() + 2


async def test_a_program_that_heeds_the_signal_is_not_kept_waiting_and_has_its_last_word() -> None:
    context = WatchedContext(1, grace=timedelta(seconds=60))
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit('cleaned up'))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    attempt = start(code, context)
    await asyncio.wait_for(context.spoken.wait(), 20)

    took = await stopped(attempt)

    assert took < 10
    assert context.output_of(Stream.STDERR).text == "cleaned up\n"


async def test_a_program_that_was_stopped_goes_on_to_hear_the_signal() -> None:
    context = WatchedContext(1, grace=timedelta(seconds=60))
    code = (
        "import os, signal, sys\n"
        "child = os.fork()\n"
        "if child:\n"
        "    os.waitpid(child, os.WUNTRACED)\n"
        "    print('stopped', flush=True)\n"
        "    signal.pause()\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit('cleaned up'))\n"
        "os.kill(os.getpid(), signal.SIGSTOP)\n"
        "signal.pause()\n"
    )
    attempt = start(code, context)
    await asyncio.wait_for(context.spoken.wait(), 20)

    took = await stopped(attempt)

    assert took < 10
    assert context.output_of(Stream.STDERR).text == "cleaned up\n"


async def test_children_have_the_grace_to_end_although_the_program_is_gone() -> None:
    context = WatchedContext(2, grace=timedelta(seconds=60))
    code = (
        "import os, signal, sys, time\n"
        "child = os.fork() == 0\n"
        "def clean_up(*_):\n"
        "    time.sleep(0.5)\n"
        "    sys.exit('child cleaned up')\n"
        "if child: signal.signal(signal.SIGTERM, clean_up)\n"
        "os.write(1, b'ready\\n')\n"
        "time.sleep(60)\n"
    )
    attempt = start(code, context)
    await asyncio.wait_for(context.spoken.wait(), 20)

    await stopped(attempt)

    assert "child cleaned up" in context.output_of(Stream.STDERR).text


async def test_what_a_program_leaves_behind_ends_with_it() -> None:
    """It exits with 0 while its children hold its output open: success, at once."""
    context = WatchedContext(CHILDREN)
    attempt = start(STUBBORN + LEAVES, context)

    outcome = await asyncio.wait_for(attempt, 20)

    assert isinstance(outcome, Succeeded)


async def test_a_second_cancel_kills_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "OUTPUT_DRAIN_TIMEOUT_S", 30.0)
    context = WatchedContext(CHILDREN, grace=timedelta(seconds=60))
    attempt = start(STUBBORN + STAYS, context)
    await asyncio.wait_for(context.spoken.wait(), 20)

    attempt.cancel()
    await asyncio.wait([attempt], timeout=0.1)
    took = await stopped(attempt)

    assert took < 5


async def test_a_program_that_kills_its_supervisor_dies_with_it() -> None:
    context = RecordingContext()
    code = "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)\n"

    outcome = await asyncio.wait_for(start(code, context), 20)

    assert isinstance(outcome, Failed)
    assert outcome.failure.type == "supervisor lost"


async def test_a_program_that_freezes_its_supervisor_can_still_be_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervised_child, "SUPERVISOR_EXIT_TIMEOUT_S", 0.3)
    context = WatchedContext(1)
    code = (
        "import os, signal, time\n"
        "os.kill(os.getppid(), signal.SIGSTOP)\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    attempt = start(code, context)
    await asyncio.wait_for(context.spoken.wait(), 20)

    took = await stopped(attempt)

    assert took < 5


WORKER = """
import asyncio, os, signal, sys
from rota.executors.shell import ShellExecutor
from rota.sdk.testing import RecordingContext
class Loud(RecordingContext):
    copied = sys.argv[3] == "alone"
    def write(self, stream, chunk):
        if not Loud.copied:
            Loud.copied = True
            if os.fork() == 0:
                signal.pause()
        os.write(1, chunk)
executor = ShellExecutor(allow=("*",))
payload = {"argv": [sys.argv[1], "-I", "-S", "-c", sys.argv[2]]}
asyncio.run(executor.run(executor.read("shell", payload), Loud()))
"""


@pytest.mark.parametrize("others", ["alone", "copied"])
def test_a_killed_worker_takes_its_programs_along(others: str) -> None:
    """Also if a copy of it, made by some library, still holds the socket to the supervisor."""
    command = [sys.executable, "-c", WORKER, PYTHON, STUBBORN + STAYS, others]
    # Other tests may have servers for the whole session.
    before = orphans.list_living_descendants()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        said = [worker.stdout.readline() for _ in range(CHILDREN)]
        living = orphans.list_living_descendants() - before
        copies = {each for each in living if b"rota.executors" in command_of(each)}
        programs = living - copies

        worker.kill()
        worker.wait()
        ended = all(gone_within(process, 5) for process in programs)
        for copy in copies - {worker.pid}:
            os.kill(copy, signal.SIGKILL)

    assert said == [b"ready\n"] * CHILDREN
    assert len(copies) == (1 if others == "alone" else 2)
    assert len(programs) == CHILDREN + 2, "all children, the program and its supervisor"
    assert ended


def test_a_program_dies_with_its_supervisor_although_nobody_is_there_to_end_it(
    tmp_path: Path,
) -> None:
    code = "import os, time\nprint(os.getppid(), os.getpid(), flush=True)\ntime.sleep(60)\n"
    command = [sys.executable, "-c", WORKER, PYTHON, code, "alone"]
    # Nobody is there to remove its folder either.
    place = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=place) as worker:
        assert worker.stdout is not None
        supervisor, program = map(int, worker.stdout.readline().split())

        worker.send_signal(signal.SIGSTOP)
        os.kill(supervisor, signal.SIGKILL)
        ended = gone_within(program, 5)
        worker.kill()

    assert ended


def command_of(process: int) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


def gone_within(process: int, seconds: float) -> bool:
    """Wait for the end of a process that need not be our child."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    readable, _, _ = select.select([handle], [], [], seconds)
    os.close(handle)
    return bool(readable)
