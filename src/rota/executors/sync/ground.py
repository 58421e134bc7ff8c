"""Opens files of this machine without ever following a link.

Every step down is an `openat` with `O_NOFOLLOW`. A user who can write below the place and swaps a
folder for a link at the worst moment cannot lead a job out of the place. All calls block and run in
threads.
"""

import contextlib
import errno
import os
from collections.abc import Iterator

from rota.executors.sync.tree import HOPELESS, Broken, Gone, Trouble, names_of

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
IN_THE_WAY = frozenset({errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY})


class Ground:
    """A folder that stays open; all paths are resolved below it."""

    def __init__(self, path: str) -> None:
        # The place's own folder may be a link; folders below it may not.
        self._base: int | None = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def move(self, folders: list[str], *, make: bool) -> None:
        """Make a folder below the new base."""
        below = self.down(folders, make=make)
        self.close()
        self._base = below

    def close(self) -> None:
        if self._base is not None:
            os.close(self._base)
            self._base = None

    def down(self, folders: list[str], *, make: bool = False) -> int:
        """Return a descriptor of a folder below; the caller closes it."""
        if self._base is None:
            raise Gone
        current = os.dup(self._base)
        try:
            for name in folders:
                below = step(name, current, make=make)
                os.close(current)
                current = below
        except BaseException:
            os.close(current)
            raise
        return current

    @contextlib.contextmanager
    def beside(self, path: str) -> Iterator[tuple[int, str]]:
        """Open the folder of a file; yield its descriptor and the file's name in it."""
        *folders, name = names_of(path)
        folder = self.down(folders)
        try:
            yield folder, name
        finally:
            os.close(folder)


def step(name: str, folder: int, *, make: bool) -> int:
    if name in {".", ".."}:
        raise Trouble("invalid file name")
    try:
        return os.open(name, FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return os.open(name, FOLDER, dir_fd=folder)


def clear_folders(name: str, parent: int) -> None:
    """Remove a folder that contains only folders; fails if there is a file in it."""
    folder = os.open(name, FOLDER, dir_fd=parent)
    try:
        with os.scandir(folder) as items:
            for below in [item.name for item in items]:
                clear_folders(below, folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=parent)


@contextlib.contextmanager
def translated(*, gone: Exception | None = None) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise gone or Gone() from None
    except OSError as error:
        if error.errno in HOPELESS:
            raise Broken("folder not writable", error.strerror or str(error)) from None
        if error.errno in IN_THE_WAY:
            raise Trouble("blocked by a file, folder or link in the target") from None
        raise Trouble(error.strerror or str(error)) from None
