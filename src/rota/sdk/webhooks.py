"""For those who receive signed webhooks, from Rota or from others. Room: sdk.

    from rota.sdk import webhooks

    received = webhooks.verify(request.headers, body, secret)    # raises InvalidSignature

Give it the bytes as they came: a body that was read as JSON and written again has another
signature. Light: it needs nothing but the standard library. The scheme is in core/signatures.py.
"""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from rota.core import signatures
from rota.core.errors import InvalidInput, InvalidSignature
from rota.core.signatures import TOLERANCE, Received
from rota.runtime.clock import SystemClock

__all__ = ["InvalidSignature", "Received", "new_secret", "sign", "verify"]

NEW = 32


def verify(
    headers: Mapping[str, str],
    body: bytes,
    secret: str | Sequence[str],
    *,
    now: datetime | None = None,
    tolerance: timedelta = TOLERANCE,
) -> Received:
    """What was received, if it is signed with `secret` and not older than `tolerance`.

    Several secrets are accepted while one replaces another. `now` is for tests. Compare the `id`
    with those of the last minutes: the same request may come twice.
    """
    if not isinstance(body, bytes):
        raise InvalidInput("body", type(body).__name__, "the bytes of the request, as they came")
    at = SystemClock().now() if now is None else now
    return signatures.verify(headers, body, keys_of(secret), now=at, tolerance=tolerance)


def sign(
    body: bytes,
    secret: str | Sequence[str],
    *,
    id: str,  # noqa: A002 - the name of the header
    now: datetime | None = None,
) -> dict[str, str]:
    """The headers of a signed request; for senders of your own, and for tests of a receiver."""
    at = SystemClock().now() if now is None else now
    return signatures.headers_for(body, keys_of(secret), id=id, at=at)


def new_secret() -> str:
    """A secret to share with the receiver of a webhook."""
    return signatures.secret_of(secrets.token_bytes(NEW))


def keys_of(secret: str | Sequence[str]) -> list[bytes]:
    keys = [signatures.key_of(each) for each in ([secret] if isinstance(secret, str) else secret)]
    if not keys:
        raise InvalidInput("secret", [], "at least one secret")
    return keys
