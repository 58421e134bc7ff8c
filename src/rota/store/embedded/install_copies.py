"""Copies an installation to a folder that the server's user can reach.

Needed when root's Python environment is in a private folder, such as below /root. The folders above
it stay private. A copy is made once and reused.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from rota.core.errors import EmbeddedFailed

STATE_FOLDER = Path("/var/lib/rota")
# Headers, static libraries and build files: not needed at run time.
IGNORED_FILES = shutil.ignore_patterns("include", "*.a", "pgxs", "pkgconfig")


def copy_install(folder: Path, *, into: Path) -> Path:
    """Return the folder of programs in a copy of the installation that contains `folder`."""
    prefix = folder.parent
    package = prefix.parent
    target = into / f"{prefix.name}-{fingerprint(folder)}"
    if not target.exists():
        draft = Path(tempfile.mkdtemp(prefix=".copy-", dir=into))
        try:
            fill_copy(draft, prefix, package)
            draft.rename(target)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
            if not target.exists():  # otherwise another process finished its copy first
                raise
    return target / package.name / prefix.name / folder.name


def fingerprint(folder: Path) -> str:
    """Identify an installation; an updated one in the same place gets another fingerprint."""
    program = (folder / "postgres").stat()
    text = f"{folder}:{program.st_mtime_ns}:{program.st_size}"
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:12]


def fill_copy(draft: Path, prefix: Path, package: Path) -> None:
    shutil.copytree(prefix, draft / package.name / prefix.name, symlinks=True, ignore=IGNORED_FILES)
    # A wheel's libraries are next to its package, where its programs look for them.
    libraries = package.parent / f"{package.name}.libs"
    if libraries.exists():
        shutil.copytree(libraries, draft / libraries.name, symlinks=True)
    for path in (draft, *draft.rglob("*")):
        if not path.is_symlink():
            is_executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if is_executable else 0o644)


def state_folder() -> Path:
    """Return a folder that only root can write to and every user can read."""
    for folder in (STATE_FOLDER, Path(tempfile.gettempdir()) / "rota-of-root"):
        with contextlib.suppress(OSError):
            if not folder.exists():
                folder.mkdir()
                folder.chmod(0o755)
            if is_safe(folder):
                return folder
    raise EmbeddedFailed(
        reason=f"the PostgreSQL programs must be copied, but {STATE_FOLDER} is not writable",
        remedy="start Rota as a user other than root",
    )


def is_safe(folder: Path) -> bool:
    """Return whether no other user can place programs there."""
    status = folder.lstat()
    closed = not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and closed and status.st_uid == os.geteuid()
