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
from rota.executors.sql.duck import DuckSession, text_of
from rota.executors.sql.folder import Folder
from rota.executors.sql.session import Answer, Column, Row
from rota.executors.sql.spec import Output
from rota.executors.sql.staging import Staging, refuse_doubles
from rota.executors.sql.values import as_text, plain

PIECE: Final = 2000
# One row group at a time needs little memory; a wide one may spill to disk.
SMALL: Final = {"threads": 1, "memory_limit": "256MiB"}
SPILLED: Final = "4GiB"


async def write_rows(
    answer: Answer, output: Output, folder: Folder, context: AttemptContext
) -> int:
    """Write the rows and return their number."""
    name = output.name.filled(context)
    async with folder.writing(name, context) as part:
        if output.format == "parquet":
            return await write_parquet(answer, part)
        with part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            names = [column.name for column in answer.columns]
            rows = 0
            if output.format == "csv":
                writer.writerow(names)
            else:
                refuse_doubles(names)
            async for piece in answer.pieces(PIECE):
                if output.format == "csv":
                    await asyncio.to_thread(writer.writerows, map(cells, piece))
                else:
                    await asyncio.to_thread(file.writelines, lines(names, piece))
                rows += len(piece)
    return rows


def cells(row: Row) -> list[object]:
    return [as_text(value) for value in row]


def lines(names: Sequence[str], rows: Sequence[Row]) -> list[str]:
    objects = (dict(zip(names, map(plain, row), strict=True)) for row in rows)
    return [f"{json.dumps(item, ensure_ascii=False)}\n" for item in objects]


async def write_parquet(answer: Answer, part: Path) -> int:
    work = Path(tempfile.mkdtemp(prefix="rota-parquet-"))
    try:
        staging = await stage(answer, work / "rows.json", answer.columns)
        session = await DuckSession.confined(SMALL, folder=work, disk=SPILLED)
        try:
            result = work / "rows.parquet"
            await session.run(
                f"copy ({staging.selecting()}) to {text_of(str(result))} (format parquet)"
            )
        finally:
            await session.close()
        await asyncio.to_thread(shutil.copyfile, result, part)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return staging.rows


async def stage(
    answer: Answer,
    path: Path,
    columns: Sequence[Column],
    *,
    types: Mapping[str, str] | None = None,
    most: int | None = None,
) -> Staging:
    with Staging(path, columns, types=types, most=most) as staging:
        async for piece in answer.pieces(PIECE):
            await asyncio.to_thread(staging.add, piece)
    return staging
