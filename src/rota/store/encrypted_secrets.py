"""Stores encrypted secrets: written and listed by tenants, decrypted only for a worker.

Secrets are encrypted (core/secret_encryption.py) with the tenant, the name and the version bound to
them. The role of row-level security may write a secret but cannot read one. The table is `secrets`;
the module has another name because the standard library has a module of that name.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from rota.core.errors import Conflict, InvalidInput, NotFound, SecretsUnavailable
from rota.core.secret_encryption import (
    SecretIdentity,
    decrypt_secret,
    derive_key_id,
    encrypt_secret,
)
from rota.core.secret_masking import MASKED_BYTES_MIN
from rota.core.submissions import check_visible_name
from rota.store import tenant_locks, tenants
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import join_transaction

SECRET_MAX_BYTES: Final = 65_536


class SecretRow(NamedTuple):
    """What the API shows of a secret."""

    name: str
    version: int
    updated_at: datetime


class SecretVersion(NamedTuple):
    version: int


class SecretCount(NamedTuple):
    number: int


class EncryptedSecret(NamedTuple):
    name: str
    version: int
    key_id: str
    ciphertext: bytes


LOCK = statement("secrets/lock", SecretVersion)
PUT = statement("secrets/put", SecretRow)
COUNT = statement("secrets/count", SecretCount)
PAGE = statement("secrets/page", SecretRow)
DELETE = statement("secrets/delete", SecretRow)
READ = statement("secrets/read", EncryptedSecret)
NAMED = statement("secrets/find_names", SecretRow)


async def put_secret(
    conn: Connection, *, tenant_id: int, name: str, value: bytes, master: bytes, nonce: bytes
) -> SecretRow:
    """Store a secret, or its next version. `nonce` is 12 random bytes."""
    name = check_visible_name(name, "name")
    if len(value) < MASKED_BYTES_MIN:
        wanted = (
            f"must have at least {MASKED_BYTES_MIN} bytes; a shorter one cannot be masked in logs"
        )
        raise InvalidInput("value", f"{len(value)} bytes", wanted)
    if len(value) > SECRET_MAX_BYTES:
        raise InvalidInput(
            "value", f"{len(value)} bytes", f"must have at most {SECRET_MAX_BYTES} bytes"
        )
    if b"\0" in value:
        wanted = "must not contain NUL, which no environment variable can hold"
        raise InvalidInput("value", f"{len(value)} bytes with a NUL", wanted)
    async with join_transaction(conn):
        # Serialized for the count and for the version, which is part of the encryption.
        await tenant_locks.lock_resource(conn, tenant_id=tenant_id, resource="secrets")
        version = await _next_version(conn, tenant_id, name)
        place = SecretIdentity(tenant_id=tenant_id, name=name, version=version)
        row = await PUT.one(
            conn,
            tenant_id=tenant_id,
            name=name,
            version=version,
            key_id=derive_key_id(master),
            ciphertext=encrypt_secret(master, place, value, nonce=nonce),
        )
    if row is None:
        raise Conflict("secret", "another request is writing it; retry", retry_after=1.0)
    return row


async def list_secrets(
    conn: Connection, *, tenant_id: int, after: str = "", limit: int = 50
) -> list[SecretRow]:
    """Return the names of secrets, starting after `after`."""
    return await PAGE.all(conn, tenant_id=tenant_id, after=after, most=limit)


async def delete_secret(conn: Connection, *, tenant_id: int, name: str) -> None:
    if await DELETE.one(conn, tenant_id=tenant_id, name=name) is None:
        raise NotFound("secret", name)


async def find_unknown_names(
    conn: Connection, *, tenant_id: int, names: Iterable[str]
) -> list[str]:
    """Return the names for which no secret exists."""
    wanted = set(names)
    found = await NAMED.all(conn, tenant_id=tenant_id, names=sorted(wanted))
    return sorted(wanted - {row.name for row in found})


async def decrypt_for_worker(
    conn: Connection, *, tenant_id: int, names: Sequence[str], master: bytes
) -> dict[str, str]:
    """Return the values of the existing ones of these secrets, for an attempt that is about to
    start. Only workers call this.
    """
    rows = await READ.all(conn, tenant_id=tenant_id, names=names)
    return {row.name: _decrypt(tenant_id, row, master) for row in rows}


def _decrypt(tenant_id: int, row: EncryptedSecret, master: bytes) -> str:
    if row.key_id != derive_key_id(master):
        raise SecretsUnavailable(
            reason=f"{row.name!r} was encrypted with another master key",
            remedy=f"configure the master key with the id {row.key_id}, or set the secret again",
        )
    place = SecretIdentity(tenant_id=tenant_id, name=row.name, version=row.version)
    return decrypt_secret(master, place, row.ciphertext).decode()


async def _next_version(conn: Connection, tenant_id: int, name: str) -> int:
    present = await LOCK.one(conn, tenant_id=tenant_id, name=name)
    if present is not None:
        return present.version + 1
    count = await COUNT.one(conn, tenant_id=tenant_id)
    existing = 0 if count is None else count.number
    await tenants.check_quota(conn, tenant_id=tenant_id, quota="max_secrets", existing=existing)
    return 1
