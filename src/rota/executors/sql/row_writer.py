"""Writes the rows of a query to a file: CSV, JSON lines or Parquet.

Rows are written piece by piece as they arrive. DuckDB creates Parquet from a staged file
(staging.py), because Parquet needs the types of whole columns.
"""

import asyncio
import csv
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rota.core.executor import AttemptContext
from rota.executors.sql.data_folder import DataFolder
from rota.executors.sql.duckdb_session import DuckSession, quote_text
from rota.executors.sql.row_staging import RowStaging, refuse_duplicate_names
from rota.executors.sql.session import ResultColumn, Row, StatementResult
from rota.executors.sql.spec import FileOutput
from rota.executors.sql.values import to_cell, to_plain

WRITE_ROWS: Final = 2000
# One row group at a time needs little memory; a wide one may spill to disk.
PARQUET_LIMITS: Final = {"threads": 1, "memory_limit": "256MiB"}
PARQUET_SPILL_MAX: Final = "4GiB"


async def write_rows(
    answer: StatementResult, output: FileOutput, folder: DataFolder, context: AttemptContext
) -> int:
    """Write the rows and return their number."""
    name = output.name.fill(context)
    async with folder.write_file(name, context) as part:
        if output.format == "parquet":
            return await write_parquet(answer, part)
        with part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            names = [column.name for column in answer.columns]
            rows = 0
            if output.format == "csv":
                writer.writerow(names)
            else:
                refuse_duplicate_names(names)
            async for piece in answer.read_pieces(WRITE_ROWS):
                if output.format == "csv":
                    await asyncio.to_thread(writer.writerows, map(to_cells, piece))
                else:
                    await asyncio.to_thread(file.writelines, to_json_lines(names, piece))
                rows += len(piece)
    return rows


def to_cells(row: Row) -> list[object]:
    return [to_cell(value) for value in row]


def to_json_lines(names: Sequence[str], rows: Sequence[Row]) -> list[str]:
    objects = (dict(zip(names, map(to_plain, row), strict=True)) for row in rows)
    return [f"{json.dumps(item, ensure_ascii=False)}\n" for item in objects]


async def write_parquet(answer: StatementResult, part: Path) -> int:
    work = Path(tempfile.mkdtemp(prefix="rota-parquet-"))
    try:
        staging = await stage_rows(answer, work / "rows.json", answer.columns)
        session = await DuckSession.open_confined(
            PARQUET_LIMITS, folder=work, disk=PARQUET_SPILL_MAX
        )
        try:
            result = work / "rows.parquet"
            await session.run(
                f"copy ({staging.build_select()}) to {quote_text(str(result))} (format parquet)"
            )
        finally:
            await session.close()
        await asyncio.to_thread(shutil.copyfile, result, part)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return staging.rows


async def stage_rows(
    answer: StatementResult,
    path: Path,
    columns: Sequence[ResultColumn],
    *,
    types: Mapping[str, str] | None = None,
    max_bytes: int | None = None,
) -> RowStaging:
    with RowStaging(path, columns, types=types, max_bytes=max_bytes) as staging:
        async for piece in answer.read_pieces(WRITE_ROWS):
            await asyncio.to_thread(staging.add, piece)
    return staging
