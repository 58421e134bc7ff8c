"""Seals a secret with the master key, and opens it again. Room: core.

AES-256-GCM. Tenant, name and version are bound to the text: a ciphertext that is copied to another
row, or back from an older version, does not open. The master key and the nonce are arguments. The
library for it may be missing; then secrets are off, and never kept in the clear.
"""

from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from typing import Any, Final

from rota.core.errors import InvalidInput, SealingFailed

KEY: Final = 32
NONCE: Final = 12
LIBRARY: Final = "cryptography"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a secret lies; sealed with it."""

    tenant_id: int
    name: str
    version: int

    @property
    def bound(self) -> bytes:
        # The name is last but one and may hold anything; the numbers around it cannot.
        return f"{self.tenant_id}|{self.name}|{self.version}".encode()


def checked(master: bytes) -> bytes:
    """The master key, if it can be one."""
    if len(master) != KEY:
        raise InvalidInput("master key", f"{len(master)} bytes", f"{KEY} random bytes")
    return master


def key_id_of(master: bytes) -> str:
    """Kept beside each sealed text: tells two master keys apart and says nothing about either."""
    return sha256(b"rota master key id" + checked(master)).hexdigest()[:16]


def seal(master: bytes, place: Place, value: bytes, *, nonce: bytes) -> bytes:
    """The sealed text, which begins with its nonce: 12 random bytes, used once."""
    if len(nonce) != NONCE:
        raise InvalidInput("nonce", f"{len(nonce)} bytes", f"{NONCE} random bytes")
    sealed: bytes = _cipher(master).encrypt(nonce, value, place.bound)
    return nonce + sealed


def unseal(master: bytes, place: Place, sealed: bytes) -> bytes:
    """The value, if it was sealed with this key for this place."""
    cipher = _cipher(master)
    try:
        value: bytes = cipher.decrypt(sealed[:NONCE], sealed[NONCE:], place.bound)
    except (_library("exceptions").InvalidTag, ValueError):
        raise SealingFailed(
            reason=f"{place.name!r} does not open with this master key in this place",
            remedy="give the master key that it was sealed with, or write the secret again",
        ) from None
    return value


def _cipher(master: bytes) -> Any:
    return _library("hazmat.primitives.ciphers.aead").AESGCM(checked(master))


def _library(part: str) -> Any:
    try:
        return import_module(f"{LIBRARY}.{part}")
    except ImportError:
        raise SealingFailed(
            reason=f"the package {LIBRARY} is not installed", remedy=f"pip install {LIBRARY}"
        ) from None
