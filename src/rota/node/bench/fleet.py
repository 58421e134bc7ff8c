"""The processes that are measured: started, watched, and ended whatever happens. Room: node/bench.

They are the programs that operators start, with the database in their environment. A process that
ends by itself fails the benchmark at the next look, with its last words; leaving the block ends
all, also after Ctrl-C.
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
from rota.node.bench.failure import BenchFailed

READY_WITHIN: Final = 30.0
# A worker's own grace is longer, but here nothing of worth runs any more when it is told to stop.
LEAVE_WITHIN: Final = 10.0
LAST_WORDS: Final = 2000


@dataclass(slots=True, kw_only=True)
class Member:
    """One process and what it says: stdout tells when it is ready, stderr goes to a file."""

    name: str
    process: asyncio.subprocess.Process
    log: Path
    listening: asyncio.Task[None]
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def pid(self) -> int:
        return self.process.pid

    def failure(self, reason: str) -> BenchFailed:
        said = self.log.read_text("utf-8", errors="replace")[-LAST_WORDS:]
        return BenchFailed(who=self.name, reason=reason, said=said.strip())

    def check(self) -> None:
        if self.process.returncode is not None:
            raise self.failure(f"ended with {self.process.returncode}")


@dataclass(slots=True, kw_only=True)
class Fleet:
    """Everything that runs for one part."""

    folder: Path
    environment: dict[str, str]
    members: list[Member] = field(default_factory=list)

    async def scheduler(self) -> Member:
        return await self.start("scheduler")

    async def worker(self, *, slots: int) -> Member:
        app = "rota.node.bench.handlers:handlers"
        served = ("--queue", "default", "--tenant", "*")
        return await self.start("worker", app, *served, "--slots", str(slots))

    async def start(self, *words: str) -> Member:
        """Start `rota <words>`; it may not be ready yet."""
        name = f"rota {words[0]} {len(self.members) + 1}"
        log = self.folder / f"{name.replace(' ', '-')}.log"
        with log.open("wb") as said:
            member = await _launch(name, words, self.environment, self.folder, said)
        self.members.append(member)
        return member

    async def are_ready(self) -> None:
        """Wait until each has said so."""
        for member in self.members:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(READY_WITHIN):
                    await member.ready.wait()
            member.check()
            if not member.ready.is_set():
                raise member.failure(f"was not ready within {READY_WITHIN:.0f} s")

    def check(self) -> None:
        """Raise if any of them has ended, or if somebody wants the benchmark to end."""
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # The driver may swallow it while it opens a connection (before Python 3.12).
            raise asyncio.CancelledError
        for member in self.members:
            member.check()

    async def kill(self, member: Member) -> None:
        """End one as a machine does that loses its power; it is no longer expected to run."""
        self.members.remove(member)
        _signal(member, signal.SIGKILL)
        await member.process.wait()
        await member.listening

    async def leave(self) -> None:
        """Ask all to stop, and end those that do not, together with whatever they started."""
        for member in self.members:
            _signal(member, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_WITHIN):
                for member in self.members:
                    await member.process.wait()
        for member in self.members:
            _signal(member, signal.SIGKILL)
            await member.process.wait()
            await member.listening
        self.members.clear()


@asynccontextmanager
async def fleet(folder: Path, environment: Mapping[str, str], *, url: str) -> AsyncIterator[Fleet]:
    """Processes that use this database, gone when the block is left."""
    own = Fleet(folder=folder, environment=_environment(environment, url=url))
    try:
        yield own
    finally:
        # Shielded: a second Ctrl-C must not leave processes behind that nobody knows of.
        await asyncio.shield(own.leave())


def _environment(given: Mapping[str, str], *, url: str) -> dict[str, str]:
    """The operator's, so that ROTA_… settings can be tried out; the database is ours."""
    kept = {
        key: value
        for key, value in given.items()
        if not key.startswith(("ROTA_DATA", "ROTA_CONFIG", "ROTA_LOG"))
    }
    # They run in a folder of their own, where no rota.toml is; the package must be found there.
    root = str(Path(rota.__file__).parent.parent)
    path = os.pathsep.join(filter(None, (root, kept.get("PYTHONPATH"))))
    return kept | {"ROTA_DATABASE_URL": url, "ROTA_LOG__LEVEL": "warning", "PYTHONPATH": path}


async def _launch(
    name: str,
    words: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    said: IO[bytes],
) -> Member:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "rota", *words),
        cwd=folder,
        env=dict(environment),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=said,
        # Ctrl-C in the terminal is for the benchmark, which stops them in its own order.
        start_new_session=True,
    )
    ready = asyncio.Event()
    # Not in a task group, which would wrap the error of a part into a group of errors.
    listening = asyncio.create_task(_listen(process, ready.set))
    return Member(name=name, process=process, log=Path(said.name), listening=listening, ready=ready)


async def _listen(process: asyncio.subprocess.Process, ready: Callable[[], None]) -> None:
    """The first line means that it is up; the rest is read so that the pipe never fills. Its end
    wakes whoever waits, too.
    """
    assert process.stdout is not None  # noqa: S101 - it was asked for
    async for _ in process.stdout:
        ready()
    await process.wait()
    ready()


def _signal(member: Member, number: signal.Signals) -> None:
    """To the whole session of the process: a worker may have started children."""
    if member.process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(member.pid, number)
            else:
                member.process.send_signal(number)
