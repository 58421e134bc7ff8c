"""API keys: found by their digest while they are valid, and made once where it must be (T2)."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest
from tests.support.world import World

from rota.core import api_keys
from rota.core.access import Principal, Role
from rota.core.api_keys import NewApiKey
from rota.core.errors import InvalidInput, NotFound, QuotaExceeded
from rota.store import keys
from rota.store.interning import find_tenant_ids
from rota.store.keys import KeyRow, NewKey
from rota.store.tenants import create_tenant

DAY = timedelta(days=1)


def text_of(number: int) -> NewApiKey:
    return api_keys.create_key(number.to_bytes(32, "big"))


async def made(world: World, number: int = 1, **given: object) -> KeyRow:
    values: dict[str, object] = {"tenant_id": 1, "name": "deploys", "role": Role.OPERATOR}
    new = NewKey(id=world.new_id(), key=text_of(number), **(values | given))  # type: ignore[arg-type]
    return await keys.create_key(world.conn, new)


async def found(world: World, number: int = 1) -> Principal | None:
    return await keys.find_principal(world.conn, digest=text_of(number).digest)


async def test_a_key_is_found_by_what_its_text_says(world: World) -> None:
    key = await made(world, user_id="u003")

    assert await found(world) == Principal(
        key_id=key.id,
        tenant_id=1,
        tenant="default",
        role=Role.OPERATOR,
        name="deploys",
        user_id="u003",
        expires_at=world.now + 90 * DAY,
    )
    assert await found(world, 2) is None


async def test_an_expired_key_is_not_found_from_its_last_moment_on(world: World) -> None:
    await made(world, lifetime=DAY)

    await world.advance(days=1, seconds=-1)
    just_before = await found(world)
    await world.advance(seconds=1)

    assert just_before is not None
    assert await found(world) is None


async def test_a_revoked_key_is_not_found_and_keeps_its_first_time(world: World) -> None:
    key = await made(world)
    first = await keys.revoke_key(world.conn, tenant_id=1, key_id=key.id)
    await world.advance(minutes=1)

    again = await keys.revoke_key(world.conn, tenant_id=1, key_id=key.id)

    assert await found(world) is None
    assert again.revoked_at == first.revoked_at is not None


async def test_another_tenant_cannot_revoke_or_touch_a_key(world: World) -> None:
    key = await made(world)
    other = await create_tenant(world.conn, name="other")

    with pytest.raises(NotFound):
        await keys.revoke_key(world.conn, tenant_id=other.id, key_id=key.id)

    assert not await keys.record_use(world.conn, tenant_id=other.id, key_id=key.id)
    assert await keys.list_keys(world.conn, tenant_id=other.id) == []
    assert await found(world) is not None


async def test_a_list_comes_in_pages_and_shows_no_digest(world: World) -> None:
    wanted = [(await made(world, number)).id for number in range(1, 6)]

    first = await keys.list_keys(world.conn, tenant_id=1, limit=3)
    second = await keys.list_keys(world.conn, tenant_id=1, after=first[-1].id, limit=3)

    assert [key.id for key in [*first, *second]] == wanted
    assert "digest" not in KeyRow._fields
    assert text_of(1).handle == first[0].handle


async def test_use_is_noted_once_a_minute(world: World) -> None:
    key = await made(world)

    noted = [await keys.record_use(world.conn, tenant_id=1, key_id=key.id)]
    await world.advance(seconds=59)
    noted.append(await keys.record_use(world.conn, tenant_id=1, key_id=key.id))
    await world.advance(seconds=1)
    noted.append(await keys.record_use(world.conn, tenant_id=1, key_id=key.id))

    assert noted == [True, False, True]
    (shown,) = await keys.list_keys(world.conn, tenant_id=1)
    assert shown.used_at == world.now


async def test_a_tenant_has_a_hundred_valid_keys_and_no_more(world: World) -> None:
    """Revoked and expired ones do not count (reliability 5.9)."""
    for number in range(99):
        await made(world, number + 1)
    last = await made(world, 100, lifetime=DAY)

    with pytest.raises(QuotaExceeded, match=r"max_keys exceeded \(limit 100\)"):
        await made(world, 101)
    await keys.revoke_key(world.conn, tenant_id=1, key_id=last.id)
    await made(world, 102, lifetime=DAY)
    await world.advance(days=2)
    await made(world, 103)

    assert await keys.count_valid_keys(world.conn, tenant_id=1) == 100


async def test_the_limit_holds_for_many_who_ask_at_once(world: World, database: str) -> None:
    for number in range(98):
        await made(world, number + 1)
    conns = [await asyncpg.connect(database) for _ in range(6)]
    news = [
        NewKey(
            id=world.new_id(), tenant_id=1, name="k", role=Role.VIEWER, key=text_of(200 + number)
        )
        for number in range(6)
    ]
    await world.conn.execute("update rota.api_keys set expires_at = null")

    results = await asyncio.gather(
        *(keys.create_key(conn, new) for conn, new in zip(conns, news, strict=True)),
        return_exceptions=True,
    )

    assert sum(isinstance(result, KeyRow) for result in results) == 2
    assert sum(isinstance(result, QuotaExceeded) for result in results) == 4
    for conn in conns:
        await conn.close()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"user_id": "\x00"}, "user_id"),
        ({"lifetime": timedelta(0)}, "lifetime"),
        ({"lifetime": timedelta(days=367)}, "lifetime"),
        ({"lifetime": timedelta(days=-1)}, "lifetime"),
    ],
)
async def test_a_wrong_key_is_refused(world: World, given: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await made(world, 1, **given)

    assert caught.value.field == field


async def test_the_first_start_makes_a_key_of_the_platform_for_90_days(world: World) -> None:
    text = await keys.ensure_admin_key(world.conn, key_id=world.new_id(), bits=bytes(32))

    assert text is not None
    principal = await keys.find_principal(world.conn, digest=api_keys.parse_key(text).digest)
    assert principal is not None
    assert (principal.role, principal.tenant, principal.expires_at) == (
        Role.PLATFORM,
        "default",
        world.now + timedelta(days=90),
    )


async def test_the_second_start_makes_none_while_the_first_key_is_valid(world: World) -> None:
    first_id = world.new_id()
    await keys.ensure_admin_key(world.conn, key_id=first_id, bits=bytes(32))

    second = await keys.ensure_admin_key(world.conn, key_id=world.new_id(), bits=bytes([1] * 32))
    await keys.revoke_key(world.conn, tenant_id=1, key_id=first_id)
    third = await keys.ensure_admin_key(world.conn, key_id=world.new_id(), bits=bytes([2] * 32))

    assert second is None
    assert third is not None


async def test_of_many_first_starts_at_once_one_makes_the_key(world: World, database: str) -> None:
    conns = [await asyncpg.connect(database) for _ in range(8)]
    ids = [world.new_id() for _ in conns]

    texts = await asyncio.gather(
        *(
            keys.ensure_admin_key(conn, key_id=id_, bits=bytes([number] * 32))
            for number, (conn, id_) in enumerate(zip(conns, ids, strict=True))
        )
    )

    assert len([text for text in texts if text is not None]) == 1
    assert await world.count("api_keys") == 1
    for conn in conns:
        await conn.close()


async def test_the_table_holds_neither_the_text_nor_the_secret_of_a_key(world: World) -> None:
    text = await keys.ensure_admin_key(world.conn, key_id=world.new_id(), bits=bytes(range(32)))

    assert text is not None
    kept = str(await world.conn.fetch("select k::text from rota.api_keys as k"))
    assert text not in kept
    assert text.split("_")[2] not in kept
    assert (await find_tenant_ids(world.conn, ["default"]))["default"] == 1
