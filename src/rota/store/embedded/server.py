"""Starts, finds, watches and stops one postgres process.

Knows the command line, postmaster.pid and the lock that the server's processes inherit. Does not
decide when to start or stop (keeper.py), where to listen (address.py) or how (settings.py).
"""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rota.core.errors import EmbeddedFailed
from rota.store.embedded import log, settings
from rota.store.embedded.address import LOOPBACK, ListenAddress
from rota.store.embedded.cluster import ClusterTools, open_folder_access
from rota.store.embedded.home import EmbeddedHome
from rota.store.embedded.locks import FileLock
from rota.store.embedded.polling import wait_until
from rota.store.embedded.processes import ServerProcess, find_processes_in, find_server_process
from rota.store.embedded.programs import (
    NO_CONFIG_OPTIONS,
    WORKING_FOLDER,
    program_environment,
    run_program,
)

FAST_STOP_TIMEOUT_S = 60.0
STOP_SIGNAL_INTERVAL_S = 1.0
FORCED_STOP_TIMEOUT_S = 10.0
LOCK_RELEASE_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PidFile:
    """What a postmaster writes about itself."""

    pid: int
    port: int
    socket_folder: str
    status: str


def read_pid_file(data: Path) -> PidFile | None:
    """Read postmaster.pid; None while it is missing or incomplete."""
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        return PidFile(
            pid=int(lines[0]),
            port=int(lines[3]),
            socket_folder=lines[4].strip(),
            status=lines[7].strip() if len(lines) > 7 else "starting",
        )
    except (FileNotFoundError, IndexError, ValueError):
        return None


@dataclass(slots=True, kw_only=True)
class PostgresServer:
    data: Path
    address: ListenAddress
    process: ServerProcess
    child: subprocess.Popen[bytes] | None = None

    def has_ended(self) -> bool:
        if self.child is not None:
            return self.child.poll() is not None
        return self.process.has_ended()

    def is_ready(self) -> bool:
        # A "starting up" response on the port is not enough; the file says when startup is over.
        file = read_pid_file(self.data)
        return file is not None and file.pid == self.process.pid and file.status == "ready"

    def signal(self, number: signal.Signals) -> None:
        if self.child is not None:
            self.child.send_signal(number)  # a child keeps its id until it is reaped
        else:
            self.process.signal(number)

    def stop(self) -> None:
        """Stop it: fast (sessions end, data is on disk), then immediately, then by force."""
        for number, seconds in (
            (signal.SIGINT, FAST_STOP_TIMEOUT_S),
            (signal.SIGQUIT, FORCED_STOP_TIMEOUT_S),
            (signal.SIGKILL, FORCED_STOP_TIMEOUT_S),
        ):
            # Repeated: a server that has just started may not handle the signal yet.
            for _ in range(round(seconds / STOP_SIGNAL_INTERVAL_S)):
                if self.has_ended():
                    break
                self.signal(number)
                wait_until(self.has_ended, seconds=STOP_SIGNAL_INTERVAL_S)
        self.process.release()


def launch_server(
    home: EmbeddedHome, tools: ClusterTools, address: ListenAddress
) -> PostgresServer:
    """Start postgres as a child of this process; it is not ready when this returns."""
    flags = settings.durability_flags(durable=tools.durable) | {
        "port": str(address.port),
        "listen_addresses": LOOPBACK if address.tcp else "",
        "unix_socket_directories": address.socket_folder,
    }
    with (
        claim_cluster(home, tools) as lock,
        open_folder_access(home.data, tools.account) as way,
        log.open_for_append(home.log) as output,
    ):
        address.prepare_sockets(home.data, tools.account)
        child = subprocess.Popen(
            [
                *(tools.install.program("postgres"), "-D", way.name),
                *(word for name, value in flags.items() for word in ("-c", f"{name}={value}")),
            ],
            cwd=WORKING_FOLDER,
            env=program_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            umask=0o077,
            start_new_session=True,
            # All processes of the server inherit the lock: it is free when the last one has ended.
            pass_fds=(lock.fd, *way.pass_fds),
            user=tools.account.user,
            group=tools.account.group,
            extra_groups=tools.account.extra_groups,
        )
    process = ServerProcess.hold(child.pid, home.data, tools.account)
    return PostgresServer(data=home.data, address=address, process=process, child=child)


def adopt_server(home: EmbeddedHome, tools: ClusterTools) -> PostgresServer | None:
    """Find the server that an earlier monitor left running."""
    file = read_pid_file(home.data)
    if file is None:
        return None
    process = find_server_process(file.pid, home.data, tools.account)
    if process is None:
        return None
    address = ListenAddress(port=file.port, socket_folder=file.socket_folder)
    return PostgresServer(data=home.data, address=address, process=process)


@contextlib.contextmanager
def claim_cluster(home: EmbeddedHome, tools: ClusterTools) -> Iterator[FileLock]:
    """Hold the cluster exclusively, after removing the remains of a server that died.

    PostgreSQL trusts the id in postmaster.pid as soon as any process of its user has it, and then
    refuses to start for ever. The lock and the working folders show that no process uses the data.
    """
    pid_file = home.data / "postmaster.pid"
    with FileLock(home.server_lock) as lock:
        if pid_file.exists() or not lock.try_exclusive():
            end_orphans(home, tools)
        if not wait_until(lock.try_exclusive, seconds=LOCK_RELEASE_TIMEOUT_S):
            raise EmbeddedFailed(
                reason=f"another server still uses {home.data}, perhaps in another container",
                remedy="stop it first: two servers in one data folder would destroy the data",
            )
        pid_file.unlink(missing_ok=True)
        yield lock


def end_orphans(home: EmbeddedHome, tools: ClusterTools) -> None:
    """End the processes of a server without a postmaster; a busy session may not have noticed."""
    for number in (signal.SIGQUIT, signal.SIGKILL):
        for pid in find_processes_in(home.data, tools.account):
            orphan = find_server_process(pid, home.data, tools.account)
            if orphan is not None:
                orphan.signal(number)
                orphan.release()
        if wait_until(
            lambda: not find_processes_in(home.data, tools.account), seconds=FORCED_STOP_TIMEOUT_S
        ):
            return


def accepts_setting(home: EmbeddedHome, tools: ClusterTools, name: str, value: str) -> bool:
    """Ask the programs whether a setting accepts this value."""
    with open_folder_access(home.data, tools.account) as way:
        command = [
            *(tools.install.program("postgres"), "-D", way.name, *NO_CONFIG_OPTIONS),
            *("-c", f"{name}={value}", "-C", name),
        ]
        return run_program(command, account=tools.account, pass_fds=way.pass_fds).returncode == 0


def write_configuration(home: EmbeddedHome, tools: ClusterTools, text: str) -> None:
    """Replace the configuration file atomically."""
    descriptor, name = tempfile.mkstemp(prefix=".conf-", dir=home.data)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        tools.account.own(draft)
        draft.replace(home.data / "postgresql.conf")
    except OSError:
        draft.unlink(missing_ok=True)
        raise
