"""Starts a real Rota for integration tests: PostgreSQL, API, scheduler and worker.

It has its own database in its own folder, and runs `rota up` as a child process on a free port.
Starting takes some seconds, so a test session shares one. Needs the extra `embedded`.
"""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from rota.core.errors import RotaError
from rota.sdk.app.app import App
from rota.sdk.app.sender import ClientSender
from rota.store.embedded import start

if TYPE_CHECKING:
    from rota.sdk.client import Client

READY_LINE: Final = "Rota is up."
ADDRESS_PREFIX: Final = "API at "
# Seconds; the first start creates the database.
START_TIMEOUT_S: Final = 120.0
STOP_TIMEOUT_S: Final = 30.0
SHOWN_LINES_MAX: Final = 5


@dataclass(eq=False)
class ServerNotStarted(RotaError):
    """The server did not start; the reason is its last output."""

    reason: str

    def __str__(self) -> str:
        return f"`rota up` did not start: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The addresses of a running server; `database_url` is for tests of `rota.in_transaction`."""

    url: str
    key: str
    database_url: str
    folder: Path

    def client(self) -> "Client":
        from rota.sdk.client import Client  # noqa: PLC0415 — only tests that use it load it

        return Client(self.url, self.key)

    @contextmanager
    def connected(self, app: App) -> Iterator[None]:
        """Send the submissions of this app to this server inside the block."""
        before, sender = app.sender, ClientSender(self.url, self.key)
        app.sender = sender
        try:
            yield
        finally:
            app.sender = before
            sender.close()


@contextmanager
def serving(folder: Path, app: str | None = None) -> Iterator[Server]:
    """Start a Rota in this folder, optionally with a worker for `module:app`; stop it at the end of
    the block.
    """
    with start(folder / "postgres") as database:
        command = [sys.executable, "-m", "rota", "up", *([app] if app else [])]
        command += ["--data", str(folder), "--port", "0"]
        environment = {**os.environ, "ROTA_DATABASE_URL": database.url}
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            yield Server(
                url=_address(process),
                key=(folder / "admin.key").read_text().strip(),
                database_url=database.url,
                folder=folder,
            )
        finally:
            _stop(process)


def _address(process: "subprocess.Popen[str]") -> str:
    """Read the server's output until it is up; return its address. Later output is discarded."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    output: list[str] = []
    url = ""
    while True:
        try:
            line = lines.get(timeout=START_TIMEOUT_S)
        except queue.Empty:
            line = None
        if line is None:
            raise ServerNotStarted(
                "".join(output[-SHOWN_LINES_MAX:]).strip() or "it wrote no output"
            )
        output.append(line)
        if line.startswith(ADDRESS_PREFIX):
            url = line.removeprefix(ADDRESS_PREFIX).split(",")[0].strip()
        if line.startswith(READY_LINE):
            return url


def _read(pipe: IO[str] | None, lines: "queue.SimpleQueue[str | None]") -> None:
    for line in pipe or ():
        lines.put(line)
    lines.put(None)


def _stop(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
