"""`rota up` on its embedded database, killed again and again under load.

Odd rounds kill the processes of `rota up`, even ones the keeper and PostgreSQL as well. Handlers
die with it, so at-most-once runs that were under way are lost; nothing else may be.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import aiohttp

from rota.store.embedded import start
from tests.faults.client import SubmittingClient
from tests.faults.figures import Figures, measure_trial
from tests.faults.handlers import SINK
from tests.faults.trial import AT_THE_END, Load, Trial
from tests.support.cluster import BOUND, ROOT
from tests.support.processes import keeper_of, kill, postmaster_of

ROUNDS: Final = 8
BETWEEN_S: Final = 3.0
READY_S: Final = 60.0
LOOK_S: Final = 0.1


@dataclass(kw_only=True)
class KilledInstallation:
    """`rota up` in a folder, and the process that is it at the moment."""

    trial: Trial
    process: subprocess.Popen[bytes] | None = None
    ready_s: list[float] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.trial.folder / "rota"

    async def start(self) -> None:
        """Start it and wait until it is ready."""
        began = self.trial.clock.monotonic()
        self.process = process = self._launch()
        while not await self._is_ready():
            waited = self.trial.clock.monotonic() - began
            assert waited < READY_S, "`rota up` did not come up; see up.log"
            assert process.poll() is None, "`rota up` ended; see up.log"
            await self.trial.clock.sleep(LOOK_S)
        self.ready_s.append(round(self.trial.clock.monotonic() - began, 1))

    def _launch(self) -> subprocess.Popen[bytes]:
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
            "ROTA_API__PORT": str(self.trial.fleet.port),
            "ROTA_DATABASE__DATA": str(self.home),
            SINK: str(self.trial.fleet.sink),
        }
        words = ["rota", "up", "tests.faults.handlers:handlers"]
        with (self.trial.folder / "up.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-S", str(BOUND), sys.executable, "-m", *words],
                cwd=self.trial.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def _is_ready(self) -> bool:
        with suppress(aiohttp.ClientError, TimeoutError):
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session,
                session.get(f"{self.trial.fleet.api_url}/readyz") as response,
            ):
                return response.status == 200
        return False

    def kill(self, *, with_database: bool) -> None:
        """All at once: what is killed last could tidy up."""
        if self.process is None:
            return
        numbers = [keeper_of(self.home), postmaster_of(self.home)] if with_database else []
        os.killpg(self.process.pid, signal.SIGKILL)
        kill(*numbers)
        self.process.wait()
        self.process = None

    async def end(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(self.process.wait, READY_S)
        self.process = None


async def kill_everything(folder: Path, say: Callable[[str], object]) -> Figures:
    """Rounds of load and kill -9, then the figures over all of them."""
    trial = Trial(folder=folder, url="", load=Load(rate=30), say=say)
    installation = KilledInstallation(trial=trial)
    try:
        await installation.start()
        trial.client = trial.make_client((installation.home / "admin.key").read_text().strip())
        await trial.create_jobs()
        async with asyncio.TaskGroup() as group:
            loading = group.create_task(trial.client.run())
            await play_rounds(installation)
            ended = trial.clock.now() - AT_THE_END
            await stop_client(trial.client, loading)
        with start(installation.home) as embedded:
            trial.direct_url = embedded.url
            # Its scheduler goes on, so there is always a tick; what was submitted must have ended.
            await trial.clock.sleep(BETWEEN_S)
            await installation.end()
            trial.history = await trial.read_history(ended)
        return measure_trial(trial, ready_s=installation.ready_s)
    finally:
        installation.kill(with_database=False)


async def play_rounds(installation: KilledInstallation) -> None:
    trial = installation.trial
    for number in range(1, ROUNDS + 1):
        await trial.clock.sleep(BETWEEN_S)
        if number == 1:
            trial.struck_at = trial.clock.monotonic()
        installation.kill(with_database=number % 2 == 0)
        trial.say(f"killed for the {number}. time")
        await installation.start()
        trial.say(f"ready after {installation.ready_s[-1]} s")
    # Leases of the dead run out, and what is left is taken up again.
    await trial.clock.sleep(15)


async def stop_client(client: SubmittingClient, loading: "asyncio.Task[None]") -> None:
    client.is_over = True
    await loading
