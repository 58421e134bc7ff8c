"""A PostgreSQL server that no keeper looks after, so that a test decides when it runs.

The programs are those of the embedded database. The server listens on a TCP port of this machine
and trusts every local user: it holds nothing but what its test puts there.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rota.store.embedded import binaries
from rota.store.embedded.account import Account, choose_account
from rota.store.embedded.programs import PostgresInstall, run_program
from tests.support.guarded import ProcessTree, wait_until
from tests.support.ports import find_free_ports

MEMORY = Path("/dev/shm")
ROOM = 2 * 2**30
LOCK = "test.lock"
ROLE = "rota"
DATABASE = "rota"
# A server of its own for each test: small, and as durable as a real one.
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "64MB",
    "max_connections": "100",
    "max_wal_size": "256MB",
    # In files of its own folder: a killed server leaves segments of shared memory behind.
    "dynamic_shared_memory_type": "mmap",
    "log_min_messages": "warning",
}


def find_programs(account: Account) -> PostgresInstall:
    """Find programs of PostgreSQL that this account can run."""
    return binaries.choose_install(binaries.list_folders(None), account=account, major=None)


@contextmanager
def open_folder(prefix: str, account: Account, *, keep: Path | None = None) -> Iterator[Path]:
    """Make a folder that the account can get to, which pytest's own folders are not.

    It is removed in the end, unless it was to be made in a folder whose contents are kept. In
    memory if there is room: after a crash a server brings all its files to disk, and on a busy one
    the outage would last longer than the test says.
    """
    place = keep
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    elif MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        place = MEMORY
    remove_abandoned(place or Path(tempfile.gettempdir()), prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    folder.chmod(0o755)
    account.own(folder)
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            if keep is None:
                shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(place: Path, prefix: str) -> None:
    """Remove the folders of tests that were killed: the lock of a living one is held."""
    for found in place.glob(f"{prefix}*/{LOCK}"):
        with contextlib.suppress(OSError), found.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(found.parent, ignore_errors=True)


@dataclass(kw_only=True)
class PostgresServer:
    """One server. `tree` is None while it is away."""

    folder: Path
    account: Account
    programs: PostgresInstall
    port: int
    tree: ProcessTree | None = None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def url(self) -> str:
        return f"postgresql://{ROLE}@127.0.0.1:{self.port}/{DATABASE}"

    def create(self) -> None:
        words = [
            *(self.programs.program("initdb"), "-D", str(self.data), "-U", ROLE),
            *("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions", "--no-sync"),
        ]
        done = run_program(words, account=self.account)
        assert done.returncode == 0, done.stderr
        lines = [f"{name} = '{value}'" for name, value in SETTINGS.items()]
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write("\n".join([*lines, f"port = {self.port}", ""]))

    def start(self) -> None:
        """Start the server and wait until it takes connections; recovery may take its time."""
        command = [self.programs.program("postgres"), "-D", str(self.data)]
        self.tree = ProcessTree.start(
            "postgres", command, log=self.folder / "postgres.log", account=self.account
        )
        wait_until(self.answers, f"PostgreSQL on port {self.port}")

    def answers(self) -> bool:
        """Whether it takes connections: pg_isready asks with the startup packet."""
        assert self.tree is not None
        assert self.tree.is_alive, f"PostgreSQL ended; see {self.folder / 'postgres.log'}"
        if not is_listening(self.port):
            return False
        words = [
            *(self.programs.program("pg_isready"), "-q", "-h", "127.0.0.1"),
            *("-p", str(self.port)),
        ]
        return run_program(words, account=self.account).returncode == 0

    def stop(self, mode: signal.Signals) -> None:
        """Stop it as pg_ctl does: SIGINT is fast, SIGQUIT immediate."""
        assert self.tree is not None
        os.kill(self.find_postmaster(), mode)
        self.tree.guard.wait(60)
        self.tree = None

    def kill(self) -> None:
        assert self.tree is not None
        self.tree.kill()
        self.tree = None

    def find_postmaster(self) -> int:
        return int((self.data / "postmaster.pid").read_text().splitlines()[0])

    def end(self) -> None:
        if self.tree is not None:
            self.tree.end()
            self.tree = None

    def create_database(self) -> None:
        words = [
            *(self.programs.program("createdb"), "-h", "127.0.0.1", "-p", str(self.port)),
            *("-U", ROLE, DATABASE),
        ]
        subprocess.run(words, check=True, capture_output=True)


@contextmanager
def running_postgres(folder: Path) -> Iterator[PostgresServer]:
    """A new server in this folder, which its account must be able to get to."""
    account = choose_account(folder)
    server = PostgresServer(
        folder=folder,
        account=account,
        programs=find_programs(account),
        port=find_free_ports(1)[0],
    )
    server.create()
    try:
        server.start()
        server.create_database()
        yield server
    finally:
        server.end()


def is_listening(port: int) -> bool:
    with contextlib.closing(socket.socket()) as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
