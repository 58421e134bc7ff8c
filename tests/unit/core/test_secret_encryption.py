"""Sealed secrets open with their key in their place, and nowhere else (reliability 5.6)."""

import sys
from dataclasses import replace

import pytest

from rota.core.errors import InvalidInput, SecretsUnavailable
from rota.core.secret_encryption import (
    SecretIdentity,
    decrypt_secret,
    derive_key_id,
    encrypt_secret,
)

MASTER = bytes(range(32))
OTHER = bytes(32)
NONCE = b"0123456789ab"
PLACE = SecretIdentity(tenant_id=1, name="db|password", version=2)


@pytest.fixture(autouse=True)
def library() -> None:
    pytest.importorskip("cryptography")


@pytest.mark.parametrize("value", [b"", b"x", b"\x00\xff" * 30_000])
def test_what_was_sealed_opens_again(value: bytes) -> None:
    sealed = encrypt_secret(MASTER, PLACE, value, nonce=NONCE)

    assert decrypt_secret(MASTER, PLACE, sealed) == value
    assert len(sealed) == 12 + len(value) + 16


def test_the_sealed_text_does_not_show_the_value() -> None:
    assert b"hunter2" not in encrypt_secret(MASTER, PLACE, b"hunter2 " * 9, nonce=NONCE)


@pytest.mark.parametrize(
    "moved",
    [
        replace(PLACE, tenant_id=2),
        replace(PLACE, name="db"),
        replace(PLACE, version=1),
        SecretIdentity(tenant_id=1, name="db|password|2", version=2),
    ],
)
def test_a_sealed_text_that_was_moved_does_not_open(moved: SecretIdentity) -> None:
    sealed = encrypt_secret(MASTER, PLACE, b"value", nonce=NONCE)

    with pytest.raises(SecretsUnavailable, match="cannot be decrypted with this master key"):
        decrypt_secret(MASTER, moved, sealed)


@pytest.mark.parametrize("place", [0, 11, 12, 16, -1])
def test_a_changed_byte_does_not_open(place: int) -> None:
    sealed = bytearray(encrypt_secret(MASTER, PLACE, b"value", nonce=NONCE))
    sealed[place] ^= 1

    with pytest.raises(SecretsUnavailable):
        decrypt_secret(MASTER, PLACE, bytes(sealed))


@pytest.mark.parametrize("sealed", [b"", b"short", bytes(12), bytes(27)])
def test_what_is_too_short_does_not_open(sealed: bytes) -> None:
    with pytest.raises(SecretsUnavailable):
        decrypt_secret(MASTER, PLACE, sealed)


def test_another_master_key_does_not_open_it_and_has_another_id() -> None:
    with pytest.raises(SecretsUnavailable):
        decrypt_secret(OTHER, PLACE, encrypt_secret(MASTER, PLACE, b"value", nonce=NONCE))

    assert derive_key_id(MASTER) != derive_key_id(OTHER)
    assert MASTER.hex()[:8] not in derive_key_id(MASTER)


@pytest.mark.parametrize("master", [b"", bytes(16), bytes(33)])
def test_a_master_key_of_another_length_is_refused_and_not_shown(master: bytes) -> None:
    with pytest.raises(InvalidInput, match="32 random bytes"):
        encrypt_secret(master, PLACE, b"value", nonce=NONCE)
    with pytest.raises(InvalidInput, match="12 random bytes"):
        encrypt_secret(MASTER, PLACE, b"value", nonce=b"short")


def test_without_the_library_nothing_is_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "cryptography", None)

    with pytest.raises(SecretsUnavailable, match="cryptography is not installed"):
        encrypt_secret(MASTER, PLACE, b"value", nonce=NONCE)
