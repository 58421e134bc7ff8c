"""Signed requests, as Standard Webhooks describes them. Room: core.

    webhook-id         the same for every attempt, so that a receiver can tell what it has seen
    webhook-timestamp  seconds since 1970, of the attempt
    webhook-signature  `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several, with
                       spaces between them, while one secret replaces another

A secret is written as `whsec_` and the base64 of 24 to 64 random bytes. It is never shown, neither
in an error nor in a repr. Sending is executors/http, receiving is sdk/webhooks.py.
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
SECRET_WANTED: Final = f"{PREFIX} and the base64 of {SHORTEST} to {LONGEST} random bytes"
# More than anybody rotates; a sender must not make us compute without end.
MOST_SIGNATURES: Final = 16
TOLERANCE: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request whose signature is right. Keep `id` and ignore what comes with it again."""

    id: str
    sent_at: datetime
    body: bytes = field(repr=False)

    def json(self) -> Any:
        return json.loads(self.body)


def key_of(
    secret: str, *, field: str = "secret", error: type[InvalidInput] = InvalidInput
) -> bytes:
    """The bytes to sign with; the prefix may be missing, as it is with some senders."""
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not SHORTEST <= len(key) <= LONGEST:
        raise error(field, "***", SECRET_WANTED)
    return key


def secret_of(key: bytes) -> str:
    """How a key is written down."""
    return PREFIX + b64encode(key).decode()


def headers_for(body: bytes, keys: Sequence[bytes], *, id: str, at: datetime) -> dict[str, str]:  # noqa: A002
    """What goes with a body so that its receiver can verify it."""
    seconds = str(int(at.timestamp()))
    signed = " ".join(signature(key, id, seconds, body) for key in keys)
    return {ID: id, TIMESTAMP: seconds, SIGNATURE: signed}


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
    """Raise `InvalidSignature` unless one of the keys has signed this body, not long ago."""
    given = {name.lower(): value for name, value in headers.items()}
    id_, seconds, signatures = (needed(given, name) for name in (ID, TIMESTAMP, SIGNATURE))
    sent_at = moment(seconds)
    if abs(now - sent_at) > tolerance:
        wanted = f"a time within {tolerance.total_seconds():.0f} seconds of now"
        raise InvalidSignature(TIMESTAMP, seconds, wanted)
    expected = [signature(key, id_, seconds, body).encode() for key in keys]
    offered = [each.encode(errors="replace") for each in signatures.split()[:MOST_SIGNATURES]]
    # Every pair is compared, each in constant time: how long it takes tells nothing.
    if not sum(compare_digest(one, other) for one in expected for other in offered):
        raise InvalidSignature(SIGNATURE, "***", "a signature of this body with the shared secret")
    return Received(id=id_, sent_at=sent_at, body=body)


def needed(headers: Mapping[str, str], name: str) -> str:
    if not (value := headers.get(name)):
        raise InvalidSignature(name, None, "a header of every signed request")
    return value


def moment(seconds: str) -> datetime:
    # Twelve digits are the year 31688, eleven the year 5138: what is longer is not worth reading.
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 11):
        raise InvalidSignature(TIMESTAMP, seconds, "whole seconds since 1970")
    return datetime.fromtimestamp(int(seconds), UTC)
