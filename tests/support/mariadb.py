"""A MariaDB for tests: a server of our own in a folder, without network.

Its program is the system's; `tools/system_packages.py` installs it where it may. The folder is made
without mariadb-install-db, which Debian splits over three packages: the server reads the same
scripts.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pymysql

USER, PASSWORD, DATABASE = "rota", "only-for-tests", "shop"
SCRIPTS = (
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
)
PLACES = (Path("/usr/share/mysql"), Path("/usr/share/mariadb"), Path("/usr/share/mysql/mariadb"))
SMALL = ("--innodb-log-file-size=4M", "--innodb-buffer-pool-size=16M", "--skip-log-bin")
FIRST = """\
create database mysql;
use mysql;
set @auth_root_socket = null;
set @skip_auth_anonymous = 1;
"""
LAST = f"""
flush privileges;
create database {DATABASE};
create user '{USER}'@'%' identified by '{PASSWORD}';
grant all on {DATABASE}.* to '{USER}'@'%';
"""
DEADLINE = 60.0


@dataclass(frozen=True, kw_only=True)
class Mariadb:
    socket: Path

    @property
    def url(self) -> str:
        return (
            f"mysql://{USER}:{PASSWORD}@localhost/{DATABASE}?unix_socket={quote(str(self.socket))}"
        )

    def connect(self) -> "pymysql.Connection[pymysql.cursors.Cursor]":
        return pymysql.connect(
            unix_socket=str(self.socket),
            user=USER,
            password=PASSWORD,
            database=DATABASE,
            autocommit=True,
        )

    def run(self, *statements: str) -> list[tuple[object, ...]]:
        """Carry out statements; the rows of the last one."""
        with contextlib.closing(self.connect()) as conn, conn.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())


@contextlib.contextmanager
def mariadb_in(folder: Path) -> Iterator[Mariadb]:
    program = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin")
    assert program, "the tests need mariadbd: run `python3 tools/system_packages.py`"
    # It refuses to run as root unless that is said.
    user = ["--user=root"] if os.geteuid() == 0 else []
    common = [program, "--no-defaults", f"--datadir={folder / 'data'}", *user, *SMALL]
    make_folder(folder, common)
    arguments = [
        f"--socket={folder / 's'}",
        "--skip-networking",
        "--innodb-flush-log-at-trx-commit=0",
    ]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([*common, *arguments], stdout=log, stderr=log)
    try:
        server = Mariadb(socket=folder / "s")
        wait_for(server, process)
        yield server
    finally:
        process.kill()
        process.wait()


def make_folder(folder: Path, common: list[str]) -> None:
    (folder / "data").mkdir()
    place = next(each for each in PLACES if (each / SCRIPTS[0]).exists())
    script = FIRST + "".join((place / name).read_text() for name in SCRIPTS) + LAST
    subprocess.run(
        [*common, "--bootstrap"], input=script, text=True, check=True, capture_output=True
    )


def wait_for(server: Mariadb, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + DEADLINE
    while not answers(server.socket):
        assert process.poll() is None, "mariadbd ended at once; its log is beside its data"
        assert time.monotonic() < end, "mariadbd does not answer"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)


def answers(path: Path) -> bool:
    # PyMySQL leaves its socket open when it is refused, so it is not asked before.
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0
