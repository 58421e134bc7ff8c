"""Publishes the address of the API in a file in the data folder.

A server writes the file when it listens and removes it when it stops. It holds a lock on the file
for as long as it lives, which the operating system releases even after `kill -9`: so a reader can
tell the file of a running server from one that a killed server left behind, even where process ids
mean nothing, as from inside a container. The file of a running server is never replaced; if two
servers start at the same time on one stale file, the last one's address stays.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

ADDRESS_FILE: Final = "api.json"
# The file with the URL of a process's observability listener, by role.
OBSERVE_FILE: Final = "observe-{role}.json"
FILE_BYTES_MAX: Final = 4096


class AddressRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file."""

    url: str
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAddress:
    """The address in a file; `is_running` is False if the server that wrote it has ended."""

    file: Path
    url: str
    pid: int
    owner_id: int
    is_running: bool


@contextmanager
def publish_address(folder: Path, url: str, *, name: str = ADDRESS_FILE) -> Iterator[bool]:
    """Publish this server's address in the folder while the context lasts.

    Yields False, and writes nothing, if another server is published there or the folder is not
    writable: the address is a convenience, so the server runs without it.
    """
    file = folder / name
    found = read_address(file)
    descriptor = None
    if found is None or not found.is_running:
        with suppress(OSError):
            descriptor = _write_locked(file, url)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            _remove_own(file, descriptor)
            os.close(descriptor)


def read_address(file: Path) -> PublishedAddress | None:
    """Return the address in the file; None if the file does not exist or cannot be read."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        record = msgspec.json.decode(os.read(descriptor, FILE_BYTES_MAX), type=AddressRecord)
        return PublishedAddress(
            file=file,
            url=record.url,
            pid=record.pid,
            owner_id=os.fstat(descriptor).st_uid,
            is_running=_is_locked(descriptor),
        )
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    finally:
        os.close(descriptor)


def _write_locked(file: Path, url: str) -> int:
    """Write and lock a draft beside the file, then move it into place atomically."""
    import fcntl  # noqa: PLC0415 - not on Windows, where a client may be

    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, msgspec.json.encode(AddressRecord(url=url, pid=os.getpid())))
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.replace(file)
    except BaseException:
        os.close(descriptor)
        draft.unlink(missing_ok=True)
        raise
    return descriptor


def _is_locked(descriptor: int) -> bool:
    import fcntl  # noqa: PLC0415 - as above

    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _remove_own(file: Path, descriptor: int) -> None:
    """Remove the file if this process wrote it."""
    with suppress(OSError):
        own, current = os.fstat(descriptor), file.stat(follow_symlinks=False)
        if (own.st_dev, own.st_ino) == (current.st_dev, current.st_ino):
            file.unlink()
