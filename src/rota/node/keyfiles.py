"""Keys that are kept in files: the first key of the API, and the master key. Room: node.

The API makes a master key beside the embedded database if there is none. A worker only reads it,
and anew for each attempt that needs it: the file may come later than the worker.
"""

import os
from pathlib import Path
from typing import Final

from rota.config.settings import Settings
from rota.core.errors import InvalidSetting, SealingFailed

MASTER_FILE: Final = "master.key"
MASTER_BYTES: Final = 32


def master_key(settings: Settings) -> bytes | None:
    """The key that seals secrets; None if there is none, and then there are no secrets."""
    file = master_file(settings)
    if file is None:
        return None
    if settings.api.master_key is None and not file.exists():
        keep_key(file.parent, os.urandom(MASTER_BYTES).hex(), name=MASTER_FILE)
    return _read(file)


def opening_key(settings: Settings) -> bytes | None:
    """The same for a worker. That it cannot be read is no fault of the run that asks for it."""
    file = master_file(settings)
    if file is None or not file.exists():
        return None
    try:
        return _read(file)
    except InvalidSetting as error:
        raise SealingFailed(
            reason="the master key of this worker cannot be read", remedy=error.wanted
        ) from error


def master_file(settings: Settings) -> Path | None:
    if settings.api.master_key is not None:
        return settings.api.master_key
    return None if settings.database.url is not None else settings.database.data / MASTER_FILE


def keep_key(folder: Path, key: str, *, name: str) -> Path:
    """Write the key where only its owner can read it, never for a moment where others can."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / name
    draft = file.with_suffix(".new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as writing:
        writing.write(f"{key}\n")
    draft.replace(file)
    return file


def _read(file: Path) -> bytes:
    try:
        key = bytes.fromhex(file.read_text().strip())
    except (OSError, ValueError) as error:
        wanted = f"the path of a file with 64 hexadecimal digits ({error})"
        raise InvalidSetting("api.master_key", str(file), wanted) from error
    if len(key) != MASTER_BYTES:
        raise InvalidSetting("api.master_key", str(file), f"{2 * MASTER_BYTES} hexadecimal digits")
    return key
