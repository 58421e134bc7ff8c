"""A program and the process that answers for it, seen from the worker. Room: executors/shell.

Starts the warden (warden.py), gives it the order and waits for what it says. Leaving the block
closes the control socket, and that alone ends everything: also when the wait for a polite ending
is itself cancelled. Does not read the program's output; the executor does.
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

# What the warden may take beyond the time given to the program: killing, removing, saying so.
WARDEN_TAKES = warden.KILLING + 2.0
# How much output may wait in memory, per stream; beyond it the program waits.
BUFFER = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the program ended. Without code, signal and problem the warden was killed."""

    code: int | None = None
    signal: int | None = None
    problem: str = ""
    left: int = 0


@dataclass(slots=True, kw_only=True)
class Warded:
    """One program under its warden."""

    process: asyncio.subprocess.Process
    said: asyncio.StreamReader
    control: asyncio.StreamWriter
    program: int | None = field(default=None, init=False)

    async def ended(self) -> Ending:
        """Wait for the end of the program and of all that it started."""
        while line := await self.said.readline():
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
                    break  # half a line: it was killed while it spoke
        self.kill_group()
        return Ending()

    async def stop(self, patience: float) -> None:
        """Ask all of them to stop, and end by force what is left after `patience` seconds."""
        try:
            self.control.write(b"%d\n" % (patience * 1000))
            async with asyncio.timeout(patience + WARDEN_TAKES):
                await self.ended()
        except TimeoutError:
            # Only a program that stops its own warden gets here.
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            self.kill_group()
        finally:
            # Cancelled once more: the end of the socket is an order to kill at once.
            self.control.close()

    def kill_group(self) -> None:
        """What can be done without a warden; its death was also the death of the program itself."""
        if self.program is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.program, signal.SIGKILL)


@contextlib.asynccontextmanager
async def warded(order: Order, stdin: str | None) -> AsyncIterator[Warded]:
    """Start a program; nothing of it is left outside the block."""
    ours, theirs = socket.socketpair()
    with ours, theirs, standard_input(stdin) as source:
        process = await start_warden(theirs, source)
        theirs.close()
        said, control = await asyncio.open_connection(sock=ours)
        try:
            control.write(order.encode())
            yield Warded(process=process, said=said, control=control)
        finally:
            control.close()
            await buried(process)
            # The warden has done it, unless it was killed or never came so far.
            await asyncio.to_thread(shutil.rmtree, order.home, ignore_errors=True)


async def buried(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a warden; some Pythons wait for the end of its streams as well, which
    somebody who outlasted SIGKILL may hold.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(WARDEN_TAKES):
            await process.wait()


async def start_warden(control: socket.socket, source: IO[bytes]) -> asyncio.subprocess.Process:
    # -I -S: neither the environment nor installed packages have a say, and it starts twice as fast.
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-I", "-S", warden.__file__, str(control.fileno()), str(os.getpid())),
        stdin=source,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=BUFFER,
        cwd="/",
        # A Python that is a shared library in an unusual place cannot start without it.
        env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
        pass_fds=(control.fileno(),),
        # Ctrl-C on the worker's terminal is for the worker, which drains.
        start_new_session=True,
    )


@contextlib.contextmanager
def standard_input(text: str | None) -> Iterator[IO[bytes]]:
    """A file and not a pipe: nobody has to write to it while the program reads."""
    if text is None:
        with Path(os.devnull).open("rb") as nothing:
            yield nothing
        return
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        yield file
