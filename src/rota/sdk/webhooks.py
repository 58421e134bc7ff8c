"""Verifies and signs webhooks, for receivers of webhooks from Rota or from other senders.

    from rota.sdk import webhooks

    received = webhooks.verify(request.headers, body, secret)    # raises InvalidSignature

Pass the body as received: a body that was decoded and encoded again has a different signature.
Imports only the standard library. core/signatures.py implements the signature scheme.
"""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from rota.core import signatures
from rota.core.errors import InvalidInput, InvalidSignature
from rota.core.signatures import CLOCK_TOLERANCE, VerifiedRequest
from rota.runtime.clock import SystemClock

__all__ = ["InvalidSignature", "VerifiedRequest", "new_secret", "sign", "verify"]

SECRET_BYTES = 32


def verify(
    headers: Mapping[str, str],
    body: bytes,
    secret: str | Sequence[str],
    *,
    now: datetime | None = None,
    tolerance: timedelta = CLOCK_TOLERANCE,
) -> VerifiedRequest:
    """Return the webhook if it is signed with `secret` and not older than `tolerance`.

    Pass several secrets during a rotation. `now` is for tests. Compare the `id` with the ids of the
    last minutes: the same request may arrive twice.
    """
    if not isinstance(body, bytes):
        raise InvalidInput(
            "body", type(body).__name__, "expected bytes: pass the request body as received"
        )
    at = SystemClock().now() if now is None else now
    return signatures.verify_request(
        headers, body, decode_secrets(secret), now=at, tolerance=tolerance
    )


def sign(
    body: bytes,
    secret: str | Sequence[str],
    *,
    id: str,  # noqa: A002 - the name of the header
    now: datetime | None = None,
) -> dict[str, str]:
    """Return the headers of a signed request, for your own senders and for tests of a receiver."""
    at = SystemClock().now() if now is None else now
    return signatures.build_headers(body, decode_secrets(secret), id=id, at=at)


def new_secret() -> str:
    """Generate a secret to share with the receiver of a webhook."""
    return signatures.format_secret(secrets.token_bytes(SECRET_BYTES))


def decode_secrets(secret: str | Sequence[str]) -> list[bytes]:
    texts = [secret] if isinstance(secret, str) else secret
    keys = [signatures.parse_secret(text) for text in texts]
    if not keys:
        raise InvalidInput("secret", [], "expected at least one secret")
    return keys
