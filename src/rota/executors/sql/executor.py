"""Runs one attempt of an SQL job.

All statements run in one transaction on one connection, which is opened for the attempt and closed
after it. Jobs reach only the connections that the operator of the worker defined. A retry starts
from scratch, because a failed transaction was rolled back. Only an attempt whose worker died
between the commit and its report is repeated; a statement that must not be repeated can use
`:rota_idempotency_key`.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from rota.contract.payloads.sql import SqlPayload
from rota.contract.schemas import render_schema
from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext, Stream
from rota.core.kind_descriptions import TaskDescription
from rota.core.outcome import Failed, Failure, Outcome, Succeeded
from rota.core.tenancy import DEFAULT_TENANT
from rota.core.time.durations import to_words
from rota.executors.sql.connections import SqlConnections
from rota.executors.sql.data_folder import DataFolder
from rota.executors.sql.faults import SqlFault
from rota.executors.sql.row_writer import write_rows
from rota.executors.sql.session import Row, SqlSession, StatementResult
from rota.executors.sql.session_opener import open_session
from rota.executors.sql.size_limits import measure_row
from rota.executors.sql.spec import SqlQuery, read_query
from rota.executors.sql.values import to_plain

KIND: Final = "sql"
# Bytes for rows: a stored result has 64 KB, and names, counts and punctuation need the rest.
RESULT_ROWS_MAX_BYTES: Final = 48 * 1024
FETCH_ROWS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlExecutor:
    connections: SqlConnections = field(default_factory=SqlConnections)
    folder: DataFolder = field(default_factory=lambda: DataFolder(None))

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,)

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one kind
        return render_schema(SqlPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one kind
        return TaskDescription(text="Runs SQL statements on a database.")

    def read(self, kind: str, payload: Any) -> SqlQuery:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> SqlQuery:
        if kind != KIND:
            raise InvalidInput("kind", kind, f"expected {KIND}")
        return read_query(payload, self.connections.for_tenant(tenant), self.folder, tenant)

    def target_of(self, spec: SqlQuery) -> str:
        return spec.connection.target

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def run(self, spec: SqlQuery, context: AttemptContext) -> Outcome:
        try:
            async with asyncio.timeout(to_seconds(spec.timeout)) as limit:
                result = await self._carry_out(spec, context)
        except SqlFault as fault:
            return fault.to_failed()
        except TimeoutError:
            if not limit.expired() or spec.timeout is None:
                raise
            return build_timeout(spec.timeout)
        context.write(
            Stream.ROTA, f"{describe_result(result)} on {spec.connection.name}\n".encode()
        )
        return Succeeded(result=result)

    async def _carry_out(self, spec: SqlQuery, context: AttemptContext) -> dict[str, Any]:
        async with open_session(spec.connection) as session:
            await session.begin(read_only=spec.read_only)
            *first, last = spec.statements
            touched = [await run_and_discard(session, statement, context) for statement in first]
            limit = spec.max_rows if spec.output is None else None
            answer = await session.run(*last.bind(session.dialect, context), max_rows=limit)
            result = await self._result(answer, spec, context)
            await session.commit()
        touched.append(answer.affected)
        return {"affected": touched if spec.is_list else answer.affected, **result}

    async def _result(
        self, answer: StatementResult, spec: SqlQuery, context: AttemptContext
    ) -> dict[str, Any]:
        if spec.output is not None:
            if not answer.columns:
                message = "nothing to write: the last statement returns no rows"
                raise SqlFault(type_="no rows", message=message, final=True)
            try:
                rows = await write_rows(answer, spec.output, self.folder, context)
            except OSError as error:
                message = f"the file cannot be written: {error.strerror}"
                raise SqlFault(type_="no file", message=message, final=False) from None
            name = spec.output.name.fill(context)
            return {"rows": rows, "file": name, "format": spec.output.format}
        if not spec.keeps_rows or not answer.columns:
            return {}
        first, truncated = await collect_rows(answer, spec.max_rows)
        columns = [to_plain(column.name) for column in answer.columns]
        return {"columns": columns, "rows": first, "truncated": truncated}


async def run_and_discard(
    session: SqlSession, statement: Any, context: AttemptContext
) -> int | None:
    """Run a statement whose rows are not needed; read them anyway, to free the session."""
    answer = await session.run(*statement.bind(session.dialect, context), max_rows=0)
    async for _ in answer.read_pieces(FETCH_ROWS):
        pass
    return answer.affected


async def collect_rows(answer: StatementResult, max_rows: int) -> tuple[list[list[Any]], bool]:
    """Return the first `most` rows that fit into a result, and whether more exist."""
    room = ResultRows(rows_max=max_rows)
    async for piece in answer.read_pieces(min(FETCH_ROWS, max_rows + 1)):
        # In a thread: a row may be large enough to block the loop.
        if not await asyncio.to_thread(room.add, piece):
            return room.rows, True
    return room.rows, False


@dataclass(slots=True, kw_only=True)
class ResultRows:
    """Collects the rows of a result as JSON, up to the size of a stored result."""

    rows_max: int
    rows: list[list[Any]] = field(default_factory=list)
    size: int = 0

    def add(self, piece: Sequence[Row]) -> bool:
        """Add rows until one does not fit; return whether all fit.

        A row that is too large by itself is not converted.
        """
        for row in piece:
            if len(self.rows) >= self.rows_max or measure_row(row) > RESULT_ROWS_MAX_BYTES:
                return False
            cells = [to_plain(value) for value in row]
            self.size += len(json.dumps(cells, ensure_ascii=False).encode(errors="replace")) + 2
            if self.size > RESULT_ROWS_MAX_BYTES:
                return False
            self.rows.append(cells)
        return True


def describe_result(result: dict[str, Any]) -> str:
    if "file" in result:
        return f"{result['rows']} rows written to {result['file']}"
    if "rows" in result:
        return f"{len(result['rows'])} rows"
    touched = result["affected"]
    total = touched if isinstance(touched, int) else sum(filter(None, touched or ()))
    return f"{total} rows affected"


def to_seconds(length: timedelta | None) -> float | None:
    return None if length is None else length.total_seconds()


def build_timeout(timeout: timedelta) -> Failed:
    failure = Failure(type="timeout", message=f"exceeded its timeout of {to_words(timeout)}")
    return Failed(failure=failure, timed_out=True)
