"""Signed requests that become events. Room: core/arrivals.

Two ways to sign: Standard Webhooks (core/signatures.py), whose id and time are signed with the
body; and `X-Hub-Signature-256` as GitHub and those who followed it send, which signs the body and
nothing else. So with the latter the signature itself is the id of the event: whoever sends a body
that was heard before, under whichever number, sends the same event again.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from hmac import digest as hmac_digest
from typing import Final

from rota.core import signatures
from rota.core.arrivals.event import NewEvent
from rota.core.errors import InvalidInput, InvalidSignature
from rota.core.signatures import MOST_SIGNATURES, needed

HUB_SIGNATURE: Final = "x-hub-signature-256"
HUB_PREFIX: Final = "sha256="
HUB_EVENT: Final = "x-github-event"
SHORTEST_SECRET: Final = 16
LONGEST_SECRET: Final = 200
MOST_WORD: Final = 64


class Style(StrEnum):
    """How requests to a hook are signed."""

    STANDARD = "standard"
    GITHUB = "github"


def check_secret(secret: str, style: Style) -> str:
    """A secret that the sender has made; never shown in an error."""
    if style is Style.STANDARD:
        signatures.key_of(secret)
    elif not SHORTEST_SECRET <= len(secret) <= LONGEST_SECRET or not secret.isprintable():
        wanted = f"{SHORTEST_SECRET} to {LONGEST_SECRET} characters"
        raise InvalidInput("secret", "***", wanted)
    return secret


def verified(
    style: Style,
    headers: Mapping[str, str],
    body: bytes,
    secrets: Sequence[str],
    *,
    now: datetime,
) -> str:
    """The id of what was sent, if it is signed; otherwise `InvalidSignature`."""
    if style is Style.STANDARD:
        keys = [signatures.key_of(each) for each in secrets]
        return signatures.verify(headers, body, keys, now=now).id
    given = {name.lower(): value for name, value in headers.items()}
    offered = needed(given, HUB_SIGNATURE).encode(errors="replace")
    expected = [
        HUB_PREFIX + hmac_digest(each.encode(), body, sha256).hex()
        for each in secrets[:MOST_SIGNATURES]
    ]
    # Each is compared, in constant time: how long it takes tells nothing.
    good = [each for each in expected if compare_digest(each.encode(), offered)]
    if not good:
        wanted = "a signature of this body with the shared secret"
        raise InvalidSignature(HUB_SIGNATURE, "***", wanted)
    return good[0].removeprefix(HUB_PREFIX)


def event_of(
    kind: str, source: str, sent_id: str, data: object, headers: Mapping[str, str]
) -> NewEvent:
    """The event that a signed request is. What GitHub calls its event is an attribute of ours."""
    given = {name.lower(): value for name, value in headers.items()}
    word = given.get(HUB_EVENT, "")[:MOST_WORD]
    extensions = {"github_event": word} if word.isprintable() and word else {}
    return NewEvent(type=kind, source=source, id=sent_id, data=data, extensions=extensions)
