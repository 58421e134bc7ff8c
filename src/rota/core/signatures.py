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

ID_HEADER: Final = "webhook-id"
TIMESTAMP_HEADER: Final = "webhook-timestamp"
SIGNATURE_HEADER: Final = "webhook-signature"
SIGNATURE_VERSION: Final = "v1"
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - a prefix, no secret
SECRET_BYTES_MIN, SECRET_BYTES_MAX = 24, 64
SECRET_WANTED: Final = (
    f"expected {SECRET_PREFIX} and the base64 of {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} "
    "random bytes"
)
# More than any rotation needs; bounds the work that a sender can cause.
SIGNATURES_MAX: Final = 16
CLOCK_TOLERANCE: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedRequest:
    """A request with a valid signature. Store `id`, and ignore further requests with it."""

    id: str
    sent_at: datetime
    body: bytes = field(repr=False)

    def json(self) -> Any:
        return json.loads(self.body)


def parse_secret(
    secret: str, *, field: str = "secret", error: type[InvalidInput] = InvalidInput
) -> bytes:
    """Return the signing key of a secret; the prefix may be missing, as some senders omit it."""
    try:
        key = b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not SECRET_BYTES_MIN <= len(key) <= SECRET_BYTES_MAX:
        raise error(field, "***", SECRET_WANTED)
    return key


def format_secret(key: bytes) -> str:
    """Return a key in its text form."""
    return SECRET_PREFIX + b64encode(key).decode()


def build_headers(body: bytes, keys: Sequence[bytes], *, id: str, at: datetime) -> dict[str, str]:  # noqa: A002
    """Return the headers by which the receiver of a body verifies it."""
    seconds = str(int(at.timestamp()))
    signatures = " ".join(compute_signature(key, id, seconds, body) for key in keys)
    return {ID_HEADER: id, TIMESTAMP_HEADER: seconds, SIGNATURE_HEADER: signatures}


def compute_signature(key: bytes, id: str, seconds: str, body: bytes) -> str:  # noqa: A002
    signed = hmac_digest(key, f"{id}.{seconds}.".encode() + body, sha256)
    return f"{SIGNATURE_VERSION},{b64encode(signed).decode()}"


def verify_request(
    headers: Mapping[str, str],
    body: bytes,
    keys: Sequence[bytes],
    *,
    now: datetime,
    tolerance: timedelta = CLOCK_TOLERANCE,
) -> VerifiedRequest:
    """Raise `InvalidSignature` unless one of the keys signed this body within `tolerance`."""
    given = {name.lower(): value for name, value in headers.items()}
    id_, seconds, signatures = (
        require_header(given, name) for name in (ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER)
    )
    sent_at = parse_timestamp(seconds)
    if abs(now - sent_at) > tolerance:
        wanted = f"must be within {tolerance.total_seconds():.0f} seconds of now"
        raise InvalidSignature(TIMESTAMP_HEADER, seconds, wanted)
    expected = [compute_signature(key, id_, seconds, body).encode() for key in keys]
    offered = [text.encode(errors="replace") for text in signatures.split()[:SIGNATURES_MAX]]
    # Every pair is compared in constant time, so that the duration reveals nothing.
    if not sum(compare_digest(one, other) for one in expected for other in offered):
        wanted = "does not match this body and the shared secret"
        raise InvalidSignature(SIGNATURE_HEADER, "***", wanted)
    return VerifiedRequest(id=id_, sent_at=sent_at, body=body)


def require_header(headers: Mapping[str, str], name: str) -> str:
    if not (value := headers.get(name)):
        raise InvalidSignature(name, None, "required header of a signed request")
    return value


def parse_timestamp(seconds: str) -> datetime:
    # Eleven digits reach the year 5138; more are rejected.
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 11):
        raise InvalidSignature(TIMESTAMP_HEADER, seconds, "expected whole seconds since 1970")
    return datetime.fromtimestamp(int(seconds), UTC)
