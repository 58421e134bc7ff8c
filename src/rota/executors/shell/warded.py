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

from rota.executors.shell import warden
from rota.executors.shell.warden import Order

# Seconds that the supervisor may need after the grace period: killing, clean-up, report.
WARDEN_TAKES = warden.KILLING + 2.0
# Output buffered in memory, in bytes per stream; beyond it the program waits.
BUFFER = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the program ended. Without code, signal and problem, its supervisor was killed."""

    code: int | None = None
    signal: int | None = None
    problem: str = ""
    left: int = 0


@dataclass(slots=True, kw_only=True)
class Warded:
    """One program under its supervisor."""

    process: asyncio.subprocess.Process
    to_values: asyncio.StreamReader
    control: asyncio.StreamWriter
    program: int | None = field(default=None, init=False)

    async def ended(self) -> Ending:
        """Wait until the program and everything that it started have ended."""
        while line := await self.to_values.readline():
            word, _, rest = line.decode(errors="replace").strip().partition(" ")
            match word:
                case "started":
                    self.program = int(rest)
                case "cannot":
                    return Ending(problem=rest)
                case "exited":
                    code, left = rest.split()
                    return Ending(code=int(code), left=int(left))
                case "killed":
                    number, left = rest.split()
                    return Ending(signal=int(number), left=int(left))
                case _:
                    break  # an incomplete line: the supervisor was killed while it wrote
        self.kill_group()
        return Ending()

    async def stop(self, patience: float) -> None:
        """Send SIGTERM to all processes, and kill those that remain after `patience` seconds."""
        try:
            self.control.write(b"%d\n" % (patience * 1000))
            async with asyncio.timeout(patience + WARDEN_TAKES):
                await self.ended()
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
async def warded(order: Order, stdin: str | None) -> AsyncIterator[Warded]:
    """Start a program; none of its processes outlives the block."""
    ours, theirs = socket.socketpair()
    with ours, theirs, standard_input(stdin) as source:
        process = await start_warden(theirs, source)
        theirs.close()
        said, control = await asyncio.open_connection(sock=ours)
        try:
            control.write(order.encode())
            yield Warded(process=process, to_values=said, control=control)
        finally:
            control.close()
            await buried(process)
            # The supervisor has removed it, unless it was killed before.
            await asyncio.to_thread(shutil.rmtree, order.home, ignore_errors=True)


async def buried(process: asyncio.subprocess.Process) -> None:
    """Wait for a supervisor to exit, for a limited time.

    Some versions of Python also wait for its streams, which a process that survived SIGKILL may
    hold open.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(WARDEN_TAKES):
            await process.wait()


async def start_warden(control: socket.socket, source: IO[bytes]) -> asyncio.subprocess.Process:
    # -I -S: ignores the environment and installed packages, and starts twice as fast.
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-I", "-S", warden.__file__, str(control.fileno()), str(os.getpid())),
        stdin=source,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=BUFFER,
        cwd="/",
        # A Python built as a shared library in a non-standard folder cannot start without it.
        env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
        pass_fds=(control.fileno(),),
        # Ctrl-C on the worker's terminal must reach the worker only, which drains.
        start_new_session=True,
    )


@contextlib.contextmanager
def standard_input(text: str | None) -> Iterator[IO[bytes]]:
    """Open the text as a file: unlike a pipe, it needs no writer while the program reads."""
    if text is None:
        with Path(os.devnull).open("rb") as null:
            yield null
        return
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        yield file
