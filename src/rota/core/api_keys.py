"""The text of an API key, and what is kept of it. Room: core.

    rota_<8-character handle>_<43-character secret>_<6-character checksum>

The secret is 256 random bits in base 62, so a fast hash of it is safe to keep and nothing else is.
The handle is shown in lists, and tells which key leaked; it is drawn from a hash of the bits. The
checksum lets a mistyped or cut key be refused without asking the database, and lets scanners of
source code tell a key from noise. Whether a key is valid now is store/keys.py.
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
# Longer than any key: what is longer is not even looked at.
LENGTH: Final = len(PREFIX) + HANDLE + SECRET + CHECKSUM + 3
_DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SHAPE: Final = re.compile(
    rf"{PREFIX}_([0-9A-Za-z]{{{HANDLE}}})_([0-9A-Za-z]{{{SECRET}}})_([0-9A-Za-z]{{{CHECKSUM}}})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """What is kept of a key, and what it is found by."""

    handle: str
    digest: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApiKey(ApiKey):
    """A key that was just made; its text is shown once and never kept."""

    text: str = field(repr=False)


def make(bits: bytes) -> NewApiKey:
    """The key that 256 random bits give."""
    if len(bits) * 8 != BITS:
        raise InvalidInput("bits", len(bits) * 8, f"{BITS} random bits")
    secret = _base62(int.from_bytes(bits, "big"), SECRET)
    drawn = int.from_bytes(blake2b(bits, digest_size=16, person=b"rota handle").digest(), "big")
    handle = _base62(drawn % 62**HANDLE, HANDLE)
    body = f"{PREFIX}_{handle}_{secret}"
    return NewApiKey(handle=handle, digest=_digest(secret), text=f"{body}_{_checksum(body)}")


def parse(text: str) -> ApiKey:
    """Read a key; `Unauthenticated` if it cannot be one.

    The comparisons here are of parts that are no secret. The secret itself is only ever compared
    by its digest, in an index, which tells an attacker nothing about the secret.
    """
    found = _SHAPE.fullmatch(text) if len(text) == LENGTH else None
    if found is None:
        raise Unauthenticated("it does not have the form of a key")
    handle, secret, checksum = found.groups()
    if _checksum(f"{PREFIX}_{handle}_{secret}") != checksum:
        raise Unauthenticated("its checksum is wrong: it was mistyped or cut")
    return ApiKey(handle=handle, digest=_digest(secret))


def digest_of(text: str) -> bytes:
    """What a key is found by; `Unauthenticated` if the text cannot be a key."""
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
