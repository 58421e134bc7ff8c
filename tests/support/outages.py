"""A PostgreSQL server of the test's own that can be stopped, killed and frozen; and an API on it.

Only processes that the test started are signalled, each by its id.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rota.store.embedded import start
from tests.support.installation import ROTA, clean, until
from tests.support.processes import PROC, keeper_of, kill, postmaster_of


@dataclass(frozen=True, kw_only=True)
class Outage:
    """What becomes of a server, until the block is left."""

    home: Path

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """An administrator stops it at once, and starts it again."""
        with self._unattended():
            number = postmaster_of(self.home)
            os.kill(number, signal.SIGINT)
            until(lambda: not is_alive(number), "the end of the server")
            yield

    @contextmanager
    def killed(self) -> Iterator[None]:
        with self._unattended():
            number = postmaster_of(self.home)
            children = children_of(number)
            kill(number)
            until(lambda: not any(map(is_alive, children)), "the end of its processes")
            yield

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It takes connections and says nothing: the kernel answers for it."""
        number = postmaster_of(self.home)
        stopped = [number]
        os.kill(number, signal.SIGSTOP)
        try:
            # Nothing comes after these: who would make them is stopped.
            for each in children_of(number):
                stopped.append(each)
                os.kill(each, signal.SIGSTOP)
            yield
        finally:
            for each in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGCONT)

    @contextmanager
    def _unattended(self) -> Iterator[None]:
        """Without the process that would start it again at once."""
        keeper = keeper_of(self.home)
        os.kill(keeper, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(keeper, signal.SIGCONT)


@contextmanager
def api_process(folder: Path) -> Iterator[tuple[str, str, Outage]]:
    """`rota api` on a server of its own: its address, the first key, and how to take the server
    away.
    """
    home = folder / "postgres"
    with start(home) as server, (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [ROTA, "api"],
            cwd=folder,
            env=clean(
                ROTA_API__PORT="0",
                ROTA_DATABASE__URL=server.url,
                ROTA_DATABASE__DATA=str(folder / "data"),
            ),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[2].rstrip(",")
            key = until(lambda: read(folder / "data" / "admin.key"), "the first key")
            yield url, key, Outage(home=home)
        finally:
            process.kill()
            process.communicate()


def read(path: Path) -> str:
    return path.read_text().strip() if path.exists() else ""


def children_of(number: int) -> list[int]:
    found = []
    for folder in PROC.iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and parent_of(folder) == number:
                found.append(int(folder.name))
    return found


def parent_of(folder: Path) -> int:
    return int((folder / "stat").read_text().rpartition(")")[2].split()[1])


def is_alive(number: int) -> bool:
    """A process that has ended and that nobody has waited for yet is not."""
    try:
        state = (PROC / str(number) / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}
