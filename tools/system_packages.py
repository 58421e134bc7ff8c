"""Installs the programs that tests need and no wheel has: MariaDB's server for SQL jobs, the
servers of Redis and NATS for sources of events, Chromium for the dashboard, etcd for the cluster
that the failover tests run on, and libfaketime for processes whose clock is wrong.

Standard library only. Called by `make setup-dev`; takes no time when they are there. Where it may
not install (it is not root, or there is no apt) it says how, and only the tests that need one fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

# Program, and the package of Debian and Ubuntu that has it.
WANTED = {
    "mariadbd": "mariadb-server-core",
    "redis-server": "redis-server",
    "nats-server": "nats-server",
    "chromium": "chromium",
    "etcd": "etcd-server",
}
# A library instead of a program, and where it lies. `make test-faults` leaves out what needs it.
LIBRARIES = {"usr/lib/*/faketime/libfaketimeMT.so.1": "libfaketime"}
# Servers are not on the PATH of every user.
PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"))


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


def install(packages: list[str]) -> bool:
    """Ask apt, with fresh lists if the ones it has do not do. The server is not started."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "PATH": PATH}
    command = ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *packages]
    for prepared in ((), ("apt-get", "update", "--quiet")):
        if prepared:
            subprocess.run(prepared, env=environment, capture_output=True, check=False)
        if (
            subprocess.run(command, env=environment, capture_output=True, check=False).returncode
            == 0
        ):
            return True
    return False


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
