"""Creates and parses API keys, and computes the digest that is stored.

    rota_<8-character handle>_<43-character secret>_<6-character checksum>

The secret is 256 random bits in base 62, so a fast hash of it is safe to store; Rota stores nothing
else of it. The handle, derived from a hash of the bits, is shown in lists and identifies a leaked
key. With the checksum, Rota rejects a mistyped or truncated key without a query, and secret
scanners recognize a key in source code. store/keys.py decides whether a key is valid now.
"""

import re
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Final
from zlib import crc32

from rota.core.errors import InvalidInput, Unauthenticated

KEY_BITS: Final = 256
HANDLE_LENGTH: Final = 8
SECRET_LENGTH: Final = 43
CHECKSUM_LENGTH: Final = 6
KEY_PREFIX: Final = "rota"
# The exact length of a key; text of another length is not parsed.
KEY_LENGTH: Final = len(KEY_PREFIX) + HANDLE_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH + 3
_DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SHAPE: Final = re.compile(
    rf"{KEY_PREFIX}_([0-9A-Za-z]{{{HANDLE_LENGTH}}})_([0-9A-Za-z]{{{SECRET_LENGTH}}})_([0-9A-Za-z]{{{CHECKSUM_LENGTH}}})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """The stored parts of a key; it is looked up by its digest."""

    handle: str
    digest: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApiKey(ApiKey):
    """A new key; its text is shown once and never stored."""

    text: str = field(repr=False)


def create_key(bits: bytes) -> NewApiKey:
    """Create a key from 256 random bits."""
    if len(bits) * 8 != KEY_BITS:
        raise InvalidInput("bits", len(bits) * 8, f"expected {KEY_BITS} random bits")
    secret = _base62(int.from_bytes(bits, "big"), SECRET_LENGTH)
    number = int.from_bytes(blake2b(bits, digest_size=16, person=b"rota handle").digest(), "big")
    handle = _base62(number % 62**HANDLE_LENGTH, HANDLE_LENGTH)
    body = f"{KEY_PREFIX}_{handle}_{secret}"
    return NewApiKey(handle=handle, digest=_digest(secret), text=f"{body}_{_checksum(body)}")


def parse_key(text: str) -> ApiKey:
    """Parse a key; raise `Unauthenticated` if it is malformed.

    This function compares only parts that are not secret. The secret itself is compared by its
    digest, in an index, which tells an attacker nothing about the secret.
    """
    found = _SHAPE.fullmatch(text) if len(text) == KEY_LENGTH else None
    if found is None:
        raise Unauthenticated("the API key is malformed")
    handle, secret, checksum = found.groups()
    if _checksum(f"{KEY_PREFIX}_{handle}_{secret}") != checksum:
        raise Unauthenticated("the checksum of the API key is wrong: it was mistyped or truncated")
    return ApiKey(handle=handle, digest=_digest(secret))


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def _checksum(body: str) -> str:
    return _base62(crc32(body.encode()), CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
