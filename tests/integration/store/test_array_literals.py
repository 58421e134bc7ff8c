"""What is sent as an array literal arrives as it was."""

from datetime import UTC, datetime, timedelta, timezone

import asyncpg
import pytest
from tests.support.world import World

from rota.store.array_literals import encode_integers, encode_texts, encode_times

TEXTS: list[list[str | None]] = [
    [],
    ["a"],
    [""],
    [None],
    ["", ""],
    ["null", "NULL", None, "{", "}", ",", '"', "\\", '\\"', "\\\\", " ", "\n\t", "é", "日本", "😀"],
    ['{"s": "a\\"b", "t": "\\\\"}', "[1,2]", "null"],
    ['","', '"', "\\"],
]


@pytest.mark.parametrize("texts", TEXTS, ids=str)
async def test_texts_arrive_as_they_were(world: World, texts: list[str | None]) -> None:
    assert await world.conn.fetchval("select $1::text::text[]", encode_texts(texts)) == texts


async def test_a_text_that_postgresql_cannot_hold_is_refused_and_stays_one_value(
    world: World,
) -> None:
    with pytest.raises(asyncpg.PostgresError, match="0x00"):
        await world.conn.fetchval("select $1::text::text[]", encode_texts(["a\x00b", "c"]))


async def test_numbers_and_times_arrive_as_they_were(world: World) -> None:
    numbers = [0, -1, 32767]
    times = [
        datetime(2030, 1, 1, tzinfo=UTC),
        datetime(2030, 1, 1, 12, 30, 15, 123456, tzinfo=timezone(timedelta(hours=-5, minutes=-30))),
    ]

    assert await world.conn.fetchval("select $1::text::int[]", encode_integers(numbers)) == numbers
    found = await world.conn.fetchval("select $1::text::timestamptz[]", encode_times(times))
    assert found == times
