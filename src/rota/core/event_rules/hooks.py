"""Verifies signed webhook requests and turns them into events.

Two signature styles are supported. Standard Webhooks (core/signatures.py) signs the id and the time
with the body. `X-Hub-Signature-256`, used by GitHub and others, signs the body only. In the second
style the signature is the id of the event, so a body that is sent again is the same event.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from hmac import digest as hmac_digest
from typing import Final

from rota.core import signatures
from rota.core.errors import InvalidInput, InvalidSignature
from rota.core.event_rules.event import NewEvent
from rota.core.signatures import SIGNATURES_MAX, require_header

HUB_SIGNATURE: Final = "x-hub-signature-256"
HUB_PREFIX: Final = "sha256="
HUB_EVENT: Final = "x-github-event"
SECRET_CHARACTERS_MIN: Final = 16
SECRET_CHARACTERS_MAX: Final = 200
HUB_EVENT_CHARACTERS_MAX: Final = 64


class SignatureStyle(StrEnum):
    """How requests to a hook are signed."""

    STANDARD = "standard"
    GITHUB = "github"


def check_secret(secret: str, style: SignatureStyle) -> str:
    """Check a secret that the sender generated. Errors never show it."""
    if style is SignatureStyle.STANDARD:
        signatures.parse_secret(secret)
    elif (
        not SECRET_CHARACTERS_MIN <= len(secret) <= SECRET_CHARACTERS_MAX
        or not secret.isprintable()
    ):
        wanted = f"must have {SECRET_CHARACTERS_MIN}–{SECRET_CHARACTERS_MAX} printable characters"
        raise InvalidInput("secret", "***", wanted)
    return secret


def verify_request(
    style: SignatureStyle,
    headers: Mapping[str, str],
    body: bytes,
    secrets: Sequence[str],
    *,
    now: datetime,
) -> str:
    """Return the id of a request with a valid signature. Raises `InvalidSignature`."""
    if style is SignatureStyle.STANDARD:
        keys = [signatures.parse_secret(secret) for secret in secrets]
        return signatures.verify_request(headers, body, keys, now=now).id
    by_name = {name.lower(): value for name, value in headers.items()}
    offered = require_header(by_name, HUB_SIGNATURE).encode(errors="replace")
    expected = [
        HUB_PREFIX + hmac_digest(secret.encode(), body, sha256).hex()
        for secret in secrets[:SIGNATURES_MAX]
    ]
    # All are compared, each in constant time, so the duration reveals nothing.
    valid = [signature for signature in expected if compare_digest(signature.encode(), offered)]
    if not valid:
        wanted = "does not match this body and the shared secret"
        raise InvalidSignature(HUB_SIGNATURE, "***", wanted)
    return valid[0].removeprefix(HUB_PREFIX)


def build_hook_event(
    kind: str, source: str, sent_id: str, data: object, headers: Mapping[str, str]
) -> NewEvent:
    """Build the event of a signed request. GitHub's event name becomes an extension attribute."""
    by_name = {name.lower(): value for name, value in headers.items()}
    word = by_name.get(HUB_EVENT, "")[:HUB_EVENT_CHARACTERS_MAX]
    extensions = {"github_event": word} if word.isprintable() and word else {}
    return NewEvent(type=kind, source=source, id=sent_id, data=data, extensions=extensions)
