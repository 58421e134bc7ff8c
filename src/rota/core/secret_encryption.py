"""Encrypts and decrypts secrets with the master key.

Uses AES-256-GCM. Tenant, name and version are authenticated with the ciphertext: a ciphertext that
is copied to another row, or restored from an older version, cannot be decrypted. The master key and
the nonce are arguments. Without the `cryptography` package secrets are unavailable; Rota never
stores them in plain text.
"""

from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from typing import Any, Final

from rota.core.errors import InvalidInput, SecretsUnavailable

MASTER_KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
CRYPTO_PACKAGE: Final = "cryptography"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretIdentity:
    """Identifies a version of a secret; authenticated with the ciphertext."""

    tenant_id: int
    name: str
    version: int

    @property
    def associated_data(self) -> bytes:
        # Unambiguous, although the name may contain any character: the parts around it are numbers.
        return f"{self.tenant_id}|{self.name}|{self.version}".encode()


def check_master_key(master: bytes) -> bytes:
    """Return the master key; raise `InvalidInput` if its length is wrong."""
    if len(master) != MASTER_KEY_BYTES:
        wanted = f"must be {MASTER_KEY_BYTES} random bytes"
        raise InvalidInput("master key", f"{len(master)} bytes", wanted)
    return master


def derive_key_id(master: bytes) -> str:
    """Return the id of a master key, which is stored with each ciphertext and reveals nothing."""
    return sha256(b"rota master key id" + check_master_key(master)).hexdigest()[:16]


def encrypt_secret(master: bytes, identity: SecretIdentity, value: bytes, *, nonce: bytes) -> bytes:
    """Encrypt a value. The result begins with the nonce: 12 random bytes, used once."""
    if len(nonce) != NONCE_BYTES:
        wanted = f"must be {NONCE_BYTES} random bytes"
        raise InvalidInput("nonce", f"{len(nonce)} bytes", wanted)
    ciphertext: bytes = _make_cipher(master).encrypt(nonce, value, identity.associated_data)
    return nonce + ciphertext


def decrypt_secret(master: bytes, identity: SecretIdentity, ciphertext: bytes) -> bytes:
    """Decrypt a value that was encrypted with this key for this place."""
    cipher = _make_cipher(master)
    try:
        value: bytes = cipher.decrypt(
            ciphertext[:NONCE_BYTES], ciphertext[NONCE_BYTES:], identity.associated_data
        )
    except (_import_library("exceptions").InvalidTag, ValueError):
        raise SecretsUnavailable(
            reason=f"secret {identity.name!r} cannot be decrypted with this master key",
            remedy="use the master key that encrypted it, or write the secret again",
        ) from None
    return value


def _make_cipher(master: bytes) -> Any:
    return _import_library("hazmat.primitives.ciphers.aead").AESGCM(check_master_key(master))


def _import_library(part: str) -> Any:
    try:
        return import_module(f"{CRYPTO_PACKAGE}.{part}")
    except ImportError:
        raise SecretsUnavailable(
            reason=f"the package {CRYPTO_PACKAGE} is not installed",
            remedy=f"install it: pip install {CRYPTO_PACKAGE}",
        ) from None
