"""Locates and creates the folder of one embedded PostgreSQL.

    home/
    ├── users.lock      shared by every process that uses the server; once free, the server stops
    ├── keeper.lock     held by the server monitor, the one process that runs the server
    ├── server.lock     held by the server's own processes, which inherit it
    ├── endpoint.json   where the server listens; exists only while it does
    ├── address.json    port and socket folder of the last start, for reuse
    ├── password        of the login `rota`, readable by the owner of the home only
    ├── not-durable     exists if the home was created for tests, without fsync
    ├── server.log(.1)  output of the server and its monitor, bounded
    ├── init-*/         a cluster being created; worthless until it is renamed to data
    └── data/           the cluster

Knows the paths, creates the folder and refuses one that cannot be used. Does not look into data/
(cluster.py) and starts nothing.
"""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from rota.core.errors import EmbeddedFailed
from rota.store.embedded.diagnosis import diagnose_os_error


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedHome:
    path: Path

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def users_lock(self) -> Path:
        return self.path / "users.lock"

    @property
    def monitor_lock(self) -> Path:
        return self.path / "keeper.lock"

    @property
    def server_lock(self) -> Path:
        return self.path / "server.lock"

    @property
    def address(self) -> Path:
        return self.path / "address.json"

    @property
    def endpoint(self) -> Path:
        return self.path / "endpoint.json"

    @property
    def password(self) -> Path:
        return self.path / "password"

    @property
    def not_durable(self) -> Path:
        return self.path / "not-durable"

    @property
    def log(self) -> Path:
        return self.path / "server.log"


def open_home(path: Path) -> EmbeddedHome:
    """Create the folder if it is missing; refuse one that belongs to another user."""
    home = EmbeddedHome(path=path.expanduser().resolve())
    if "\n" in str(home.path):
        raise EmbeddedFailed(
            reason="the home's path contains a line break", remedy="choose another path"
        )
    try:
        # As root, the server runs as another user, which must be able to enter the folder.
        home.path.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise diagnose_os_error(error, home.path) from error
    refuse_foreign_owner(home.path)
    if not os.access(home.path, os.R_OK | os.W_OK | os.X_OK):
        raise EmbeddedFailed(
            reason=f"permission denied: {home.path} is not writable",
            remedy="give its owner read, write and search permission, or choose another home",
        )
    return home


def refuse_foreign_owner(path: Path) -> None:
    owner = path.stat().st_uid
    if owner != os.geteuid():
        raise EmbeddedFailed(
            reason=f"{path} belongs to {user_name(owner)}, not to {user_name(os.geteuid())}",
            remedy="start Rota as the owner, or choose another home",
        )


def user_name(uid: int) -> str:
    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user with the id {uid}"


def write_privately(path: Path, text: str) -> None:
    """Replace a file atomically, readable by its owner only and synced to disk."""
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make a rename in this folder survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
