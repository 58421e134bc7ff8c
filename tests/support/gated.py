"""Real processes of Rota behind a gate to a server that they accept."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rota.store.embedded import Embedded, start
from tests.support.databases import create, drop
from tests.support.gates import Gate, gates_to, through
from tests.support.installation import KIT
from tests.support.shop import until
from tests.support.standby import wait_until_stopped

ROTA = Path(sys.executable).with_name("rota")
PATIENCE_S = 120.0


@dataclass(kw_only=True)
class Started:
    process: subprocess.Popen[bytes]
    log: Path

    async def says(self, text: str) -> None:
        async def look() -> bool | None:
            if text in self.log.read_text():
                return True
            assert self.process.poll() is None, self.log.read_text()
            return None

        await until(look, patience=PATIENCE_S)

    async def ends(self) -> int:
        return await asyncio.to_thread(self.process.wait, PATIENCE_S)


@contextmanager
def started(folder: Path, *words: str, url: str, **settings: str) -> Iterator[Started]:
    """A real process. What it says goes to a file."""
    (folder / "kit.py").write_text(KIT)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ROTA_")}
    log = folder / f"{words[0]}.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [ROTA, *words],
            cwd=folder,
            env=kept | {"ROTA_API__PORT": "0", "ROTA_DATABASE_URL": url} | settings,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
        )
    try:
        yield Started(process=process, log=log)
    finally:
        process.kill()
        process.wait()


@contextmanager
def durable_server() -> Iterator[Embedded]:
    """A server that a process accepts."""
    with TemporaryDirectory(prefix="rota-durable-") as folder:
        Path(folder).chmod(0o755)
        home = Path(folder) / "home"
        with start(home, durable=True) as embedded:
            yield embedded
        wait_until_stopped(home)


@dataclass(frozen=True, kw_only=True)
class Way:
    """Shut gates to an empty database, the URL through all of them, and the one past them."""

    gates: list[Gate]
    url: str
    past: str


@asynccontextmanager
async def way_to(server: Embedded, *, gates: int = 1) -> AsyncIterator[Way]:
    past = await create(server.tcp_url, f"behind_gates_{os.getpid()}")
    async with gates_to(past, count=gates) as made:
        yield Way(gates=made, url=through(past, [gate.port for gate in made]), past=past)
    await drop(server.tcp_url, past)
