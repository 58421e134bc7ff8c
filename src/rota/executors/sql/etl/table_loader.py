"""Loads the result of a transform into a table in chunks, exactly once.

The target database has a small table of progress records (`rota_etl_marks`), one row per run. Each
chunk goes into a staging table beside the target in the same transaction that updates the progress
record, so an interrupted load continues after the last staged chunk. At the end one transaction
moves the staged rows into the table and marks the run as done: readers see all rows or none. If the
worker dies between that commit and its report, the next attempt finds the record and adds nothing.

Two guards protect this. The record holds a digest of the staged chunks: if the transform now
returns other rows (the source changed, or the order is not deterministic), staging starts again. It
also holds the number of the attempt, which only grows: a worker that was presumed dead and comes
back finds a higher number and stops.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from rota.core.executor import AttemptContext
from rota.executors.sql.connections import Dialect
from rota.executors.sql.etl.load_statements import STAGING_PREFIX, LoadStatements
from rota.executors.sql.etl.spec import LoadTable
from rota.executors.sql.etl.transform_database import RESULT_TABLE, TransformDatabase
from rota.executors.sql.faults import SqlFault
from rota.executors.sql.row_staging import encode_value
from rota.executors.sql.session import ResultColumn, Row, SqlSession
from rota.executors.sql.values import JsonText

JSON_DIALECTS: Final = frozenset({Dialect.POSTGRESQL, Dialect.DUCKDB})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProgress:
    """The progress of a load: staged chunks and rows, and their digest."""

    chunk_rows: int
    chunks: int = 0
    rows: int = 0
    digest: str = ""
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChunk:
    rows: Sequence[Row]
    # A list of objects with the column names as keys.
    encoded: bytes

    def extend_digest(self, digest: str) -> str:
        return hashlib.sha256(digest.encode() + self.encoded).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """The result of a load. `resumed` is the number of chunks that an earlier attempt staged."""

    rows: int
    chunks: int
    resumed: int


class TableLoader:
    def __init__(
        self,
        session: SqlSession,
        target: LoadTable,
        columns: tuple[ResultColumn, ...],
        context: AttemptContext,
    ) -> None:
        self._session = session
        self._context = context
        self._columns = columns
        self._run = str(context.run_id)
        self._texts = LoadStatements(
            dialect=session.dialect,
            target=target,
            staging_name=f"{STAGING_PREFIX}{context.run_id.hex}",
            columns=columns,
        )

    async def load(self, bench: TransformDatabase, *, total: int, chunk_rows: int) -> LoadResult:
        refuse_missing_keys(self._texts.target, self._columns)
        await self._make_marks()
        mark = await self._take_over(chunk_rows)
        resumed = mark.chunks
        if not mark.done:
            if not await self._matches_staged(bench, mark):
                resumed, mark = 0, LoadProgress(chunk_rows=chunk_rows)
                await self._stage_anew(mark)
            mark = await self._stage(bench, mark, total)
            mark = await self._finish(mark)
        await self._clean_up()
        return LoadResult(rows=mark.rows, chunks=mark.chunks, resumed=resumed)

    async def find_finished(self) -> LoadResult | None:
        """Return what an earlier attempt of this run loaded, if it completed the load."""
        await self._make_marks()
        async with self._session.transaction():
            records = await self._fetch_rows(self._texts.read_progress(), [self._run])
        if not records or not records[0][5]:
            return None
        await self._clean_up()
        return LoadResult(rows=records[0][3], chunks=records[0][2], resumed=records[0][2])

    async def _make_marks(self) -> None:
        try:
            await self._run_alone(self._texts.create_progress_table())
        except SqlFault as fault:
            if not fault.final:
                raise
            # Of two loads that start at the same time, the other one created the table.
            await self._session.rollback()
            await self._run_alone(self._texts.create_progress_table())

    async def _take_over(self, chunk_rows: int) -> LoadProgress:
        """Take over the progress record of this run for this attempt, and return it."""
        session, texts, attempt = self._session, self._texts, self._context.attempt
        async with session.transaction():
            records = await self._fetch_rows(texts.read_progress(), [self._run])
            if not records:
                values = [self._run, attempt, texts.staging_name, chunk_rows]
                await session.run(texts.insert_progress(), values)
            elif records[0][0] > attempt:
                raise build_taken_over(records[0][0])
            else:
                values = [attempt, chunk_rows, self._run, records[0][0]]
                self._refuse_unmoved(await session.run(texts.take_over(), values))
        if not records:
            return LoadProgress(chunk_rows=chunk_rows)
        _, earlier_rows, chunks, rows, digest, done = records[0]
        mark = LoadProgress(
            chunk_rows=chunk_rows, chunks=chunks, rows=rows, digest=digest, done=bool(done)
        )
        # Chunks of another size cannot be compared.
        return (
            mark if mark.done or earlier_rows == chunk_rows else LoadProgress(chunk_rows=chunk_rows)
        )

    async def _matches_staged(self, bench: TransformDatabase, mark: LoadProgress) -> bool:
        """Return whether the transform still returns the chunks that were staged."""
        if mark.chunks == 0:
            return False
        digest, seen = "", 0
        async for chunk in read_chunks(bench, self._columns, mark.chunk_rows):
            digest, seen = chunk.extend_digest(digest), seen + 1
            if seen == mark.chunks:
                break
        return seen == mark.chunks and digest == mark.digest

    async def _stage_anew(self, mark: LoadProgress) -> None:
        # The progress record first: MySQL commits before it creates or drops a table.
        async with self._session.transaction():
            await self._move(mark)
        async with self._session.transaction():
            await self._session.run(self._texts.drop_table(self._texts.staging_name))
            await self._session.run(self._texts.create_staging())

    async def _stage(
        self, bench: TransformDatabase, mark: LoadProgress, total: int
    ) -> LoadProgress:
        at = 0
        async for chunk in read_chunks(bench, self._columns, mark.chunk_rows):
            at += 1
            if at <= mark.chunks:
                continue
            mark = LoadProgress(
                chunk_rows=mark.chunk_rows,
                chunks=at,
                rows=mark.rows + len(chunk.rows),
                digest=chunk.extend_digest(mark.digest),
            )
            async with self._session.transaction():
                await self._insert(chunk)
                await self._move(mark)
            # Moving the rows into the table counts as the last tenth.
            fraction = 0.5 + 0.4 * mark.rows / max(total, 1)
            self._context.progress(min(fraction, 0.9), f"staged {mark.rows} of {total} rows")
        return mark

    async def _insert(self, chunk: RowChunk) -> None:
        texts = self._texts
        if self._session.dialect not in JSON_DIALECTS:
            await self._session.run_many(texts.insert_row(), chunk.rows)
            return
        encoded = chunk.encoded
        if self._session.dialect is Dialect.DUCKDB:
            encoded = encode_numbered(chunk.rows)
        await self._session.run(texts.insert_json(), [JsonText(encoded.decode())])

    async def _finish(self, mark: LoadProgress) -> LoadProgress:
        done = LoadProgress(
            chunk_rows=mark.chunk_rows,
            chunks=mark.chunks,
            rows=mark.rows,
            digest=mark.digest,
            done=True,
        )
        async with self._session.transaction():
            await self._move(done)
            for text in self._texts.publish_rows():
                await self._session.run(text)
        return done

    async def _move(self, mark: LoadProgress) -> None:
        values = [mark.chunks, mark.rows, mark.digest, int(mark.done), self._run]
        self._refuse_unmoved(
            await self._session.run(self._texts.update_progress(), [*values, self._context.attempt])
        )

    async def _clean_up(self) -> None:
        """Drop the staging table of this run, and leftovers of runs that failed long ago."""
        texts = self._texts
        await self._run_alone(texts.drop_table(texts.staging_name))
        async with self._session.transaction():
            for run, staging in await self._fetch_rows(texts.select_old_progress(), []):
                await self._session.run(texts.drop_table(staging))
                await self._session.run(texts.delete_progress(), [run])

    async def _run_alone(self, text: str) -> None:
        async with self._session.transaction():
            await self._session.run(text)

    async def _fetch_rows(self, text: str, values: Sequence[object]) -> list[Row]:
        answer = await self._session.run(text, values)
        return [row async for piece in answer.read_pieces(100) for row in piece]

    def _refuse_unmoved(self, answer: Any) -> None:
        if answer.affected != 1:
            raise build_taken_over(None)


def build_taken_over(attempt: int | None) -> SqlFault:
    by = "another attempt" if attempt is None else f"attempt {attempt}"
    return SqlFault(type_="taken over", message=f"{by} of this run has taken over", final=False)


def refuse_missing_keys(target: LoadTable, columns: Sequence[ResultColumn]) -> None:
    names = {column.name.lower() for column in columns}
    for name in target.key:
        if name.lower() not in names:
            message = f"the key {name!r} is not a column of the transform"
            raise SqlFault(type_="column names", message=message, final=True)


async def read_chunks(
    bench: TransformDatabase, columns: Sequence[ResultColumn], size: int
) -> AsyncIterator[RowChunk]:
    """Yield the rows of the result in order, in chunks of the same size."""
    answer = await bench.session.run(f"from {RESULT_TABLE}")
    names = [column.name for column in columns]
    structured = [at for at, column in enumerate(columns) if column.type == "JSON"]
    pending: list[Row] = []
    async for piece in answer.read_pieces(size):
        pending += piece
        while len(pending) >= size:
            yield await asyncio.to_thread(build_chunk, names, structured, pending[:size])
            pending = pending[size:]
    if pending:
        yield await asyncio.to_thread(build_chunk, names, structured, pending)


def build_chunk(names: Sequence[str], structured: Sequence[int], rows: Sequence[Row]) -> RowChunk:
    objects = []
    for row in rows:
        cells = [encode_json_value(value) for value in row]
        for at in structured:
            if isinstance(row[at], str):
                cells[at] = json.loads(row[at])
        objects.append(dict(zip(names, cells, strict=True)))
    return RowChunk(rows=rows, encoded=msgspec.json.encode(objects))


def encode_json_value(value: object) -> object:
    """Encode a value as PostgreSQL reads it from JSON; bytes become prefixed hexadecimal."""
    is_bytes = isinstance(value, bytes | bytearray | memoryview)
    return (
        f"\\x{encode_value(value)}" if is_bytes else None if value is None else encode_value(value)
    )


def encode_numbered(rows: Sequence[Row]) -> bytes:
    """Encode rows with numbered keys for DuckDB, whose names are case-insensitive."""
    return msgspec.json.encode(
        [
            {
                f"c{at}": None if value is None else encode_value(value)
                for at, value in enumerate(row)
            }
            for row in rows
        ]
    )
