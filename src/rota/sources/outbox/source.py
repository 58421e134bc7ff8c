"""Reads rows of an outbox: a table into which other programs insert.

The option `after` says what happens to a row once its event is committed:

    keep     the row stays; the position is an id up to which every row was read
    mark     the time is written into the column `mark_column`
    delete   the row is deleted

An id is assigned when a row is inserted and visible once its transaction commits, so a lower id may
appear after a higher one. This does not matter for `mark` and `delete`. With `keep`, rows are read
as soon as they are visible, but the position moves past an id only when every transaction that
could still commit a lower one has ended: those that held a write lock on the table after that id
was seen. Rows read above the position are remembered in memory and read again after a restart; Rota
deduplicates them by id.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import asyncpg

from rota.core.errors import InvalidInput
from rota.core.source import EMPTY_BATCH, Batch, Message
from rota.sources.options import SourceOptions
from rota.sources.outbox.statements import (
    COLUMNS,
    WRITERS,
    OutboxColumns,
    OutboxStatements,
    compose_statements,
)

CALL_TIMEOUT_S: Final = 10.0
# The most rows read above the position while a transaction is open; then the source waits for it.
ROWS_AHEAD_MAX: Final = 50_000
LOWEST_ID: Final = -(2**63)
HIGHEST_ID: Final = 2**63 - 1
INTEGER_TYPES: Final = frozenset({"smallint", "integer", "bigint"})
URL_WANTED: Final = "a URL such as postgresql://rota:${SHOP_PASSWORD}@db.example/shop"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxSpec:
    url: str = field(repr=False)
    table: str
    columns: OutboxColumns
    after: str


@dataclass(frozen=True, slots=True)
class Barrier:
    """Every id up to `top` is safe once none of `writers` holds a lock on the table."""

    top: int
    writers: frozenset[str]


def make(options: Mapping[str, Any]) -> "OutboxSource":
    return OutboxSource(read_options(options))


def read_options(values: Mapping[str, Any]) -> OutboxSpec:
    options = SourceOptions(values)
    column = "the name of a column"
    url = options.read_text("url", wanted=URL_WANTED, secret=True)
    if not url.startswith(("postgresql://", "postgres://")):
        raise InvalidInput("url", "***", f"must be {URL_WANTED}")
    table = options.read_text("table", wanted="the name of a table, or schema.table")
    after = options.read_choice("after", "keep", "mark", "delete")
    mark = options.read_optional_text("mark_column", None, wanted=column)
    columns = OutboxColumns(
        id=options.read_optional_text("id_column", "id", wanted=column) or "id",
        body=options.read_optional_text("data_column", None, wanted=column),
        type=options.read_optional_text("type_column", None, wanted=column),
        subject=options.read_optional_text("subject_column", None, wanted=column),
        time=options.read_optional_text("time_column", None, wanted=column),
        mark=mark,
    )
    options.refuse_others()
    if (after == "mark") != (mark is not None):
        wanted = 'required with after = "mark", and not allowed otherwise'
        raise InvalidInput("mark_column", mark, wanted)
    return OutboxSpec(url=url, table=table, columns=columns, after=after)


class OutboxSource:
    """Reads an outbox table."""

    def __init__(self, spec: OutboxSpec) -> None:
        self._spec = spec
        self._texts: OutboxStatements = compose_statements(spec.table, spec.columns)
        self._conn: Any = None
        self._ceiling = LOWEST_ID
        self._ahead: set[int] = set()
        self._barrier: Barrier | None = None
        self._batch: list[Any] = []

    async def open(self, position: str | None) -> None:
        self._conn = await asyncpg.connect(
            self._spec.url,
            timeout=CALL_TIMEOUT_S,
            command_timeout=CALL_TIMEOUT_S,
            # A connection pooler may not support prepared statements.
            statement_cache_size=0,
            server_settings={"application_name": "rota source"},
        )
        if self._spec.after == "keep":
            self._ceiling = LOWEST_ID if position is None else int(position)
        self._ahead, self._barrier, self._batch = set(), None, []
        await self._check()

    async def read(self, *, limit: int, within: timedelta) -> Batch:
        del within  # only another query finds more rows; the caller decides when
        if self._spec.after == "keep":
            return await self._read_kept(limit)
        rows = await self._conn.fetch(self._texts.unmarked, limit)
        self._batch = [row[0] for row in rows]
        if not rows:
            return EMPTY_BATCH
        return Batch(messages=[self._message(row) for row in rows], position=str(self._batch[-1]))

    async def acknowledge(self, position: str) -> None:
        batch, self._batch = self._batch, []
        if self._spec.after == "keep":
            self._ceiling = int(position)
            self._ahead = {id_ for id_ in self._ahead.union(batch) if id_ > self._ceiling}
            return
        text = self._texts.mark if self._spec.after == "mark" else self._texts.delete
        await self._conn.execute(text, batch)

    async def lag(self) -> int | None:
        if self._spec.after == "keep":
            return None  # rows above the position may have been read already
        return int(await self._conn.fetchval(self._texts.waiting))

    async def close(self) -> None:
        if self._conn is not None:
            self._conn.terminate()
            self._conn = None

    async def _check(self) -> None:
        """Check the table and its columns before the first row is read."""
        rows = await self._conn.fetch(COLUMNS, self._texts.table)
        if not rows:
            wanted = "must be a table that exists and that this user can see"
            raise InvalidInput("table", self._spec.table, wanted)
        types = {row[0]: row[1] for row in rows}
        for name in ("id", "body", "type", "subject", "time", "mark"):
            column = getattr(self._spec.columns, name)
            if column is not None and column not in types:
                option = f"{'data' if name == 'body' else name}_column"
                raise InvalidInput(option, column, f"must be a column of {self._spec.table}")
        if self._spec.after != "keep":
            return
        if types[self._spec.columns.id] not in INTEGER_TYPES:
            wanted = 'must be an integer column with after = "keep"; else use "mark" or "delete"'
            raise InvalidInput("id_column", self._spec.columns.id, wanted)
        if rows[0][2]:
            raise InvalidInput("url", "***", "must point to the primary server, not to a replica")

    async def _read_kept(self, most: int) -> Batch:
        safe = await self._safe_up_to()
        # If too many rows are remembered, read only rows that move the position.
        last = HIGHEST_ID if len(self._ahead) < ROWS_AHEAD_MAX else max(safe, self._ceiling)
        rows = await self._conn.fetch(
            self._texts.behind, self._ceiling, last, list(self._ahead), most
        )
        self._batch = [row[0] for row in rows]
        reached = max(self._ceiling, safe if len(rows) < most else min(safe, self._batch[-1]))
        if not rows and reached == self._ceiling:
            return EMPTY_BATCH
        return Batch(messages=[self._message(row) for row in rows], position=str(reached))

    async def _safe_up_to(self) -> int:
        """The highest id known to be safe: no lower id can appear any more. Rows are read after
        this, so they include the most recently committed ones.
        """
        if self._barrier is None:
            top = await self._conn.fetchval(self._texts.top)
            if top is None or top <= self._ceiling:
                return self._ceiling
            self._barrier = Barrier(top, await self._writers())
        else:
            left = self._barrier.writers & await self._writers()
            self._barrier = Barrier(self._barrier.top, left)
        if self._barrier.writers:
            return self._ceiling
        top, self._barrier = self._barrier.top, None
        return top

    async def _writers(self) -> frozenset[str]:
        return frozenset(row[0] for row in await self._conn.fetch(WRITERS, self._texts.table))

    def _message(self, row: Any) -> Message:
        key, kind, subject, time, body = row
        return Message(
            id=str(key),
            body=body if isinstance(body, bytes) or body is None else str(body),
            type=None if kind is None else str(kind),
            subject=None if subject is None else str(subject),
            time=to_utc(time),
        )


def to_utc(time: object) -> datetime | None:
    """The time, in UTC if it has no zone; None if the value is not a timestamp."""
    if not isinstance(time, datetime):
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time
