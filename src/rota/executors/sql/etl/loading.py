"""Loads the result of a transform into a table, in chunks, once. Room: executors/sql/etl.

In the target there is a small table of marks, one row for each run. A chunk goes into a staging
table beside the target in the same transaction that moves the mark, so a load that was cut off
goes on with the chunk after the last one that is there. At the end one transaction moves the
staged rows into the table and marks the run as done: readers see all of it or nothing, and a run
whose worker died between that and saying so finds the mark and adds nothing.

Two guards. The mark holds a digest of the chunks that were staged: if the transform gives other
rows now (the source changed, or the order is not determined), the staging begins anew. And it
holds the number of the attempt, which only grows: a worker that was thought dead and comes back
finds a higher one and stops.
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
from rota.executors.sql.etl.spec import Table
from rota.executors.sql.etl.texts import STAGING, Texts
from rota.executors.sql.etl.workbench import RESULT, Workbench
from rota.executors.sql.faults import Fault
from rota.executors.sql.session import Column, Row, Session
from rota.executors.sql.staging import staged
from rota.executors.sql.values import JsonText

IN_JSON: Final = frozenset({Dialect.POSTGRESQL, Dialect.DUCKDB})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far a load is: chunks and rows that are staged, and the digest of them."""

    chunk_rows: int
    chunks: int = 0
    rows: int = 0
    digest: str = ""
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    rows: Sequence[Row]
    # A list of objects, by the names of the columns.
    encoded: bytes

    def after(self, digest: str) -> str:
        return hashlib.sha256(digest.encode() + self.encoded).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """`resumed` is how many chunks an earlier attempt had staged."""

    rows: int
    chunks: int
    resumed: int


class Loading:
    def __init__(
        self, session: Session, target: Table, columns: tuple[Column, ...], context: AttemptContext
    ) -> None:
        self._session = session
        self._context = context
        self._columns = columns
        self._run = str(context.run_id)
        self._texts = Texts(
            dialect=session.dialect,
            target=target,
            staging_name=f"{STAGING}{context.run_id.hex}",
            columns=columns,
        )

    async def load(self, bench: Workbench, *, total: int, chunk_rows: int) -> Loaded:
        refuse_missing_keys(self._texts.target, self._columns)
        await self._make_marks()
        mark = await self._take_over(chunk_rows)
        resumed = mark.chunks
        if not mark.done:
            kept = await self._verified(bench, mark)
            if kept is None:
                resumed, mark = 0, Mark(chunk_rows=chunk_rows)
                await self._stage_anew(mark)
            mark = await self._stage(bench, mark, total)
            mark = await self._finish(mark)
        await self._clean_up()
        return Loaded(rows=mark.rows, chunks=mark.chunks, resumed=resumed)

    async def finished(self) -> Loaded | None:
        """What an earlier attempt of this run loaded, if it came to its end and died there."""
        await self._make_marks()
        async with self._session.transaction():
            found = await self._rows(self._texts.read_mark(), [self._run])
        if not found or not found[0][5]:
            return None
        await self._clean_up()
        return Loaded(rows=found[0][3], chunks=found[0][2], resumed=found[0][2])

    async def _make_marks(self) -> None:
        try:
            await self._alone(self._texts.create_marks())
        except Fault as fault:
            if not fault.final:
                raise
            # Two loads that begin at the same time may both not find it; one of them made it.
            await self._session.rollback()
            await self._alone(self._texts.create_marks())

    async def _take_over(self, chunk_rows: int) -> Mark:
        """The mark of this run, now held by this attempt."""
        session, texts, attempt = self._session, self._texts, self._context.attempt
        async with session.transaction():
            found = await self._rows(texts.read_mark(), [self._run])
            if not found:
                given = [self._run, attempt, texts.staging_name, chunk_rows]
                await session.run(texts.insert_mark(), given)
            elif found[0][0] > attempt:
                raise fenced(found[0][0])
            else:
                given = [attempt, chunk_rows, self._run, found[0][0]]
                self._refuse_unmoved(await session.run(texts.take_over(), given))
        if not found:
            return Mark(chunk_rows=chunk_rows)
        _, before, chunks, rows, digest, done = found[0]
        mark = Mark(chunk_rows=chunk_rows, chunks=chunks, rows=rows, digest=digest, done=bool(done))
        # Chunks of another size cannot be compared.
        return mark if mark.done or before == chunk_rows else Mark(chunk_rows=chunk_rows)

    async def _verified(self, bench: Workbench, mark: Mark) -> Mark | None:
        """The mark, if the chunks that it counts are those that the transform gives now."""
        if mark.chunks == 0:
            return None
        digest, seen = "", 0
        async for chunk in chunks_of(bench, self._columns, mark.chunk_rows):
            digest, seen = chunk.after(digest), seen + 1
            if seen == mark.chunks:
                break
        return mark if seen == mark.chunks and digest == mark.digest else None

    async def _stage_anew(self, mark: Mark) -> None:
        # The mark first: MySQL commits before it makes or drops a table.
        async with self._session.transaction():
            await self._move(mark)
        async with self._session.transaction():
            await self._session.run(self._texts.drop(self._texts.staging_name))
            await self._session.run(self._texts.create_staging())

    async def _stage(self, bench: Workbench, mark: Mark, total: int) -> Mark:
        at = 0
        async for chunk in chunks_of(bench, self._columns, mark.chunk_rows):
            at += 1
            if at <= mark.chunks:
                continue
            mark = Mark(
                chunk_rows=mark.chunk_rows,
                chunks=at,
                rows=mark.rows + len(chunk.rows),
                digest=chunk.after(mark.digest),
            )
            async with self._session.transaction():
                await self._insert(chunk)
                await self._move(mark)
            # The last tenth is for moving the rows into the table.
            fraction = 0.5 + 0.4 * mark.rows / max(total, 1)
            self._context.progress(min(fraction, 0.9), f"staged {mark.rows} of {total} rows")
        return mark

    async def _insert(self, chunk: Chunk) -> None:
        texts = self._texts
        if self._session.dialect not in IN_JSON:
            await self._session.run_many(texts.insert_row(), chunk.rows)
            return
        encoded = chunk.encoded
        if self._session.dialect is Dialect.DUCKDB:
            encoded = numbered(chunk.rows)
        await self._session.run(texts.insert_json(), [JsonText(encoded.decode())])

    async def _finish(self, mark: Mark) -> Mark:
        done = Mark(
            chunk_rows=mark.chunk_rows,
            chunks=mark.chunks,
            rows=mark.rows,
            digest=mark.digest,
            done=True,
        )
        async with self._session.transaction():
            await self._move(done)
            for text in self._texts.finishing():
                await self._session.run(text)
        return done

    async def _move(self, mark: Mark) -> None:
        given = [mark.chunks, mark.rows, mark.digest, int(mark.done), self._run]
        self._refuse_unmoved(
            await self._session.run(self._texts.move_mark(), [*given, self._context.attempt])
        )

    async def _clean_up(self) -> None:
        """Drop what is not needed any more: of this run, and of runs that gave up long ago."""
        texts = self._texts
        await self._alone(texts.drop(texts.staging_name))
        async with self._session.transaction():
            for run, staging in await self._rows(texts.old_marks(), []):
                await self._session.run(texts.drop(staging))
                await self._session.run(texts.delete_mark(), [run])

    async def _alone(self, text: str) -> None:
        async with self._session.transaction():
            await self._session.run(text)

    async def _rows(self, text: str, values: Sequence[object]) -> list[Row]:
        answer = await self._session.run(text, values)
        return [row async for piece in answer.pieces(100) for row in piece]

    def _refuse_unmoved(self, answer: Any) -> None:
        if answer.affected != 1:
            raise fenced(None)


