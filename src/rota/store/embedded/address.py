"""Chooses where a server listens: a loopback port and a socket folder.

Both are kept from start to start, so that a URL stays valid. Does not contact the server.
"""

import contextlib
import json
import os
import re
import socket
import stat
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from rota.core.errors import EmbeddedFailed
from rota.store.embedded.account import Account
from rota.store.embedded.home import EmbeddedHome, write_privately

LOOPBACK = "127.0.0.1"
SOCKET_NAME = ".s.PGSQL.65535"
# The shortest limit among supported systems (macOS: 104 with the closing zero).
SOCKET_PATH_MAX_BYTES = 103
# No comma, which separates hosts in a URL, and no character that needs quotes in a setting.
PLAIN_PATH = re.compile(r"[A-Za-z0-9_/. +-]+")
# The server's working folder is its data folder, which is already private.
DATA_FOLDER = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenAddress:
    """The port and socket folder; `tcp` is off while another program holds the port."""

    port: int
    socket_folder: str
    tcp: bool = True

    def absolute_socket_folder(self, data: Path) -> str:
        return str(data) if self.socket_folder == DATA_FOLDER else self.socket_folder

    def prepare_sockets(self, data: Path, account: Account) -> None:
        """Make sure that the sockets can be created.

        PostgreSQL trusts the process id in a socket's lock file, even if another process has that
        id by now, so the files of dead servers are removed.
        """
        folder = Path(self.absolute_socket_folder(data))
        if not folder.exists():  # a short folder, removed by a cleanup of temporary files
            folder.mkdir(mode=0o700)
            account.own(folder)
        for leftover in folder.glob(".s.PGSQL.*"):
            leftover.unlink(missing_ok=True)

    def without_used_port(self) -> Self:
        """Return an address without TCP if the port is taken: clients know only the socket."""
        return replace(self, tcp=is_port_free(self.port))


def choose_address(home: EmbeddedHome, account: Account, *, port: int | None) -> ListenAddress:
    """Choose an address, the previous one if it is available, and store it."""
    last = read_last_address(home)
    address = ListenAddress(
        port=choose_port(demanded=port, last=last.port if last else None),
        socket_folder=choose_socket_folder(
            home.data, account, last.socket_folder if last else None
        ),
    )
    if address != last:
        write_privately(home.address, json.dumps(asdict(address)))
    return address


def remove_socket_folder(home: EmbeddedHome) -> None:
    """Remove the short folder, if any; the next start creates its own."""
    last = read_last_address(home)
    if last is not None and last.socket_folder != DATA_FOLDER:
        with contextlib.suppress(OSError):
            Path(last.socket_folder).rmdir()


def read_last_address(home: EmbeddedHome) -> ListenAddress | None:
    with contextlib.suppress(FileNotFoundError, ValueError, TypeError):
        return ListenAddress(**json.loads(home.address.read_text(encoding="utf-8")))
    return None


def choose_port(*, demanded: int | None, last: int | None) -> int:
    """Return the demanded port, else the one of the last start, else any free one."""
    if demanded is not None:
        if not is_port_free(demanded):
            raise EmbeddedFailed(
                reason=f"port {demanded} of {LOOPBACK} is used by another program",
                remedy="choose another port, or none to use any free port",
            )
        return demanded
    if last is not None and is_port_free(last):
        return last
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def is_port_free(port: int) -> bool:
    with socket.socket() as probe:
        # Without it, connections of the last server that are still closing block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def choose_socket_folder(data: Path, account: Account, last: str | None) -> str:
    """Return a folder whose sockets every client can address.

    A long path does not fit into a socket's address, and an unusual one not into a URL. In these
    cases a short private folder replaces the data folder.
    """
    fits = len(os.fsencode(data / SOCKET_NAME)) <= SOCKET_PATH_MAX_BYTES
    if fits and PLAIN_PATH.fullmatch(str(data)):
        return DATA_FOLDER
    if last is not None and is_private(Path(last), account):
        return last
    folder = Path(tempfile.mkdtemp(prefix="rota-", dir="/tmp"))
    account.own(folder)
    return str(folder)


def is_private(folder: Path, account: Account) -> bool:
    """Return whether a folder in a public place still belongs to this user alone."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    owned = stat.S_ISDIR(status.st_mode) and status.st_uid == account.uid
    return owned and stat.S_IMODE(status.st_mode) == 0o700 and folder.is_absolute()
