"""Starts, watches and stops the measured processes.

They are the programs that operators run, with the database in their environment. A process that
exits early fails the benchmark at the next check, with the end of its output. The end of the block
stops all processes, also after Ctrl-C.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

import rota
from rota_bench.errors import BenchFailed

READY_TIMEOUT_S: Final = 30.0
# Shorter than the worker's own grace period: no run matters any more at this point.
STOP_TIMEOUT_S: Final = 10.0
OUTPUT_TAIL_CHARS: Final = 2000


@dataclass(slots=True, kw_only=True)
class FleetMember:
    """A process: the first line on stdout means ready, stderr goes to a file."""

    name: str
    process: asyncio.subprocess.Process
    log: Path
    listening: asyncio.Task[None]
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def pid(self) -> int:
        return self.process.pid

    def build_failure(self, reason: str) -> BenchFailed:
        said = self.log.read_text("utf-8", errors="replace")[-OUTPUT_TAIL_CHARS:]
        return BenchFailed(who=self.name, reason=reason, detail=said.strip())

    def check(self) -> None:
        if self.process.returncode is not None:
            raise self.build_failure(f"ended with {self.process.returncode}")


@dataclass(slots=True, kw_only=True)
class Fleet:
    """The processes of one part."""

    folder: Path
    environment: dict[str, str]
    members: list[FleetMember] = field(default_factory=list)

    async def start_scheduler(self) -> FleetMember:
        return await self.start("scheduler")

    async def start_worker(self, *, slots: int) -> FleetMember:
        app = "rota_bench.handlers:handlers"
        served = ("--queue", "default", "--tenant", "*")
        return await self.start("worker", app, *served, "--slots", str(slots))

    async def start(self, *words: str) -> FleetMember:
        """Start `rota <words>`; it may not be ready yet."""
        name = f"rota {words[0]} {len(self.members) + 1}"
        log = self.folder / f"{name.replace(' ', '-')}.log"
        with log.open("wb") as stderr:
            member = await _launch(name, words, self.environment, self.folder, stderr)
        self.members.append(member)
        return member

    async def wait_ready(self) -> None:
        """Wait until all processes are ready."""
        for member in self.members:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(READY_TIMEOUT_S):
                    await member.ready.wait()
            member.check()
            if not member.ready.is_set():
                raise member.build_failure(f"was not ready within {READY_TIMEOUT_S:.0f} s")

    def check(self) -> None:
        """Raise if a process has exited, or if the benchmark was cancelled."""
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # The driver may swallow the cancellation while it connects (before Python 3.12).
            raise asyncio.CancelledError
        for member in self.members:
            member.check()

    async def kill(self, member: FleetMember) -> None:
        """Kill a process, as a power failure would; it is no longer expected to run."""
        self.members.remove(member)
        _signal(member, signal.SIGKILL)
        await member.process.wait()
        await member.listening

    async def stop(self) -> None:
        """Stop all processes, and kill those that do not stop, with their children."""
        for member in self.members:
            _signal(member, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT_S):
                for member in self.members:
                    await member.process.wait()
        for member in self.members:
            _signal(member, signal.SIGKILL)
            await member.process.wait()
            await member.listening
        self.members.clear()


@asynccontextmanager
async def open_fleet(
    folder: Path, environment: Mapping[str, str], *, url: str
) -> AsyncIterator[Fleet]:
    """Provide processes that use this database, and stop them at the end of the block."""
    own = Fleet(folder=folder, environment=_environment(environment, url=url))
    try:
        yield own
    finally:
        # Shielded: a second Ctrl-C must not leave orphaned processes.
        await asyncio.shield(own.stop())


def _environment(given: Mapping[str, str], *, url: str) -> dict[str, str]:
    """Return the operator's environment, for its ROTA_… settings, with another database."""
    kept = {
        key: value
        for key, value in given.items()
        if not key.startswith(("ROTA_DATA", "ROTA_CONFIG", "ROTA_LOG"))
    }
    # The processes run in a temporary folder without rota.toml; they must still find the package.
    root = str(Path(rota.__file__).parent.parent)
    path = os.pathsep.join(filter(None, (root, kept.get("PYTHONPATH"))))
    return kept | {"ROTA_DATABASE_URL": url, "ROTA_LOG__LEVEL": "warning", "PYTHONPATH": path}


async def _launch(
    name: str,
    words: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    stderr: IO[bytes],
) -> FleetMember:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "rota", *words),
        cwd=folder,
        env=dict(environment),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
        # Ctrl-C goes to the benchmark, which stops the processes in order.
        start_new_session=True,
    )
    ready = asyncio.Event()
    # No task group: it would wrap the error of a part in an exception group.
    listening = asyncio.create_task(_listen(process, ready.set))
    return FleetMember(
        name=name, process=process, log=Path(stderr.name), listening=listening, ready=ready
    )


async def _listen(process: asyncio.subprocess.Process, ready: Callable[[], None]) -> None:
    """Call `ready` at the first line and at the end. The rest is read so that the pipe never
    fills.
    """
    assert process.stdout is not None  # noqa: S101 - opened with PIPE
    async for _ in process.stdout:
        ready()
    await process.wait()
    ready()


def _signal(member: FleetMember, number: signal.Signals) -> None:
    """Send a signal; SIGKILL goes to the process group, which includes children."""
    if member.process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(member.pid, number)
            else:
                member.process.send_signal(number)
