"""Signs and verifies requests as Standard Webhooks specifies.

    webhook-id         the same for every attempt, so that a receiver can drop duplicates
    webhook-timestamp  seconds since 1970, of the attempt
    webhook-signature  `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several,
                       separated by spaces, while one secret replaces another

A secret is written as `whsec_` and the base64 of 24 to 64 random bytes. It is never shown in an
error or a repr. executors/http sends signed requests, sdk/webhooks.py receives them.
"""

import binascii
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from hmac import digest as hmac_digest
from typing import Any, Final

from rota.core.errors import InvalidInput, InvalidSignature

ID: Final = "webhook-id"
TIMESTAMP: Final = "webhook-timestamp"
SIGNATURE: Final = "webhook-signature"
VERSION: Final = "v1"
PREFIX: Final = "whsec_"
SHORTEST, LONGEST = 24, 64
SECRET_WANTED: Final = f"expected {PREFIX} and the base64 of {SHORTEST} to {LONGEST} random bytes"
# More than any rotation needs; bounds the work that a sender can cause.
MOST_SIGNATURES: Final = 16
TOLERANCE: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request with a valid signature. Store `id`, and ignore further requests with it."""

    id: str
    sent_at: datetime
    body: bytes = field(repr=False)

    def json(self) -> Any:
        return json.loads(self.body)


def key_of(
    secret: str, *, field: str = "secret", error: type[InvalidInput] = InvalidInput
) -> bytes:
    """Return the signing key of a secret; the prefix may be missing, as some senders omit it."""
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not SHORTEST <= len(key) <= LONGEST:
        raise error(field, "***", SECRET_WANTED)
    return key


def secret_of(key: bytes) -> str:
    """Return a key in its text form."""
    return PREFIX + b64encode(key).decode()


def headers_for(body: bytes, keys: Sequence[bytes], *, id: str, at: datetime) -> dict[str, str]:  # noqa: A002
    """Return the headers by which the receiver of a body verifies it."""
    seconds = str(int(at.timestamp()))
    signatures = " ".join(signature(key, id, seconds, body) for key in keys)
    return {ID: id, TIMESTAMP: seconds, SIGNATURE: signatures}


def signature(key: bytes, id: str, seconds: str, body: bytes) -> str:  # noqa: A002
    signed = hmac_digest(key, f"{id}.{seconds}.".encode() + body, sha256)
    return f"{VERSION},{b64encode(signed).decode()}"


def verify(
    headers: Mapping[str, str],
    body: bytes,
    keys: Sequence[bytes],
    *,
    now: datetime,
    tolerance: timedelta = TOLERANCE,
) -> Received:
    """Raise `InvalidSignature` unless one of the keys signed this body within `tolerance`."""
    given = {name.lower(): value for name, value in headers.items()}
    id_, seconds, signatures = (needed(given, name) for name in (ID, TIMESTAMP, SIGNATURE))
    sent_at = moment(seconds)
    if abs(now - sent_at) > tolerance:
        wanted = f"must be within {tolerance.total_seconds():.0f} seconds of now"
        raise InvalidSignature(TIMESTAMP, seconds, wanted)
    expected = [signature(key, id_, seconds, body).encode() for key in keys]
    offered = [text.encode(errors="replace") for text in signatures.split()[:MOST_SIGNATURES]]
    # Every pair is compared in constant time, so that the duration reveals nothing.
    if not sum(compare_digest(one, other) for one in expected for other in offered):
        wanted = "does not match this body and the shared secret"
        raise InvalidSignature(SIGNATURE, "***", wanted)
    return Received(id=id_, sent_at=sent_at, body=body)


def needed(headers: Mapping[str, str], name: str) -> str:
    if not (value := headers.get(name)):
        raise InvalidSignature(name, None, "required header of a signed request")
    return value


def moment(seconds: str) -> datetime:
    # Eleven digits reach the year 5138; more are rejected.
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 11):
        raise InvalidSignature(TIMESTAMP, seconds, "expected whole seconds since 1970")
    return datetime.fromtimestamp(int(seconds), UTC)
