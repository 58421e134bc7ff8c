"""Runs the SQL of a transform in a DuckDB in memory that can access only the extracted data.

Memory is limited, and beyond it so is disk space in a work folder of the attempt. From the start,
only the extracted files are accessible and the configuration is locked, so no query of a payload
can read the worker's files or lift a limit.

The work folder is removed after the attempt. If a worker was killed, the next worker that opens
finds its work folder by the lock, which ended with the process, and removes it.
"""

import asyncio
import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rota.core.executor import AttemptContext
from rota.executors.sql.duckdb_session import DuckSession, quote_name, quote_text
from rota.executors.sql.etl.spec import FileSet, TransformStep
from rota.executors.sql.faults import SqlFault
from rota.executors.sql.row_staging import RowStaging, refuse_duplicate_names
from rota.executors.sql.session import ResultColumn

WORK_FOLDER_PREFIX: Final = "rota-etl-"
LOCK_FILE: Final = "lock"
RESULT_TABLE: Final = "rota_result"
FILE_READERS: Final = {
    "csv": "read_csv({files}, union_by_name = true)",
    "json": "read_json({files}, union_by_name = true)",
    "parquet": "read_parquet({files}, union_by_name = true)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EtlLimits:
    """Limits of one attempt: `memory` and `disk` in megabytes. `folder` contains work folders."""

    memory: int = 512
    disk: int = 10_240
    threads: int = 2
    folder: Path | None = None

    @property
    def disk_bytes(self) -> int:
        return self.disk * 1024 * 1024


@contextlib.asynccontextmanager
async def open_work_folder(limits: EtlLimits) -> AsyncIterator[Path]:
    try:
        work, held = await asyncio.to_thread(create_locked_folder, limits)
    except OSError as error:
        message = f"cannot create a work folder: {error.strerror}"
        raise SqlFault(type_="no work folder", message=message, final=False) from None
    try:
        yield work
    finally:
        try:
            await asyncio.to_thread(shutil.rmtree, work, ignore_errors=True)
        finally:
            os.close(held)


def create_locked_folder(limits: EtlLimits) -> tuple[Path, int]:
    """Create a work folder; return it with the descriptor of its lock."""
    while True:
        work = Path(tempfile.mkdtemp(prefix=WORK_FOLDER_PREFIX, dir=limits.folder)).resolve()
        held = os.open(work / LOCK_FILE, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(held, fcntl.LOCK_EX)
        if (work / LOCK_FILE).exists():
            return work, held
        # Another worker that is opening removed it before it was locked.
        os.close(held)


def remove_abandoned_folders(limits: EtlLimits) -> int:
    """Remove the work folders of dead workers; return their number."""
    removed = 0
    for work in Path(limits.folder or tempfile.gettempdir()).glob(f"{WORK_FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError):
            held = os.open(work / LOCK_FILE, os.O_RDWR)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(work, ignore_errors=True)
                removed += 1
            finally:
                os.close(held)
    return removed


class TransformDatabase:
    """The confined DuckDB of one attempt."""

    def __init__(self, session: DuckSession) -> None:
        self.session = session

    async def add_rows(self, name: str, staging: RowStaging) -> int:
        statement = f"create table {quote_name(name)} as {staging.build_select()}"
        count = (await self.session.run(statement)).affected
        staging.path.unlink()
        return count or 0

    async def add_files(self, name: str, files: FileSet, paths: Sequence[Path]) -> int:
        listed = f"[{', '.join(quote_text(str(path)) for path in paths)}]"
        source = FILE_READERS[files.format].format(files=listed)
        answer = await self.session.run(f"create table {quote_name(name)} as from {source}")
        return answer.affected or 0

    async def run_step(self, step: TransformStep, context: AttemptContext) -> int:
        """Run one step of the transform; its rows become a table of its name."""
        text, values = step.statement.bind(self.session.dialect, context)
        answer = await self.session.run(f"create table {quote_name(step.name)} as {text}\n", values)
        return answer.affected or 0

    async def read_columns(self) -> tuple[ResultColumn, ...]:
        answer = await self.session.run(f"from {RESULT_TABLE}")
        refuse_duplicate_names([column.name for column in answer.columns])
        return answer.columns

    async def write_file(self, path: Path, files: FileSet) -> None:
        options = f"format {files.format}"
        if files.format == "csv":
            options += ", header"
        if files.name.text.endswith(".gz"):
            options += ", compression gzip"
        await self.session.run(f"copy {RESULT_TABLE} to {quote_text(str(path))} ({options})")


@contextlib.asynccontextmanager
async def open_transform_database(
    work: Path, limits: EtlLimits, readable: Sequence[Path]
) -> AsyncIterator[TransformDatabase]:
    config = {
        "memory_limit": f"{limits.memory}MiB",
        "threads": limits.threads,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    session = await DuckSession.open_confined(
        config, folder=work, files=readable, disk=f"{limits.disk}MiB"
    )
    try:
        yield TransformDatabase(session)
    finally:
        await session.close()
