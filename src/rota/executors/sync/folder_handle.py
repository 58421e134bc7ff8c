"""Opens files of this machine without ever following a link.

Every step down is an `openat` with `O_NOFOLLOW`. A user who can write below the place and swaps a
folder for a link at the worst moment cannot lead a job out of the place. All calls block and run in
threads.
"""

import contextlib
import errno
import os
from collections.abc import Iterator

from rota.executors.sync.tree import FATAL_ERRNOS, FileFailure, FileMissing, SyncBroken, split_path

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
BLOCKED_ERRNOS = frozenset(
    {errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY}
)


class FolderHandle:
    """A folder that stays open; all paths are resolved below it."""

    def __init__(self, path: str) -> None:
        # The place's own folder may be a link; folders below it may not.
        self._base: int | None = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def change_folder(self, folders: list[str], *, make: bool) -> None:
        """Make a folder below the new base."""
        below = self.open_folder(folders, make=make)
        self.close()
        self._base = below

    def close(self) -> None:
        if self._base is not None:
            os.close(self._base)
            self._base = None

    def open_folder(self, folders: list[str], *, make: bool = False) -> int:
        """Return a descriptor of a folder below; the caller closes it."""
        if self._base is None:
            raise FileMissing
        current = os.dup(self._base)
        try:
            for name in folders:
                below = open_child(name, current, make=make)
                os.close(current)
                current = below
        except BaseException:
            os.close(current)
            raise
        return current

    @contextlib.contextmanager
    def open_parent(self, path: str) -> Iterator[tuple[int, str]]:
        """Open the folder of a file; yield its descriptor and the file's name in it."""
        *folders, name = split_path(path)
        folder = self.open_folder(folders)
        try:
            yield folder, name
        finally:
            os.close(folder)


def open_child(name: str, folder: int, *, make: bool) -> int:
    if name in {".", ".."}:
        raise FileFailure("invalid file name")
    try:
        return os.open(name, FOLDER_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return os.open(name, FOLDER_FLAGS, dir_fd=folder)


def remove_empty_folders(name: str, parent: int) -> None:
    """Remove a folder that contains only folders; fails if there is a file in it."""
    folder = os.open(name, FOLDER_FLAGS, dir_fd=parent)
    try:
        with os.scandir(folder) as items:
            for below in [item.name for item in items]:
                remove_empty_folders(below, folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=parent)


@contextlib.contextmanager
def translate_errors(*, missing: Exception | None = None) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise missing or FileMissing() from None
    except OSError as error:
        if error.errno in FATAL_ERRNOS:
            raise SyncBroken("folder not writable", error.strerror or str(error)) from None
        if error.errno in BLOCKED_ERRNOS:
            raise FileFailure("blocked by a file, folder or link in the target") from None
        raise FileFailure(error.strerror or str(error)) from None
