"""Whom the server runs as. Room: store/embedded.

PostgreSQL refuses to run as root, so root starts it as an unprivileged user that exists already:
nothing is added to the system and no folder is opened up for it. Anybody else runs it as himself.
"""

import contextlib
import os
import pwd
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rota.core.errors import EmbeddedFailed

CANDIDATES = ("postgres", "nobody")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The user a server runs as; `drops` says that we are root and give that up for it."""

    uid: int
    gid: int
    drops: bool

    @property
    def user(self) -> int | None:
        """What `subprocess` takes as `user`; None stays who we are."""
        return self.uid if self.drops else None

    @property
    def group(self) -> int | None:
        return self.gid if self.drops else None

    @property
    def extra_groups(self) -> tuple[int, ...] | None:
        return () if self.drops else None

    def own(self, path: Path) -> None:
        """Give one file or folder to this user."""
        if self.drops:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def own_all(self, folder: Path) -> None:
        """Give a folder and all below it to this user."""
        for path in (folder, *folder.rglob("*")):
            self.own(path)

    @contextlib.contextmanager
    def acting(self) -> Iterator[None]:
        """See the system with this user's rights. Changes the whole process: keeper only."""
        if not self.drops:
            yield
            return
        group = os.getegid()
        os.setegid(self.gid)
        os.seteuid(self.uid)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(group)

    def can_reach(self, path: Path) -> bool:
        """Whether this user gets to a path, through all the folders above it."""
        with self.acting():
            try:
                path.stat()
            except PermissionError:
                return False
            return True


def account_for(data: Path) -> Account:
    """Choose the user for a cluster; one that exists stays with the user it belongs to."""
    if os.geteuid() != 0:
        return Account(uid=os.geteuid(), gid=os.getegid(), drops=False)
    with contextlib.suppress(FileNotFoundError):
        owner = data.stat()
        if owner.st_uid != 0:
            return Account(uid=owner.st_uid, gid=owner.st_gid, drops=True)
    for name in CANDIDATES:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(uid=entry.pw_uid, gid=entry.pw_gid, drops=True)
    raise EmbeddedFailed(
        reason=f"PostgreSQL does not run as root, and neither {' nor '.join(CANDIDATES)} exists",
        remedy="start Rota as a user other than root",
    )
