"""The same request twice has one effect and one answer (I1; semantics 9)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest
from tests.support.world import World

from rota.core.errors import Conflict, InvalidInput, KeyReused
from rota.store import idempotency
from rota.store.idempotency import IdempotentRequest, StoredResponse
from rota.store.transaction import transaction

ASKED = IdempotentRequest(tenant_id=1, scope="key POST /v1/jobs", key="k1", fingerprint=bytes(32))
OTHER_BODY = replace(ASKED, fingerprint=bytes([1] * 32))


async def carried_out(
    conn, asked: IdempotentRequest = ASKED, *, body: bytes = b"{}"
) -> StoredResponse | None:
    async with transaction(conn):
        before = await idempotency.begin_request(conn, asked)
        if before is None:
            await idempotency.finish_request(conn, asked, status=201, body=body)
    return before


@pytest.fixture
async def other(database: str, world: World) -> AsyncIterator[asyncpg.Connection]:
    conn = await asyncpg.connect(database)
    await World(conn).begin()
    yield conn
    await conn.close()


async def test_a_repeated_request_gets_the_first_answer(world: World) -> None:
    first = await carried_out(world.conn, body=b'{"n": 1}')
    second = await carried_out(world.conn, body=b'{"n": 2}')
    third = await carried_out(world.conn, body=b'{"n": 3}')

    assert first is None
    assert second == third == StoredResponse(201, b'{"n": 1}')


@pytest.mark.parametrize(
    "asked",
    [
        replace(ASKED, tenant_id=2),
        replace(ASKED, scope="key POST /v1/keys"),
        replace(ASKED, key="k2"),
        replace(OTHER_BODY, tenant_id=2),
    ],
)
async def test_a_key_counts_within_its_tenant_and_scope(
    world: World, asked: IdempotentRequest
) -> None:
    await carried_out(world.conn)

    assert await carried_out(world.conn, asked) is None


async def test_the_same_key_with_another_request_is_refused(world: World) -> None:
    await carried_out(world.conn)

    with pytest.raises(KeyReused, match="'k1' is invalid"):
        await carried_out(world.conn, OTHER_BODY)

    assert await carried_out(world.conn) == StoredResponse(201, b"{}")


async def test_a_request_that_failed_may_be_tried_again(world: World) -> None:
    async def fail() -> None:
        async with transaction(world.conn):
            await idempotency.begin_request(world.conn, ASKED)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()

    assert await carried_out(world.conn, OTHER_BODY) is None


async def test_whoever_comes_while_it_is_carried_out_waits_for_the_answer(
    world: World, other: asyncpg.Connection
) -> None:
    async with transaction(world.conn):
        await idempotency.begin_request(world.conn, ASKED)
        waiting = asyncio.create_task(carried_out(other))
        await until_it_waits(world)
        await idempotency.finish_request(world.conn, ASKED, status=200, body=b"done")

    assert await waiting == StoredResponse(200, b"done")


async def test_whoever_waits_for_one_that_fails_carries_it_out(
    world: World, other: asyncpg.Connection
) -> None:
    waiting: list[asyncio.Task[StoredResponse | None]] = []

    async def fail() -> None:
        async with transaction(world.conn):
            await idempotency.begin_request(world.conn, ASKED)
            waiting.append(asyncio.create_task(carried_out(other, OTHER_BODY)))
            await until_it_waits(world)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()

    assert await waiting[0] is None


async def test_whoever_waits_for_too_long_is_told_to_come_back(
    world: World, other: asyncpg.Connection
) -> None:
    async with transaction(world.conn):
        await idempotency.begin_request(world.conn, ASKED)

        with pytest.raises(Conflict) as caught:
            await carried_out(other)

        await idempotency.finish_request(world.conn, ASKED, status=200, body=b"done")
    assert caught.value.retry_after == 1.0
    assert await carried_out(other) == StoredResponse(200, b"done")


async def test_the_patience_for_a_key_ends_with_the_key(world: World) -> None:
    """What the request itself does waits as long as everything else on this connection."""
    await world.conn.execute("set lock_timeout = '7s'")

    async with transaction(world.conn):
        await idempotency.begin_request(world.conn, ASKED)
        during = await world.conn.fetchval("show lock_timeout")
        await idempotency.finish_request(world.conn, ASKED, status=200, body=b"")
    await carried_out(world.conn)

    assert during == "7s"
    assert await world.conn.fetchval("show lock_timeout") == "7s"


async def test_of_many_at_once_one_carries_it_out(world: World, database: str) -> None:
    conns = [await asyncpg.connect(database) for _ in range(10)]

    answers = await asyncio.gather(*(carried_out(conn, body=b"once") for conn in conns))

    assert answers.count(None) == 1
    assert answers.count(StoredResponse(201, b"once")) == 9
    for conn in conns:
        await conn.close()


async def test_a_key_that_is_too_old_counts_as_new(world: World) -> None:
    await carried_out(world.conn)

    await world.advance(hours=24, seconds=-1)
    just_before = await carried_out(world.conn)
    await world.advance(seconds=1)
    after = await carried_out(world.conn, OTHER_BODY, body=b"new")

    assert just_before == StoredResponse(201, b"{}")
    assert after is None
    assert await carried_out(world.conn, OTHER_BODY) == StoredResponse(201, b"new")


async def test_an_answer_is_kept_once_and_only_for_what_was_begun(world: World) -> None:
    with pytest.raises(Conflict, match="not begun"):
        await idempotency.finish_request(world.conn, ASKED, status=200, body=b"")
    await carried_out(world.conn)

    with pytest.raises(Conflict, match="not begun"):
        await idempotency.finish_request(world.conn, ASKED, status=500, body=b"again")

    assert await carried_out(world.conn) == StoredResponse(201, b"{}")


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\t", "line\n", "é", "\x00", "\x7f"])
def test_a_malformed_key_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput, match="printable ASCII"):
        replace(ASKED, key=key)


async def test_old_keys_are_pruned(world: World) -> None:
    await carried_out(world.conn)
    await world.advance(hours=25)
    await carried_out(world.conn, replace(ASKED, key="k2"))

    assert await idempotency.prune_keys(world.conn, keep=timedelta(hours=24), limit=10) == 1


async def until_it_waits(world: World) -> None:
    """Look until somebody waits for our transaction; each look is a round trip."""
    async with asyncio.timeout(10):
        while not await world.conn.fetchval(
            "select exists (select 1 from pg_locks where not granted)"
        ):
            pass
