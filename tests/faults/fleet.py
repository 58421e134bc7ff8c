"""The processes of Rota under test: one API, two schedulers, two workers, and who ended when.

What ends is started again a second later, as a supervisor does, and written down.
"""

import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import aiohttp

from rota.runtime.clock import SystemClock
from tests.faults.handlers import SINK
from tests.support.cluster import Cluster, Member
from tests.support.ports import find_free_ports

AGAIN_S: Final = 1.0
LOOK_S: Final = 0.1
START_S: Final = 120.0
LEAVE_S: Final = 45.0
SLOTS: Final = 16
NAMES: Final = ("api", "scheduler-0", "scheduler-1", "worker-0", "worker-1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """A process that ended without being told to. `at` is monotonic."""

    name: str
    code: int
    at: float


@dataclass(kw_only=True)
class Fleet:
    """`variables` are settings of single processes, such as the URL of a worker behind a proxy."""

    folder: Path
    url: str
    variables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    clock: SystemClock = field(default_factory=SystemClock)
    exits: list[Exit] = field(default_factory=list)
    port: int = field(default_factory=lambda: find_free_ports(1)[0])
    # Processes that the test itself asked to end; these are not started again by `tend`.
    told: set[str] = field(default_factory=set)
    is_over: bool = False
    cluster: Cluster = field(init=False)

    def __post_init__(self) -> None:
        settings = {
            "ROTA_DATABASE_URL": self.url,
            "ROTA_DATABASE__DATA": str(self.folder / "rota"),
            SINK: str(self.sink),
        }
        self.sink.touch()
        self.cluster = Cluster(folder=self.folder, settings=settings)

    @property
    def sink(self) -> Path:
        return self.folder / "sink.jsonl"

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def key(self) -> str:
        return (self.folder / "rota" / "admin.key").read_text().strip()

    def start(self) -> None:
        words = {
            "api": ("api", "--port", str(self.port)),
            "scheduler": ("scheduler",),
            "worker": ("worker", "tests.faults.handlers:handlers", "--slots", str(SLOTS)),
        }
        for name in NAMES:
            more = self.variables.get(name, {})
            self.cluster.add(name, *words[name.partition("-")[0]], variables=more)

    def member(self, name: str) -> Member:
        return next(each for each in self.cluster.members if each.name == name)

    async def is_ready(self) -> bool:
        """Whether the API answers and the workers have joined."""
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(
                    f"{self.api_url}/v1/workers", headers={"Authorization": f"Bearer {self.key}"}
                ) as response,
            ):
                return response.status == 200 and len((await response.json())["data"]) == 2
        except (aiohttp.ClientError, OSError):
            return False

    async def wait_until_ready(self) -> None:
        deadline = self.clock.monotonic() + START_S
        while not await self.is_ready():
            for member in self.cluster.members:
                assert member.is_alive, f"{member.name} ended with {member.codes}; see its log"
            assert self.clock.monotonic() < deadline, "Rota did not come up"
            await self.clock.sleep(LOOK_S)

    async def tend(self) -> None:
        """Start again what has ended, until it is over."""
        again: dict[str, float] = {}
        while not self.is_over:
            now = self.clock.monotonic()
            for member in self.cluster.members:
                if member.name in self.told or member.is_alive:
                    continue
                if member.name not in again:
                    again[member.name] = now + AGAIN_S
                    self.exits.append(Exit(name=member.name, code=member.codes[-1], at=now))
                elif now >= again[member.name]:
                    del again[member.name]
                    member.start()
            await self.clock.sleep(LOOK_S)

    async def leave(self, *names: str) -> None:
        """Tell processes to end and wait until they have."""
        members = [each for each in self.cluster.members if each.name.startswith(names)]
        self.told |= {each.name for each in members}
        for member in members:
            member.signal(signal.SIGTERM)
        deadline = self.clock.monotonic() + LEAVE_S
        while any(each.is_alive for each in members) and self.clock.monotonic() < deadline:
            await self.clock.sleep(LOOK_S)

    async def roll(self, name: str) -> None:
        """Tell one process to end, and start it again when it has."""
        await self.leave(name)
        member = self.member(name)
        assert not member.is_alive, f"{name} did not end within {LEAVE_S:.0f} s of SIGTERM"
        code = member.codes[-1]
        if code != 0:
            self.exits.append(Exit(name=name, code=code, at=self.clock.monotonic()))
        member.start()
        self.told.discard(name)


@asynccontextmanager
async def running_fleet(fleet: Fleet) -> AsyncIterator[Fleet]:
    """All processes up; every one is gone when the block is left."""
    try:
        fleet.start()
        await fleet.wait_until_ready()
        yield fleet
    finally:
        fleet.cluster.close()
