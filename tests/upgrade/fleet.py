"""Processes of both releases on one database, replaced one by one."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg

from rota.runtime.clock import SystemClock
from tests.upgrade.handlers import STARTS
from tests.upgrade.previous import ROOT, Release

CLOCK = SystemClock()
PATIENCE = 60.0
# Events that must not happen, whatever the load of the machine.
BAD = {
    *("service.failed", "request.failed", "rescue.failed"),
    *("graph_advance.failed", "graph_advance.delayed", "results.discarded"),
    # The former names of these three, which the previous release logs.
    *("advance.failed", "advance.put_off", "results.refused"),
    *("job.quarantined", "job.set_aside", "run.set_aside", "runs.reclaimed"),
}
# Both releases know these settings. Leases are long: nobody dies here, and the machine may be slow.
SETTINGS = {
    "ROTA_SCHEDULER__LEASE": "20s",
    "ROTA_SCHEDULER__RENEW_EVERY": "2s",
    "ROTA_SCHEDULER__STOP_AFTER": "12s",
    "ROTA_WORKER__LEASE": "20s",
    "ROTA_WORKER__BEAT_EVERY": "1s",
    "ROTA_WORKER__STOP_AFTER": "12s",
    "ROTA_LOG__FORMAT": "json",
    "ROTA_API__REQUESTS_PER_SECOND": "1000000",
    "ROTA_API__BURST": "1000000",
    "ROTA_API__UNKNOWN_PER_SECOND": "1000000",
    "ROTA_WORKER__DRAIN": "20s",
    "ROTA_WORKER__SLOTS": "16",
}
WORDS = {
    "scheduler": ("scheduler",),
    "worker": ("worker", "tests.upgrade.handlers:handlers"),
    "api": ("api",),
}
ALIVE = "select count(*) from rota.sessions where role = $1 and expires_at > rota.now()"


async def until(look: Callable[[], Awaitable[Any]], what: str) -> Any:
    """Look again and again until the answer is true."""
    end = CLOCK.monotonic() + PATIENCE
    while True:
        seen = await look()
        if seen:
            return seen
        if CLOCK.monotonic() > end:
            raise AssertionError(f"{what}: still {seen!r} after {PATIENCE} s")
        await CLOCK.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(kw_only=True)
class Running:
    """A process of one release."""

    role: str
    release: Release
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def label(self) -> str:
        return f"the {self.release.name} {self.role}"

    def faults(self) -> list[str]:
        """What it complained of."""
        found = []
        for line in self.log.read_text(errors="replace").splitlines():
            told = read_line(line)
            if "Traceback" in line or told.get("event") in BAD:
                found.append(f"{self.label}: {line[:500]}")
        return found


def read_line(line: str) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


@dataclass(kw_only=True)
class Fleet:
    """One database, one address of the API, and whatever processes run there."""

    url: str
    folder: Path
    conn: asyncpg.Connection
    session: aiohttp.ClientSession
    port: int = field(default_factory=free_port)
    running: list[Running] = field(default_factory=list)
    ended: list[Running] = field(default_factory=list)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def starts(self) -> Path:
        return self.folder / "starts"

    @property
    def key(self) -> str:
        return (self.folder / "data" / "admin.key").read_text().strip()

    def environment(self, release: Release) -> dict[str, str]:
        return release.environment(
            **SETTINGS,
            **{
                "ROTA_DATABASE_URL": self.url,
                "ROTA_DATA": str(self.folder / "data"),
                "ROTA_API__PORT": str(self.port),
                STARTS: str(self.starts),
            },
        )

    def migrate(self, release: Release) -> str:
        """`rota migrate` of a release; returns what it said."""
        done = subprocess.run(
            [sys.executable, "-m", "rota", "migrate"],
            env=self.environment(release),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{release.name} migrate: {done.stdout}{done.stderr}"
        return done.stdout

    async def start(self, release: Release, role: str) -> Running:
        """Start a process and wait until it works."""
        before = len(self.of(role))
        log = self.folder / f"{len(self.running) + len(self.ended):02}-{release.name}-{role}.log"
        started = Running(
            role=role, release=release, process=self._begin(release, role, log), log=log
        )
        self.running.append(started)
        if role == "api":
            await until(lambda: self._answers(started), f"{started.label} answers")
        else:
            await until(lambda: self._alive(started, role, before), f"{started.label} is alive")
        return started

    def _begin(self, release: Release, role: str, log: Path) -> subprocess.Popen[bytes]:
        with log.open("wb") as file:
            return subprocess.Popen(
                [sys.executable, "-m", "rota", *WORDS[role]],
                env=self.environment(release),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )

    async def _alive(self, started: Running, role: str, before: int) -> bool:
        self.check_alive(started)
        return int(await self.conn.fetchval(ALIVE, role)) > before

    async def _answers(self, started: Running) -> bool:
        self.check_alive(started)
        try:
            async with self.session.get(f"{self.base}/readyz") as response:
                return response.status == 200
        except aiohttp.ClientError:
            return False

    def check_alive(self, each: Running) -> None:
        code = each.process.poll()
        if code is not None:
            raise AssertionError(f"{each.label} ended with {code}: {each.log.read_text()[-2000:]}")

    def of(self, role: str) -> list[Running]:
        return [each for each in self.running if each.role == role]

    async def stop(self, each: Running) -> None:
        """Ask it to stop, and wait for that. It must have lived until now, and end well."""
        self.check_alive(each)
        each.process.send_signal(signal.SIGTERM)
        code = await asyncio.to_thread(each.process.wait, PATIENCE)
        self.running.remove(each)
        self.ended.append(each)
        assert code == 0, f"{each.label} ended with {code}: {each.log.read_text()[-2000:]}"

    async def replace(self, role: str, release: Release) -> None:
        """The next process comes before the last one goes; the API has one address."""
        before = self.of(role)
        if role == "api":
            for each in before:
                await self.stop(each)
            await self.start(release, role)
            return
        await self.start(release, role)
        for each in before:
            await self.stop(each)

    def close(self) -> None:
        for each in self.running:
            each.process.kill()
            each.process.wait()

    def faults(self) -> list[str]:
        return [fault for each in (*self.ended, *self.running) for fault in each.faults()]

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Ask the API for what must succeed."""
        status, told = await self.ask(method, path, body, **headers)
        assert status < 300, f"{method} {path}: {status} {told}"
        return told

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        given["Authorization"] = f"Bearer {self.key}"
        async with self.session.request(
            method, f"{self.base}{path}", json=body, headers=given
        ) as response:
            text = await response.text()
            return response.status, json.loads(text) if text else None
