"""The way to a file of this machine, never through a link. Room: executors/sync.

Every step is an `openat` with `O_NOFOLLOW`: whoever can write below the place, and swaps a folder
for a link at the worst moment, leads nobody out of it. Everything here blocks, and belongs in a
thread.
"""

import contextlib
import errno
import os
from collections.abc import Iterator

from rota.executors.sync.tree import HOPELESS, Broken, Gone, Trouble, names_of

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
IN_THE_WAY = frozenset({errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY})


class Ground:
    """A folder that is held open."""

    def __init__(self, path: str) -> None:
        # The operator's own folder may be a link; what is below it may not.
        self._base: int | None = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def move(self, folders: list[str], *, make: bool) -> None:
        """Stand on a folder below from now on."""
        below = self.down(folders, make=make)
        self.close()
        self._base = below

    def close(self) -> None:
        if self._base is not None:
            os.close(self._base)
            self._base = None

    def down(self, folders: list[str], *, make: bool = False) -> int:
        """A descriptor of a folder below; the caller closes it."""
        if self._base is None:
            raise Gone
        reached = os.dup(self._base)
        try:
            for name in folders:
                below = step(name, reached, make=make)
                os.close(reached)
                reached = below
        except BaseException:
            os.close(reached)
            raise
        return reached

    @contextlib.contextmanager
    def beside(self, path: str) -> Iterator[tuple[int, str]]:
        """The folder of a file, and the file's name in it."""
        *folders, name = names_of(path)
        folder = self.down(folders)
        try:
            yield folder, name
        finally:
            os.close(folder)


def step(name: str, folder: int, *, make: bool) -> int:
    if name in {".", ".."}:
        raise Trouble("no file can have this name")
    try:
        return os.open(name, FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return os.open(name, FOLDER, dir_fd=folder)


def clear_folders(name: str, parent: int) -> None:
    """Take a folder away that holds nothing but folders; any file in it makes this fail."""
    folder = os.open(name, FOLDER, dir_fd=parent)
    try:
        with os.scandir(folder) as found:
            for below in [one.name for one in found]:
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
            raise Trouble("a file, a folder or a link of the target is in its way") from None
        raise Trouble(error.strerror or str(error)) from None