def fenced(attempt: int | None) -> Fault:
    by = "another attempt" if attempt is None else f"attempt {attempt}"
    return Fault(type_="taken over", message=f"{by} of this run loads now", final=False)


def refuse_missing_keys(target: Table, columns: Sequence[Column]) -> None:
    names = {column.name.lower() for column in columns}
    for name in target.key:
        if name.lower() not in names:
            message = f"the key {name!r} is no column of the transform"
            raise Fault(type_="column names", message=message, final=True)


async def chunks_of(bench: Workbench, columns: Sequence[Column], size: int) -> AsyncIterator[Chunk]:
    """The rows of the result in their order, in chunks of the same size."""
    answer = await bench.session.run(f"from {RESULT}")
    names = [column.name for column in columns]
    structured = [at for at, column in enumerate(columns) if column.type == "JSON"]
    held: list[Row] = []
    async for piece in answer.pieces(size):
        held += piece
        while len(held) >= size:
            yield await asyncio.to_thread(chunk_of, names, structured, held[:size])
            held = held[size:]
    if held:
        yield await asyncio.to_thread(chunk_of, names, structured, held)


def chunk_of(names: Sequence[str], structured: Sequence[int], rows: Sequence[Row]) -> Chunk:
    objects = []
    for row in rows:
        cells = [sent(value) for value in row]
        for at in structured:
            if isinstance(row[at], str):
                cells[at] = json.loads(row[at])
        objects.append(dict(zip(names, cells, strict=True)))
    return Chunk(rows=rows, encoded=msgspec.json.encode(objects))


def sent(value: object) -> object:
    """As PostgreSQL reads it out of JSON; bytes are hexadecimal there with a sign before."""
    is_bytes = isinstance(value, bytes | bytearray | memoryview)
    return f"\\x{staged(value)}" if is_bytes else None if value is None else staged(value)


def numbered(rows: Sequence[Row]) -> bytes:
    """The rows as objects whose keys are numbers, for DuckDB, whose names know no case."""
    return msgspec.json.encode(
        [
            {f"c{at}": None if value is None else staged(value) for at, value in enumerate(row)}
            for row in rows
        ]
    )
