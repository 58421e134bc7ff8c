"""`rota up` with two tenants and a worker that has things of both, for attacks to aim at.

Everything listens on this machine only, in a folder of its own.
"""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from rota.runtime.clock import SystemClock
from rota.store.embedded.account import choose_account
from tests.attack.attacks import Findings
from tests.attack.bystander import STUCK_S
from tests.support.cluster import BOUND, ROOT
from tests.support.ports import find_free_ports
from tests.support.postgres import open_folder
from tests.support.serving import Answer, Caller

CLOCK = SystemClock()
READY_S = 90.0
LOOK_S = 0.05
QUIET_S = 2.0
ROLES = ("viewer", "operator", "admin")
DEEP = "acme-row-4711"
SETTINGS = """
[api]
port = {port}

[observe]
listen = "127.0.0.1:{health_port}"

[worker]
queues = ["default", "acme-only"]
tenants = ["*"]
queue_tenants = {{ acme-only = ["acme"] }}

[executors]
shell_allow = ["/bin/sh", "/usr/bin/id"]
shell_user = "nobody"
shell_tenants = ["acme"]
http_allow_tenants = ["acme"]
http_allow_networks = ["127.0.0.0/8"]
http_allow_ports = [{sink}]

[executors.connections.acme-shop]
url = "sqlite://{folder}/shop.db"
tenants = ["acme"]

[executors.connections.undeclared]
url = "sqlite://{folder}/shop.db"

[executors.channels.ops]
url = "json://127.0.0.1:{sink}/"
tenants = ["acme"]

[executors.webhooks.partner]
hosts = ["127.0.0.1"]
secrets = ["whsec_dGhlIHNlY3JldCBvZiBhIHBhcnRuZXIgb2YgYWNtZQ=="]
tenants = ["acme"]

[executors.places.vault]
url = "file://{folder}/vault"
tenants = ["acme"]
"""
HANDLERS = """
import asyncio
import json
import os

from rota.executors.python import Handlers

handlers = Handlers()


@handlers.handler("attack.wait")
async def wait(_context, payload):
    await asyncio.sleep(payload.get("seconds", 60))


@handlers.handler("attack.shout")
async def shout(_context, payload):
    print(payload["text"])
    raise RuntimeError(payload["text"])


@handlers.handler("attack.environment", isolation="process")
def environment(_context, _payload):
    return sorted(os.environ)
"""
# A secret that the operator of the installation has in the environment of the process.
CANARY = "ATTACK_CANARY"


@dataclass(frozen=True, kw_only=True)
class Tenant:
    """A tenant and a caller for each role."""

    id: int
    name: str
    viewer: Caller
    operator: Caller
    admin: Caller


