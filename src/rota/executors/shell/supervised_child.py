"""Starts a program under its supervisor process and waits for it, on the worker's side.

Starts the supervisor, sends it the order and reads its reports. Leaving the `async with` block
closes the control socket, which alone ends the program and everything that it started, even if the
wait for a graceful stop is itself cancelled. The executor reads the program's output.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from rota.executors.shell import supervisor
from rota.executors.shell.supervisor import ProgramOrder

# Seconds that the supervisor may need after the grace period: killing, clean-up, report.
SUPERVISOR_EXIT_TIMEOUT_S = supervisor.KILL_TIMEOUT_S + 2.0
# Output buffered in memory, in bytes per stream; beyond it the program waits.
OUTPUT_BUFFER_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramExit:
    """How the program ended. Without code, signal and problem, its supervisor was killed."""

    code: int | None = None
    signal: int | None = None
    problem: str = ""
    left: int = 0


@dataclass(slots=True, kw_only=True)
class SupervisedChild:
    """One program under its supervisor."""

    process: asyncio.subprocess.Process
    reports: asyncio.StreamReader
    control: asyncio.StreamWriter
    program: int | None = field(default=None, init=False)

    async def wait_for_exit(self) -> ProgramExit:
        """Wait until the program and everything that it started have ended."""
        while line := await self.reports.readline():
            word, _, rest = line.decode(errors="replace").strip().partition(" ")
            match word:
                case "started":
                    self.program = int(rest)
                case "cannot":
                    return ProgramExit(problem=rest)
                case "exited":
                    code, left = rest.split()
                    return ProgramExit(code=int(code), left=int(left))
                case "killed":
                    number, left = rest.split()
                    return ProgramExit(signal=int(number), left=int(left))
                case _:
                    break  # an incomplete line: the supervisor was killed while it wrote
        self.kill_group()
        return ProgramExit()

    async def stop(self, grace_s: float) -> None:
        """Send SIGTERM to all processes, and kill those that remain after `patience` seconds."""
        try:
            self.control.write(b"%d\n" % (grace_s * 1000))
            async with asyncio.timeout(grace_s + SUPERVISOR_EXIT_TIMEOUT_S):
                await self.wait_for_exit()
        except TimeoutError:
            # Only a program that stops its own supervisor gets here.
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            self.kill_group()
        finally:
            # After a second cancellation, closing the socket makes the supervisor kill at once.
            self.control.close()

    def kill_group(self) -> None:
        """Kill the program's group without its supervisor; the program died with the supervisor."""
        if self.program is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.program, signal.SIGKILL)


@contextlib.asynccontextmanager
async def start_supervised(
    order: ProgramOrder, stdin: str | None
) -> AsyncIterator[SupervisedChild]:
    """Start a program; none of its processes outlives the block."""
    ours, theirs = socket.socketpair()
    with ours, theirs, open_stdin(stdin) as source:
        process = await start_supervisor(theirs, source)
        theirs.close()
        said, control = await asyncio.open_connection(sock=ours)
        try:
            control.write(order.encode())
            yield SupervisedChild(process=process, reports=said, control=control)
        finally:
            control.close()
            await wait_exit(process)
            # The supervisor has removed it, unless it was killed before.
            await asyncio.to_thread(shutil.rmtree, order.home, ignore_errors=True)


async def wait_exit(process: asyncio.subprocess.Process) -> None:
    """Wait for a supervisor to exit, for a limited time.

    Some versions of Python also wait for its streams, which a process that survived SIGKILL may
    hold open.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SUPERVISOR_EXIT_TIMEOUT_S):
            await process.wait()


async def start_supervisor(control: socket.socket, source: IO[bytes]) -> asyncio.subprocess.Process:
    # -I -S: ignores the environment and installed packages, and starts twice as fast.
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-I", "-S", supervisor.__file__, str(control.fileno()), str(os.getpid())),
        stdin=source,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=OUTPUT_BUFFER_BYTES,
        cwd="/",
        # A Python built as a shared library in a non-standard folder cannot start without it.
        env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
        pass_fds=(control.fileno(),),
        # Ctrl-C on the worker's terminal must reach the worker only, which drains.
        start_new_session=True,
    )


@contextlib.contextmanager
def open_stdin(text: str | None) -> Iterator[IO[bytes]]:
    """Open the text as a file: unlike a pipe, it needs no writer while the program reads."""
    if text is None:
        with Path(os.devnull).open("rb") as null:
            yield null
        return
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        yield file
