"""Finds the server's processes by their working folder, never by a process id alone.

A process id in a file proves nothing: after a reboot or a container restart it may belong to
another process. A postgres process has its data folder as its working folder, and no other process
has. Between the check and the signal the id could be reused too, so on Linux a pidfd holds the
process.
"""

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rota.store.embedded.account import Account

PROC = Path("/proc")
PROGRAM = "postgres"


@dataclass(slots=True, kw_only=True)
class ServerProcess:
    """A server process, held so that its id cannot be reused."""

    pid: int
    data: Path
    account: Account
    pidfd: int | None

    @classmethod
    def hold(cls, pid: int, data: Path, account: Account) -> Self:
        try:
            pidfd = os.pidfd_open(pid)
        except (AttributeError, OSError):  # not Linux, an old kernel, or no such process
            pidfd = None
        return cls(pid=pid, data=data, account=account, pidfd=pidfd)

    def signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self.pidfd is not None:
                signal.pidfd_send_signal(self.pidfd, number)
            elif not self.has_ended():
                os.kill(self.pid, number)

    def has_ended(self) -> bool:
        """Return whether it has ended; a zombie has, even if it is never reaped."""
        if self.pidfd is not None:
            return bool(select.select([self.pidfd], [], [], 0)[0])
        return self.pid not in find_processes_in(self.data, self.account)

    def release(self) -> None:
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None


def find_server_process(pid: int, data: Path, account: Account) -> ServerProcess | None:
    """Hold the process with this id if it is a server of this data folder."""
    process = ServerProcess.hold(pid, data, account)
    if pid in find_processes_in(data, account) and not process.has_ended():
        return process
    process.release()
    return None


def find_processes_in(data: Path, account: Account) -> list[int]:
    """List the postgres processes whose working folder is this one."""
    if not PROC.joinpath("self", "cwd").exists():
        return list_with_lsof(data)
    target = data.stat()
    # Root in a container may not inspect another user's process; that user may.
    with account.act_as_user():
        folders = [folder for folder in PROC.iterdir() if folder.name.isdigit()]
        return [int(folder.name) for folder in folders if is_working_in(target, folder)]


def is_working_in(target: os.stat_result, folder: Path) -> bool:
    try:
        if (folder / "comm").read_text(encoding="utf-8").strip() != PROGRAM:
            return False
        return os.path.samestat((folder / "cwd").stat(), target)
    except OSError:  # it ended meanwhile, is a zombie, or is not accessible
        return False


def list_with_lsof(data: Path) -> list[int]:
    """Use lsof on systems without /proc (macOS)."""
    command = ["lsof", "-a", "-c", PROGRAM, "-d", "cwd", "-F", "pn"]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return [pid for pid, folder in read_lsof(output) if folder == data]


def read_lsof(output: str) -> Iterator[tuple[int, Path]]:
    """Read lines such as p123, fcwd, n/path: a process, then its open files."""
    pid = 0
    for line in output.splitlines():
        if line.startswith("p"):
            pid = int(line[1:])
        elif line.startswith("n"):
            yield pid, Path(line[1:])
