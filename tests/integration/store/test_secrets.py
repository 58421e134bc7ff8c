"""Secrets are written, listed by name, and opened only with the master key (reliability 5.6)."""

import asyncio

import asyncpg
import pytest
from tests.support.world import World

from rota.core.errors import InvalidInput, NotFound, QuotaExceeded, SecretsUnavailable
from rota.store import encrypted_secrets, tenants
from rota.store.encrypted_secrets import SecretRow

MASTER = bytes(range(32))
NONCE = b"0123456789ab"


@pytest.fixture(autouse=True)
def library() -> None:
    pytest.importorskip("cryptography")


async def put(
    conn, name: str = "db", value: bytes = b"hunter2", *, tenant_id: int = 1
) -> SecretRow:
    return await encrypted_secrets.put_secret(
        conn, tenant_id=tenant_id, name=name, value=value, master=MASTER, nonce=NONCE
    )


async def opened(conn, *, tenant_id: int = 1, master: bytes = MASTER) -> str | None:
    found = await encrypted_secrets.decrypt_for_worker(
        conn, tenant_id=tenant_id, names=["db"], master=master
    )
    return found.get("db")


async def test_a_worker_opens_the_version_that_was_written_last(world: World) -> None:
    first = await put(world.conn, value=b"the first")
    second = await put(world.conn, value=b"the second")

    assert await opened(world.conn) == "the second"
    assert (first.version, second.version) == (1, 2)


async def test_a_list_tells_names_and_versions_and_nothing_else(world: World) -> None:
    for name in ("c", "a", "b"):
        await put(world.conn, name)
    await put(world.conn, "a")

    first = await encrypted_secrets.list_secrets(world.conn, tenant_id=1, limit=2)
    second = await encrypted_secrets.list_secrets(
        world.conn, tenant_id=1, after=first[-1].name, limit=2
    )

    shown = [
        SecretRow("a", 2, world.now),
        SecretRow("b", 1, world.now),
        SecretRow("c", 1, world.now),
    ]
    assert [*first, *second] == shown


async def test_the_table_does_not_hold_the_value(world: World) -> None:
    await put(world.conn)

    kept = await world.conn.fetchrow("select * from rota.secrets")
    assert kept is not None
    assert not any(b"hunter2" in part for part in kept if isinstance(part, bytes))


@pytest.mark.parametrize(
    "moving",
    [
        "update rota.secrets set name = 'db' where name = 'other'",
        "update rota.secrets set name = 'db', version = 2 where name = 'other'",
    ],
)
async def test_a_sealed_text_that_is_moved_to_another_row_does_not_open(
    world: World, moving: str
) -> None:
    await put(world.conn, "other")

    await world.conn.execute(moving)

    with pytest.raises(SecretsUnavailable, match="cannot be decrypted with this master key"):
        await opened(world.conn)


async def test_an_older_text_under_a_newer_version_does_not_open(world: World) -> None:
    await put(world.conn, value=b"the old one")
    old = await world.conn.fetchval("select ciphertext from rota.secrets")
    await put(world.conn, value=b"the new one")

    await world.conn.execute("update rota.secrets set ciphertext = $1", old)

    with pytest.raises(SecretsUnavailable):
        await opened(world.conn)


async def test_another_master_key_is_told_which_one_is_needed(world: World) -> None:
    await put(world.conn)

    with pytest.raises(SecretsUnavailable, match="encrypted with another master key") as caught:
        await opened(world.conn, master=bytes(32))

    assert MASTER.hex() not in str(caught.value)


async def test_another_tenant_has_other_secrets(world: World) -> None:
    other = await tenants.create_tenant(world.conn, name="other")
    await put(world.conn)

    assert await opened(world.conn, tenant_id=other.id) is None
    with pytest.raises(NotFound):
        await encrypted_secrets.delete_secret(world.conn, tenant_id=other.id, name="db")

    await put(world.conn, value=b"theirs", tenant_id=other.id)
    assert await opened(world.conn) == "hunter2"


async def test_a_deleted_secret_is_gone(world: World) -> None:
    await put(world.conn)

    await encrypted_secrets.delete_secret(world.conn, tenant_id=1, name="db")

    assert await encrypted_secrets.list_secrets(world.conn, tenant_id=1) == []
    assert await opened(world.conn) is None
    with pytest.raises(NotFound):
        await encrypted_secrets.delete_secret(world.conn, tenant_id=1, name="db")


async def test_a_secret_has_64_kilobytes_and_no_more(world: World) -> None:
    await put(world.conn, value=b"y" * 65_536)

    with pytest.raises(InvalidInput, match="at most 65536 bytes") as caught:
        await put(world.conn, value=b"x" * 65_537)

    assert "xx" not in str(caught.value)


async def test_a_tenant_has_200_secrets_and_may_still_write_the_ones_it_has(world: World) -> None:
    for number in range(200):
        await put(world.conn, f"s{number}")

    with pytest.raises(QuotaExceeded, match=r"max_secrets exceeded \(limit 200\)"):
        await put(world.conn, "one more")

    assert (await put(world.conn, "s7")).version == 2


async def test_a_value_that_could_not_be_kept_out_of_logs_is_refused(world: World) -> None:
    with pytest.raises(InvalidInput, match="at least 6 bytes") as caught:
        await put(world.conn, value=b"shh!!")

    assert "shh" not in str(caught.value)


async def test_several_secrets_are_opened_at_once_and_those_that_are_not_there_are_left_out(
    world: World,
) -> None:
    await put(world.conn, "a", b"value a")
    await put(world.conn, "b", b"value b")

    found = await encrypted_secrets.decrypt_for_worker(
        world.conn, tenant_id=1, names=["a", "b", "c"], master=MASTER
    )

    assert found == {"a": "value a", "b": "value b"}
    assert await encrypted_secrets.find_unknown_names(
        world.conn, tenant_id=1, names=["a", "c", "b"]
    ) == ["c"]


@pytest.mark.parametrize("name", ["", "a\x00b", "x" * 201])
async def test_a_bad_name_is_refused(world: World, name: str) -> None:
    with pytest.raises(InvalidInput):
        await put(world.conn, name)


async def test_whoever_writes_the_same_secret_at_once_writes_one_version_each(
    world: World, database: str
) -> None:
    conns = [await asyncpg.connect(database) for _ in range(5)]

    written = await asyncio.gather(
        *(put(conn, value=f"value {number}".encode()) for number, conn in enumerate(conns))
    )

    assert sorted(secret.version for secret in written) == [1, 2, 3, 4, 5]
    last = next(number for number, secret in enumerate(written) if secret.version == 5)
    assert await opened(world.conn) == f"value {last}"
    for conn in conns:
        await conn.close()
