"""Copies an install to where the server's user can get to it. Room: store/embedded.

Needed when root has its Python environment in a private folder, such as below /root. The folders
above it stay as private as they were. A copy is made once and used again.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from rota.core.errors import EmbeddedFailed

STATE = Path("/var/lib/rota")
# Headers, static libraries and build files: never needed to run.
NOT_COPIED = shutil.ignore_patterns("include", "*.a", "pgxs", "pkgconfig")


def copied(folder: Path, *, into: Path) -> Path:
    """Return the folder of programs in a copy of the install that `folder` belongs to."""
    prefix = folder.parent
    package = prefix.parent
    target = into / f"{prefix.name}-{fingerprint(folder)}"
    if not target.exists():
        draft = Path(tempfile.mkdtemp(prefix=".copy-", dir=into))
        try:
            fill(draft, prefix, package)
            draft.rename(target)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
            if not target.exists():  # else somebody else's copy was there first
                raise
    return target / package.name / prefix.name / folder.name


def fingerprint(folder: Path) -> str:
    """Tell installs apart, also an updated one in the same place."""
    mark = (folder / "postgres").stat()
    text = f"{folder}:{mark.st_mtime_ns}:{mark.st_size}"
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:12]


def fill(draft: Path, prefix: Path, package: Path) -> None:
    shutil.copytree(prefix, draft / package.name / prefix.name, symlinks=True, ignore=NOT_COPIED)
    # A wheel's libraries lie beside its package, and its programs look for them there.
    libraries = package.parent / f"{package.name}.libs"
    if libraries.exists():
        shutil.copytree(libraries, draft / libraries.name, symlinks=True)
    for path in (draft, *draft.rglob("*")):
        if not path.is_symlink():
            runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if runs else 0o644)


def state_folder() -> Path:
    """Return a folder that root alone can write to and everybody can read."""
    for folder in (STATE, Path(tempfile.gettempdir()) / "rota-of-root"):
        with contextlib.suppress(OSError):
            if not folder.exists():
                folder.mkdir()
                folder.chmod(0o755)
            if is_safe(folder):
                return folder
    raise EmbeddedFailed(
        reason=f"the PostgreSQL programs must be copied, and {STATE} cannot be written to",
        remedy="start Rota as a user other than root",
    )


def is_safe(folder: Path) -> bool:
    """Whether nobody else can put programs there for us to run."""
    status = folder.lstat()
    closed = not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and closed and status.st_uid == os.geteuid()
