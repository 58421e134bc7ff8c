"""Inserts one-time submissions and moves due ones into the hot table.

A submission is one row: in live_runs if it is due now, otherwise in scheduled_runs until a
scheduler that holds its shard moves it (docs/adr/0044-submissions.md). All rows of one call belong
to one tenant. submission_views.py reads submissions.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from rota.core.lease import compute_shard_of_hex
from rota.core.outcome import Guarantee
from rota.store.array_literals import encode_integers, encode_texts, encode_times
from rota.store.cursors import ShardOwnership
from rota.store.driver import Connection
from rota.store.statement import NoRow, statement


class SubmissionModel(NamedTuple):
    """What the submissions of a batch share. `submitter` is the actor, `address` the client's."""

    queue_id: int
    kind_id: int
    policy_id: int
    priority: int
    guarantee: Guarantee
    deadline: timedelta | None
    submitter: str | None
    address: str | None


class NewSubmissions(NamedTuple):
    """Submissions to insert, by column. Ids as hex, JSON as text, `gates` as PostgreSQL arrays. A
    column of nulls may be empty; a single model applies to all rows.
    """

    ids: Sequence[str]
    due_ats: Sequence[datetime]
    models: Sequence[SubmissionModel]
    names: Sequence[str | None] = ()
    payloads: Sequence[str | None] = ()
    labels: Sequence[str | None] = ()
    user_ids: Sequence[str | None] = ()
    gates: Sequence[str | None] = ()


class DueShard(NamedTuple):
    shard: int
    due_at: datetime


class MovedSubmissions(NamedTuple):
    """The created runs, the shard and queue of each, when the first of them was due, and when the
    next submission of each shard that is still held is due.
    """

    ids: list[UUID] | None
    of_shards: list[int] | None
    queue_ids: list[int] | None
    first_due_at: datetime | None
    shards: list[int] | None
    next_due_ats: list[datetime | None] | None


class OverdueCount(NamedTuple):
    number: int


ROW_COLUMNS: Final = ("names", "payloads", "labels", "user_ids", "gates")

INSERT_NOW = statement("submissions/insert_now", NoRow)
INSERT_LATER = statement("submissions/insert_later", NoRow)
READ_NEXT_DUE = statement("submissions/next_due", DueShard)
MOVE_DUE = statement("submissions/move_due", MovedSubmissions)
MOVE_OVERDUE = statement("submissions/move_overdue", OverdueCount)


async def insert_now(
    conn: Connection, tenant_id: int, new: NewSubmissions, *, due_at: datetime
) -> None:
    """Insert submissions as runs that are due at `due_at`, which is now."""
    await INSERT_NOW.all(
        conn,
        tenant_id=tenant_id,
        ids=encode_texts(new.ids),
        due_at=due_at,
        **_shared(new.models),
        **_own(new),
    )


async def insert_later(conn: Connection, tenant_id: int, new: NewSubmissions) -> None:
    """Insert submissions that wait for their due time."""
    await INSERT_LATER.all(
        conn,
        tenant_id=tenant_id,
        ids=encode_texts(new.ids),
        shards=encode_integers(list(map(compute_shard_of_hex, new.ids))),
        due_ats=encode_times(new.due_ats),
        **_shared(new.models),
        **_own(new),
    )


async def read_next_due(conn: Connection, *, shards: Sequence[int]) -> list[DueShard]:
    """Return when the next submission of each shard is due; a shard without any is left out."""
    return await READ_NEXT_DUE.all(conn, shards=shards)


async def move_due(
    conn: Connection,
    ownership: ShardOwnership,
    shards: Sequence[int],
    *,
    per_shard: int,
    ahead: timedelta = timedelta(0),
) -> MovedSubmissions:
    """Create runs of the submissions that are due, or will be within `ahead`, at most `per_shard`
    of each shard.
    """
    epochs = ownership.epochs
    held = [shard for shard in shards if shard in epochs]
    row = await MOVE_DUE.one(
        conn,
        owner=ownership.owner,
        shards=held,
        epochs=[epochs[shard] for shard in held],
        per_shard=per_shard,
        ahead=ahead,
    )
    return row or MovedSubmissions(None, None, None, None, None, None)


async def move_overdue(conn: Connection, *, late: timedelta, limit: int) -> int:
    """Create runs of submissions of any shard that are overdue by more than `late`; return how
    many.
    """
    row = await MOVE_OVERDUE.one(conn, late=late, most=limit)
    return 0 if row is None else row.number


def _shared(models: Sequence[SubmissionModel]) -> dict[str, Any]:
    """Return the columns of the models, and the model of each row: empty if there is only one."""
    positions: dict[int, int] = {}
    numbers = [positions.setdefault(id(model), len(positions) + 1) for model in models]
    distinct = {id(model): model for model in models}.values()
    queue_ids, kind_ids, policy_ids, priorities, guarantees, deadlines, submitters, addresses = zip(
        *distinct, strict=True
    )
    return {
        "models": [] if len(positions) == 1 else numbers,
        "queue_ids": queue_ids,
        "kind_ids": kind_ids,
        "policy_ids": policy_ids,
        "priorities": priorities,
        "guarantees": guarantees,
        "deadlines": deadlines,
        "submitters": submitters,
        "addresses": addresses,
    }


def _own(new: NewSubmissions) -> dict[str, Any]:
    """Return the columns that differ by row. A column without any value is sent empty: unnest fills
    it with nulls, which costs less than encoding them.
    """
    columns = {name: getattr(new, name) for name in ROW_COLUMNS}
    return {
        name: encode_texts(column if any(value is not None for value in column) else ())
        for name, column in columns.items()
    }
