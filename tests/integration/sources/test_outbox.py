"""Rows of an outbox are taken once, however late their transactions commit (S7)."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from tests.support.event_places import Table

from rota.core.errors import InvalidInput
from rota.core.source import Batch, Source
from rota.sources.outbox import make

SOON = timedelta(milliseconds=10)


@asynccontextmanager
async def reading(table: Table, position: str | None = None) -> AsyncIterator[Source]:
    source = make(table.options())
    try:
        await source.open(position)
        yield source
    finally:
        await source.close()


@asynccontextmanager
async def writing(table: Table) -> AsyncIterator[Any]:
    """Another program, with a transaction of its own."""
    conn = await asyncpg.connect(table.url)
    try:
        yield conn
    finally:
        await conn.close()


async def next_batch(source: Source) -> Batch:
    """Read and acknowledge."""
    batch = await source.read(limit=10, within=SOON)
    if batch.position is not None:
        await source.acknowledge(batch.position)
    return batch


def bodies(*batches: Batch) -> list[str]:
    return [message.body for batch in batches for message in batch.messages]


@pytest.mark.parametrize(
    "more",
    [{}, {"after": "delete"}, {"after": "mark", "mark_column": "taken_at"}],
    ids=["keep", "delete", "mark"],
)
async def test_a_lower_id_that_commits_later_is_not_passed_over(
    postgres_table: Table, more: dict[str, str]
) -> None:
    table = Table(postgres_table.url, more, postgres_table.name)
    insert = f"insert into {table.name} (body) values ($1)"
    async with writing(table) as slow, reading(table) as source:
        transaction = slow.transaction()
        await transaction.start()
        await slow.execute(insert, "first drawn, last seen")
        await table.put("second")

        before = await next_batch(source)
        nothing = await next_batch(source)
        await transaction.commit()
        after = await next_batch(source)

    # What could be seen was not held up by what could not.
    assert bodies(before) == ["second"]
    assert bodies(nothing) == []
    assert bodies(after) == ["first drawn, last seen"]


async def test_a_reader_that_starts_anew_still_finds_the_row_that_commits_late(
    postgres_table: Table,
) -> None:
    table, position = postgres_table, None
    async with writing(table) as slow:
        transaction = slow.transaction()
        await transaction.start()
        await slow.execute(f"insert into {table.name} (body) values ('late')")
        await table.put("early")
        async with reading(table) as source:
            for _ in range(3):
                batch = await next_batch(source)
                position = batch.position or position

        await transaction.commit()
        async with reading(table, position) as source:
            found = await next_batch(source)

    assert "late" in bodies(found)


async def test_an_id_that_was_rolled_back_does_not_stop_the_position(
    postgres_table: Table,
) -> None:
    table = postgres_table
    async with writing(table) as other, reading(table) as source:
        transaction = other.transaction()
        await transaction.start()
        await other.execute(f"insert into {table.name} (body) values ('never')")
        await table.put("a")
        await next_batch(source)

        await transaction.rollback()
        batch = await next_batch(source)

    assert batch.messages == []
    assert batch.position == "2"


async def test_no_row_of_many_writers_is_lost_or_read_twice(postgres_table: Table) -> None:
    """Twelve programs write at once, each holding its transactions open for a while; a reader is
    replaced now and then, and goes on from the position that was kept.
    """
    table, chance = postgres_table, random.Random(7)
    written = [f"{writer}.{row}" for writer in range(12) for row in range(15)]
    holds = {name: chance.choice((0, 0, 0.002, 0.02)) for name in written}

    async def write(writer: int) -> None:
        async with writing(table) as conn:
            for name in (each for each in written if each.startswith(f"{writer}.")):
                async with conn.transaction():
                    await conn.execute(f"insert into {table.name} (body) values ($1)", name)
                    await conn.execute("select pg_sleep($1)", holds[name])

    found: dict[str, str] = {}
    position: str | None = None
    writers = [asyncio.create_task(write(writer)) for writer in range(12)]
    while len(found) < len(written) or not all(each.done() for each in writers):
        async with reading(table, position) as source:
            seen: list[str] = []
            for _ in range(10):
                batch = await source.read(limit=7, within=SOON)
                if batch.position is not None:
                    await source.acknowledge(batch.position)
                    position = batch.position
                seen += [message.id for message in batch.messages]
                found |= {message.id: message.body for message in batch.messages}
            assert len(seen) == len(set(seen)), "one reader reads a row once"
        if all(each.done() for each in writers) and not seen:
            break
    await asyncio.gather(*writers)

    assert sorted(found.values()) == sorted(written)


async def test_rows_are_deleted_or_marked_once_they_are_taken_and_not_before(
    postgres_table: Table,
) -> None:
    marked = Table(
        postgres_table.url, {"after": "mark", "mark_column": "taken_at"}, postgres_table.name
    )
    emptied = Table(postgres_table.url, {"after": "delete"}, postgres_table.name)
    left = f"select count(*), count(taken_at) from {marked.name}"
    await marked.put("a", "b")

    async with reading(marked) as source:
        batch = await source.read(limit=10, within=SOON)
        ((count, marks),) = await marked.run(left)
        assert (count, marks) == (2, 0)
        await source.acknowledge(batch.position or "")
    ((count, marks),) = await marked.run(left)
    assert (count, marks) == (2, 2)

    async with reading(emptied) as source:
        await next_batch(source)
    ((count, _),) = await emptied.run(left)
    assert count == 0


async def test_columns_tell_type_subject_and_time_and_a_whole_row_is_data(
    postgres_table: Table,
) -> None:
    columns = {"type_column": "kind", "subject_column": "body", "time_column": "at"}
    options = {"url": postgres_table.url, "table": f"public.{postgres_table.name}", **columns}
    await postgres_table.run(
        f"insert into {postgres_table.name} (body, kind) values ('x', 'order.paid')"
    )

    source = make(options)
    await source.open(None)
    ((message,), _) = (await source.read(limit=1, within=SOON)).messages, None
    await source.close()

    assert (message.type, message.subject, message.id) == ("order.paid", "x", "1")
    assert message.time is not None
    assert '"kind": "order.paid"' in message.body


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"table": "nowhere"}, "table"),
        ({"data_column": "nothing"}, "data_column"),
        ({"id_column": "body"}, "id_column"),
    ],
)
async def test_what_is_not_there_is_said_when_it_is_opened(
    postgres_table: Table, options: dict[str, str], field: str
) -> None:
    source = make({**postgres_table.options(), **options})

    with pytest.raises(InvalidInput) as refusal:
        await source.open(None)

    await source.close()
    assert refusal.value.field == field


async def test_a_name_with_quotes_reaches_no_other_statement(postgres_table: Table) -> None:
    table = f'x"; drop table {postgres_table.name}; --'
    source = make({**postgres_table.options(), "table": table})

    with pytest.raises(InvalidInput):
        await source.open(None)

    await source.close()
    assert await postgres_table.run(f"select count(*) from {postgres_table.name}")
