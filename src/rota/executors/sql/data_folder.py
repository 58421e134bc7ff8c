"""Reads and writes files of jobs in the data folder of a worker.

A payload names files relative to the single folder that the operator allows; neither `..` nor a
link leads out of it. A file is written under a temporary name and renamed when it is complete, so
that no reader sees an incomplete file and a crash leaves nothing that looks like a result.
"""

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext
from rota.core.tenancy import DEFAULT_TENANT, DEFAULT_TENANTS, build_resource_error, is_open_to
from rota.executors.sql.faults import SqlFault

FILE_NAME_MAX_CHARACTERS: Final = 1024
FILES_MAX: Final = 10_000
PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
TIME_FORMATS: Final = {
    "year": "%Y",
    "month": "%Y-%m",
    "date": "%Y-%m-%d",
    "hour": "%Y-%m-%dT%H",
    "second": "%Y%m%dT%H%M%SZ",
}
PLACEHOLDERS: Final = ("run_id", "job_id", *(f"scheduled_at:{name}" for name in TIME_FORMATS))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNameTemplate:
    """A relative path, which may contain placeholders such as {scheduled_at:date}."""

    text: str

    def fill(self, context: AttemptContext) -> str:
        return PLACEHOLDER.sub(lambda found: fill_placeholder(found[1], context), self.text)


def fill_placeholder(placeholder: str, context: AttemptContext) -> str:
    name, _, form = placeholder.partition(":")
    if name != "scheduled_at":
        return str(context.run_id if name == "run_id" else context.job_id)
    moment: datetime = context.scheduled_at.astimezone(UTC)
    return moment.strftime(TIME_FORMATS[form])


def read_file_name(value: str, *, field: str) -> FileNameTemplate:
    if not value or len(value) > FILE_NAME_MAX_CHARACTERS or not value.isprintable():
        raise InvalidInput(field, value, "expected the path of a file, relative to the data folder")
    for place in PLACEHOLDER.findall(value):
        if place not in PLACEHOLDERS:
            raise InvalidInput(
                field, f"{{{place}}}", f"expected one of {{{'}, {'.join(PLACEHOLDERS)}}}"
            )
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or not path.name or value.endswith("/"):
        raise InvalidInput(field, value, "expected a path below the data folder, without ..")
    return FileNameTemplate(text=value)


class DataFolder:
    """The data folder of a worker; None when the operator allows no files."""

    def __init__(self, root: Path | None, *, tenants: Sequence[str] = DEFAULT_TENANTS) -> None:
        self._given = root
        self._tenants = tenants

    def require(self, *, field: str, tenant: str = DEFAULT_TENANT) -> None:
        """Refuse files if the worker has no data folder, or the tenant may not use it."""
        if not is_open_to(self._tenants, tenant):
            setting = "executors.data_folder_tenants"
            raise build_resource_error(
                field, "a file", tenant=tenant, available=(), setting=setting
            )
        if self._given is None:
            wanted = "this worker allows no files; its operator sets executors.data_folder"
            raise InvalidInput(field, "a file", wanted)

    @property
    def root(self) -> Path:
        if self._given is None:
            message = "this worker has no data folder; its operator sets executors.data_folder"
            raise SqlFault(type_="no files allowed", message=message, final=True)
        try:
            return self._given.resolve(strict=True)
        except OSError:
            message = "the data folder of this worker does not exist"
            raise SqlFault(type_="no folder", message=message, final=False) from None

    def find_files(self, pattern: str) -> list[Path]:
        """Return the files that match a name or pattern, in order; fail if none matches."""
        root = self.root
        paths = sorted(root.glob(pattern)) if is_pattern(pattern) else [root / pattern]
        files = [self._inside(path, root) for path in paths[: FILES_MAX + 1]]
        files = [path for path in files if path.is_file()]
        if not files:
            message = f"no file {pattern} in the data folder"
            raise SqlFault(type_="no file", message=message, final=True)
        if len(files) > FILES_MAX:
            message = f"{pattern} matches more than {FILES_MAX} files"
            raise SqlFault(type_="too many files", message=message, final=True)
        return files

    @contextlib.asynccontextmanager
    async def write_file(self, name: str, context: AttemptContext) -> AsyncIterator[Path]:
        """Yield a temporary file to fill; rename it at the end of the block, or delete it."""
        target, part = await asyncio.to_thread(self._create_part, name, context)
        try:
            yield part
            await asyncio.to_thread(publish_file, part, target)
        finally:
            part.unlink(missing_ok=True)

    def _create_part(self, name: str, context: AttemptContext) -> tuple[Path, Path]:
        """Return the final path and a new temporary file."""
        target = self._prepare_target(name)
        prefix = f".{target.name[:100]}.{context.run_id}"
        # Leftovers of killed attempts of this run.
        for old in target.parent.glob(f"{escape_glob(prefix)}.*.part"):
            old.unlink(missing_ok=True)
        part = target.with_name(f"{prefix}.{context.attempt}.part")
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o644))
        return target, part

    def _prepare_target(self, name: str) -> Path:
        """Return the target; create its folders, each checked before the next is created."""
        root = self.root
        parent = root
        for part in PurePosixPath(name).parts[:-1]:
            parent = self._inside(parent / part, root)
            try:
                parent.mkdir(exist_ok=True)
            except OSError as error:
                raise build_file_fault(name, error) from None
        target = parent / PurePosixPath(name).name
        if target.is_dir():
            raise SqlFault(type_="no file", message=f"{name} is a folder", final=True)
        return target

    def _inside(self, path: Path, root: Path) -> Path:
        real = path.resolve()
        if not real.is_relative_to(root):
            message = f"{path.name} leads out of the data folder"
            raise SqlFault(type_="outside the folder", message=message, final=True)
        return real


def build_file_fault(name: str, error: OSError) -> SqlFault:
    return SqlFault(type_="no file", message=f"{name}: {error.strerror or error}", final=False)


def is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def escape_glob(text: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", text)


def publish_file(part: Path, target: Path) -> None:
    """Sync the file and rename it. Runs in a thread, because disks are slow."""
    sync_to_disk(part)
    part.replace(target)
    sync_to_disk(target.parent)


def sync_to_disk(path: Path) -> None:
    """Flush a file or folder to disk, so that it survives a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
