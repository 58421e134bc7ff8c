"""Installs the programs that tests need and no wheel has: MariaDB's server for SQL jobs, the
servers of Redis and NATS for sources of events, Chromium for the dashboard, etcd for the cluster
that the failover tests run on, Prometheus and Alertmanager for metrics and alerts, and libfaketime
for processes whose clock is wrong.

Standard library only. Called by `make setup-dev`; takes no time when they are there. Where it may
not install (it is not root, or there is no apt) it says how, and only the tests that need one fail.

While another package manager works, it waits and says for which process. apt waits for one of its
four locks by itself (DPkg::Lock::Timeout) and says so on an output that is captured here; for its
lists and archives it fails at once.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

# Program, and the package of Debian and Ubuntu that has it.
WANTED = {
    "mariadbd": "mariadb-server-core",
    "redis-server": "redis-server",
    "nats-server": "nats-server",
    "chromium": "chromium",
    "etcd": "etcd-server",
    "prometheus": "prometheus",
    "prometheus-alertmanager": "prometheus-alertmanager",
}
# A library instead of a program, and where it lies. `make test-faults` leaves out what needs it.
LIBRARIES = {"usr/lib/*/faketime/libfaketimeMT.so.1": "libfaketime"}
# Servers are not on the PATH of every user.
PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"))

# An unattended upgrade of a new machine takes minutes.
LOCK_TIMEOUT_S = 900
LOOK_INTERVAL_S = 0.5
LOCK_FILES = (
    "var/lib/dpkg/lock-frontend",
    "var/lib/dpkg/lock",
    "var/lib/apt/lists/lock",
    "var/cache/apt/archives/lock",
)
# struct flock of Linux: type, whence, start, length, process.
FLOCK = "hhxxxxqqixxxx"


def missing() -> list[str]:
    programs = [package for program, package in WANTED.items() if not is_there(program)]
    return programs + [
        package for pattern, package in LIBRARIES.items() if not any(Path("/").glob(pattern))
    ]


def is_there(program: str) -> bool:
    """On the PATH, or where `ROTA_CHROMIUM` says: there are many ways to get a browser."""
    named = os.environ.get(f"ROTA_{program.upper()}")
    return bool(named or shutil.which(program, path=PATH))


def may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get", path=PATH) is not None


def install(packages: list[str], *, root: Path = Path("/"), options: tuple[str, ...] = ()) -> bool:
    """Ask apt, with fresh lists if the ones it has do not do. The server is not started.

    Waits while another package manager works. `root` and `options` say where apt has its files.
    """
    apt = ["apt-get", *options, "-o", f"DPkg::Lock::Timeout={LOCK_TIMEOUT_S}", "--quiet"]
    command = [*apt, "install", "--yes", "--no-install-recommends", *packages]
    return run_apt(command, root=root) or (
        run_apt([*apt, "update"], root=root) and run_apt(command, root=root)
    )


def run_apt(command: list[str], *, root: Path) -> bool:
    """Run apt as soon as its locks are free, and again if another process was faster."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C", "PATH": PATH}
    while wait_for_locks(root):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return True
        if "Could not get lock" not in done.stderr:
            break
    return False


def find_holder(lock: Path) -> int | None:
    """The process that holds the lock; None when it is free, or cannot be looked at."""
    try:
        with lock.open("r+b") as file:
            asked = struct.pack(FLOCK, fcntl.F_WRLCK, 0, 0, 0, 0)
            kind, _, _, _, process = struct.unpack(FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, asked))
    except OSError:
        return None
    return None if kind == fcntl.F_UNLCK else int(process)


def find_held(root: Path = Path("/")) -> tuple[Path, int] | None:
    """The first lock that another process holds, and that process."""
    for name in LOCK_FILES:
        if (holder := find_holder(root / name)) is not None:
            return root / name, holder
    return None


def wait_for_locks(root: Path = Path("/"), *, timeout_s: float = LOCK_TIMEOUT_S) -> bool:
    """Wait until no other process holds a lock. False when the time is over."""
    end = time.monotonic() + timeout_s
    said = None
    while (held := find_held(root)) is not None:
        if held != said:
            say(f"process {held[1]} holds {held[0]}; waiting up to {timeout_s:.0f} s for it")
            said = held
        if time.monotonic() > end:
            say(f"process {held[1]} still holds {held[0]}; wait for it to end, then try again")
            return False
        threading.Event().wait(LOOK_INTERVAL_S)
    return True


def main() -> int:
    packages = missing()
    if not packages:
        return 0
    named = " ".join(packages)
    if may_install():
        say(f"installing {named}, which some tests need")
        if install(packages):
            return 0
    say(f"some tests will fail without {named}: apt-get install {named} (or your system's own)")
    return 0


def say(message: str) -> None:
    print(f"rota: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
