"""Reads and writes key files: the bootstrap admin key and the master key.

The API creates a missing master key next to the embedded database. A worker only reads it, again
for each attempt that needs it, because the file may appear after the worker started.
"""

import os
from pathlib import Path
from typing import Final

from rota.config.settings import Settings
from rota.core.errors import InvalidSetting, SecretsUnavailable

MASTER_FILE: Final = "master.key"
MASTER_BYTES: Final = 32


def ensure_master_key(settings: Settings) -> bytes | None:
    """Return the key that encrypts secrets; None disables secrets."""
    file = find_master_file(settings)
    if file is None:
        return None
    if settings.api.master_key is None and not file.exists():
        write_key_file(file.parent, os.urandom(MASTER_BYTES).hex(), name=MASTER_FILE)
    return _read(file)


def read_master_key(settings: Settings) -> bytes | None:
    """Return the master key for a worker. A read error is not the fault of the run."""
    file = find_master_file(settings)
    if file is None or not file.exists():
        return None
    try:
        return _read(file)
    except InvalidSetting as error:
        raise SecretsUnavailable(
            reason="this worker cannot read its master key", remedy=error.wanted
        ) from error


def find_master_file(settings: Settings) -> Path | None:
    if settings.api.master_key is not None:
        return settings.api.master_key
    return None if settings.database.url is not None else settings.database.data / MASTER_FILE


def write_key_file(folder: Path, key: str, *, name: str) -> Path:
    """Write the key to a file that is private from the moment it is created."""
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
        wanted = f"expected the path of a file with {2 * MASTER_BYTES} hexadecimal digits ({error})"
        raise InvalidSetting("api.master_key", str(file), wanted) from error
    if len(key) != MASTER_BYTES:
        wanted = f"the file must contain {2 * MASTER_BYTES} hexadecimal digits"
        raise InvalidSetting("api.master_key", str(file), wanted)
    return key