@dataclass(kw_only=True)
class Target:
    """The installation. `victim` owns the things that `intruder` is after."""

    folder: Path
    url: str
    health_url: str
    session: aiohttp.ClientSession
    process: subprocess.Popen[bytes]
    platform: Caller
    victim: Tenant
    intruder: Tenant
    sink_url: str
    received: list[str]
    quiet_ms: float = 0.0

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    @property
    def log(self) -> str:
        return (self.folder / "up.log").read_text(errors="replace")

    @property
    def nobody(self) -> Caller:
        """A caller without a key."""
        return Caller(session=self.session, url=self.url, key=None)

    async def is_alive(self) -> bool:
        """Whether the process lives and answers people with keys, and probes."""
        if self.process.poll() is not None:
            return False
        with suppress(aiohttp.ClientError, TimeoutError):
            asked = await asyncio.wait_for(self.victim.viewer.get("/v1/whoami"), 10)
            async with self.session.get(f"{self.health_url}/livez") as probe:
                return asked.status == 200 and probe.status == 200
        return False

    async def submit(self, caller: Caller, kind: str, payload: Any, **more: Any) -> str:
        """Submit a job that runs once; return the id of its run."""
        made = await caller.post("/v1/jobs", {"kind": kind, "payload": payload, **more})
        assert made.status in (200, 201, 202), made.text
        job_id = made.json["job_id"]
        for _ in range(round(READY_S / LOOK_S)):
            listed = await caller.get(f"/v1/jobs/{job_id}/runs")
            if listed.json["data"]:
                return str(listed.json["data"][0]["run_id"])
            await CLOCK.sleep(LOOK_S)
        raise AssertionError(f"{kind} has no run")

    async def wait_for_end(self, caller: Caller, run_id: str, *, within: float = 30.0) -> Any:
        """Return the run when it has ended, or as it is after so many seconds."""
        for _ in range(round(within / LOOK_S)):
            found = (await caller.get(f"/v1/runs/{run_id}")).json
            if found.get("end_time") is not None:
                break
            await CLOCK.sleep(LOOK_S)
        return found

    async def wait_for_job(
        self, caller: Caller, job_id: str, is_so: Callable[[Any], bool], *, within: float = 30.0
    ) -> Any:
        """Return the job when this is so of it, or as it is after so many seconds."""
        for _ in range(round(within / LOOK_S)):
            found = (await caller.get(f"/v1/jobs/{job_id}")).json
            if is_so(found):
                break
            await CLOCK.sleep(LOOK_S)
        return found

    async def list_workers(self) -> set[str]:
        """The sessions of the workers that are alive."""
        listed = (await self.platform.get("/v1/workers")).json["data"]
        return {each["worker_id"] for each in listed}

    @asynccontextmanager
    async def watch_bystander(
        self, findings: Findings, what: str, limit_ms: float = 50.0
    ) -> AsyncIterator[None]:
        """Measure what requests of another tenant wait for meanwhile."""
        samples: list[float] = []
        async with self._bystander(samples):
            yield
        delay = max(max(samples, default=STUCK_S * 1000) - self.quiet_ms, 0.0)
        findings.figures.append(f"{what}: others waited {delay:.0f} ms more at worst")
        findings.expect(delay <= limit_ms, f"{what}: another request waited {delay:.0f} ms")

    async def measure_quiet(self) -> None:
        """How long a request takes at worst while nothing is attacked, but for two outliers."""
        samples: list[float] = []
        async with self._bystander(samples):
            await CLOCK.sleep(QUIET_S)
        self.quiet_ms = sorted(samples)[-3]

    @asynccontextmanager
    async def _bystander(self, samples: list[float]) -> AsyncIterator[None]:
        """Fill `samples` with the milliseconds that requests of another process took meanwhile."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.attack.bystander", self.url),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{self.victim.viewer.key}\n".encode())
        await asyncio.wait_for(process.stdout.readline(), STUCK_S)
        try:
            yield
        finally:
            process.stdin.close()
            said = await asyncio.wait_for(process.stdout.read(), STUCK_S + 5)
            await process.wait()
            # Without a line it got no answer, which is no sample and counts as stuck.
            samples += json.loads(said or "[]")

    async def call_fresh(self, caller: Caller, path: str) -> Answer | None:
        """One request on a new connection; None if it got no answer."""
        timeout = aiohttp.ClientTimeout(total=10)
        with suppress(aiohttp.ClientError, TimeoutError, OSError):
            async with aiohttp.ClientSession(timeout=timeout) as session:
                return await Caller(session=session, url=caller.url, key=caller.key).get(path)
        return None


@asynccontextmanager
async def open_target() -> AsyncIterator[Target]:
    """Start the installation, make tenants and keys, and stop it in the end."""
    with open_folder("rota-attack-", choose_account(Path("/nonexistent"))) as folder:
        port, health_port, sink = find_free_ports(3)
        prepare_folder(folder, port=port, health_port=health_port, sink=sink)
        process = launch(folder)
        try:
            async with (
                aiohttp.ClientSession(
                    timeout=aiohttp.ClientTimeout(total=120),
                    connector=aiohttp.TCPConnector(limit=0, force_close=False),
                ) as session,
                receive_requests(sink) as received,
            ):
                started = await wait_until_ready(
                    folder, process, session, f"http://127.0.0.1:{port}"
                )
                yield await populate(started, received, health_port=health_port, sink=sink)
        finally:
            stop(process)


def prepare_folder(folder: Path, *, port: int, health_port: int, sink: int) -> None:
    (folder / "rota.toml").write_text(
        SETTINGS.format(port=port, health_port=health_port, sink=sink, folder=folder)
    )
    (folder / "attacked.py").write_text(HANDLERS)
    (folder / "vault" / "plans").mkdir(parents=True)
    (folder / "vault" / "plans" / "next.txt").write_text(DEEP)
    with sqlite3.connect(folder / "shop.db") as shop:
        shop.execute("create table money (note text)")
        shop.execute("insert into money values (?)", (DEEP,))


def launch(folder: Path) -> subprocess.Popen[bytes]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(folder))),
        CANARY: DEEP,
    }
    words = ["rota", "up", "attacked:handlers"]
    with (folder / "up.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-S", str(BOUND), sys.executable, "-m", *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@dataclass(frozen=True, kw_only=True)
class Started:
    """An installation that answers."""

    folder: Path
    process: subprocess.Popen[bytes]
    session: aiohttp.ClientSession
    url: str


async def wait_until_ready(
    folder: Path, process: subprocess.Popen[bytes], session: aiohttp.ClientSession, url: str
) -> Started:
    for _ in range(round(READY_S / LOOK_S)):
        with suppress(aiohttp.ClientError):
            async with session.get(f"{url}/readyz") as response:
                if response.status == 200:
                    return Started(folder=folder, process=process, session=session, url=url)
        if process.poll() is not None:
            break
        await CLOCK.sleep(LOOK_S)
    raise AssertionError(f"`rota up` did not come up:\n{(folder / 'up.log').read_text()[-4000:]}")


async def populate(started: Started, received: list[str], *, health_port: int, sink: int) -> Target:
    """Make two tenants with a key of each role, and see how fast it is while it is quiet."""
    key = (started.folder / ".rota" / "admin.key").read_text().strip()
    platform = Caller(session=started.session, url=started.url, key=key)
    victim, intruder = [await make_tenant(platform, name) for name in ("acme", "globex")]
    target = Target(
        folder=started.folder,
        url=started.url,
        health_url=f"http://127.0.0.1:{health_port}",
        session=started.session,
        process=started.process,
        platform=platform,
        victim=victim,
        intruder=intruder,
        sink_url=f"http://127.0.0.1:{sink}/",
        received=received,
    )
    await target.measure_quiet()
    return target


@asynccontextmanager
async def receive_requests(port: int) -> AsyncIterator[list[str]]:
    """A server that notes which requests jobs send to it."""
    received: list[str] = []

    async def note(request: web.BaseRequest) -> web.Response:
        received.append(f"{request.method} {await request.text()}")
        return web.json_response({})

    runner = web.ServerRunner(web.Server(note))
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield received
    finally:
        await runner.cleanup()


async def make_tenant(platform: Caller, name: str) -> Tenant:
    made = await platform.post("/v1/tenants", {"name": name})
    assert made.status == 201, made.text
    tenant_id = made.json["tenant_id"]
    callers = {}
    for role in ROLES:
        key = await platform.post(f"/v1/tenants/{tenant_id}/keys", {"name": role, "role": role})
        assert key.status == 201, key.text
        caller = Caller(session=platform.session, url=platform.url, key=key.json["key"])
        # A key that is in use is served although its address guesses others.
        assert (await caller.get("/v1/whoami")).status == 200
        callers[role] = caller
    return Tenant(id=tenant_id, name=name, **callers)
