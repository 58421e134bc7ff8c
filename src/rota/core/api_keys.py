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

BITS: Final = 256
HANDLE: Final = 8
SECRET: Final = 43
CHECKSUM: Final = 6
PREFIX: Final = "rota"
# The exact length of a key; text of another length is not parsed.
LENGTH: Final = len(PREFIX) + HANDLE + SECRET + CHECKSUM + 3
_DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SHAPE: Final = re.compile(
    rf"{PREFIX}_([0-9A-Za-z]{{{HANDLE}}})_([0-9A-Za-z]{{{SECRET}}})_([0-9A-Za-z]{{{CHECKSUM}}})"
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


def make(bits: bytes) -> NewApiKey:
    """Create a key from 256 random bits."""
    if len(bits) * 8 != BITS:
        raise InvalidInput("bits", len(bits) * 8, f"expected {BITS} random bits")
    secret = _base62(int.from_bytes(bits, "big"), SECRET)
    number = int.from_bytes(blake2b(bits, digest_size=16, person=b"rota handle").digest(), "big")
    handle = _base62(number % 62**HANDLE, HANDLE)
    body = f"{PREFIX}_{handle}_{secret}"
    return NewApiKey(handle=handle, digest=_digest(secret), text=f"{body}_{_checksum(body)}")


def parse(text: str) -> ApiKey:
    """Parse a key; raise `Unauthenticated` if it is malformed.

    This function compares only parts that are not secret. The secret itself is compared by its
    digest, in an index, which tells an attacker nothing about the secret.
    """
    found = _SHAPE.fullmatch(text) if len(text) == LENGTH else None
    if found is None:
        raise Unauthenticated("the API key is malformed")
    handle, secret, checksum = found.groups()
    if _checksum(f"{PREFIX}_{handle}_{secret}") != checksum:
        raise Unauthenticated("the checksum of the API key is wrong: it was mistyped or truncated")
    return ApiKey(handle=handle, digest=_digest(secret))


def digest_of(text: str) -> bytes:
    """Return the digest of a key; raise `Unauthenticated` if the text is malformed."""
    return parse(text).digest


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def _checksum(body: str) -> str:
    return _base62(crc32(body.encode()), CHECKSUM)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
