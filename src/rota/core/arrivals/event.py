"""Validates one incoming event.

(tenant, source, id) identifies an event: a second event with the same identity is a duplicate.
Default id: a new unique one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final
from uuid import UUID

from rota.core.errors import InvalidInput
from rota.core.submission import MOST_PAYLOAD, check_name, json_text
from rota.core.time import moments

MOST_TYPE: Final = 200
MOST_TEXT: Final = 500
MOST_EVENTS: Final = 1_000
MOST_EXTENSIONS: Final = 32
# The rest of a payload is reserved for the data around the event.
MOST_EVENT: Final = MOST_PAYLOAD - 8 * 1024
SOURCE: Final = "api"
OWN: Final = ("type", "source", "id", "time", "subject", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to validate. `extensions` are CloudEvents extension attributes."""

    type: str
    source: str = SOURCE
    id: str | None = None
    time: datetime | None = None
    subject: str | None = None
    data: object = None
    extensions: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A valid event. `shown` is the event as expressions and handlers see it, and `text` the same
    as JSON.
    """

    event_id: UUID
    received_at: datetime
    type: str
    source: str
    id: str
    shown: Mapping[str, Any]
    text: str

    @property
    def size(self) -> int:
        return len(self.text.encode())

    @property
    def digest(self) -> bytes:
        return digest_of(self.source, self.id)


def checked(new: NewEvent, *, event_id: UUID, now: datetime) -> Event:
    """Validate an event that arrives `now`. Raises `InvalidInput`."""
    kind = check_name(new.type, "type", most=MOST_TYPE)
    if "*" in kind:
        raise InvalidInput("type", new.type, "must not contain *")
    source = check_name(new.source, "source", most=MOST_TEXT)
    own_id = str(event_id) if new.id is None else check_name(new.id, "id", most=MOST_TEXT)
    subject = None if new.subject is None else check_name(new.subject, "subject", most=MOST_TEXT)
    time = now if new.time is None else moments.parse(new.time, field="time")
    if len(new.extensions) > MOST_EXTENSIONS:
        count = f"{len(new.extensions)} extension attributes"
        wanted = f"expected at most {MOST_EXTENSIONS} in addition to {', '.join(OWN)}"
        raise InvalidInput("event", count, wanted)
    shown = {
        **new.extensions,
        "type": kind,
        "source": source,
        "id": own_id,
        "time": moments.rfc3339(time),
        "subject": subject,
        "data": new.data,
    }
    text = json_text(shown, "data", most=MOST_EVENT) or "null"
    return Event(
        event_id=event_id,
        received_at=now,
        type=kind,
        source=source,
        id=own_id,
        shown=shown,
        text=text,
    )


def digest_of(source: str, id: str) -> bytes:  # noqa: A002
    """Return the digest that identifies an event within its tenant."""
    name = f"{len(source)}:{source}{id}".encode()
    return blake2b(name, digest_size=16, person=b"rota event").digest()


def patterns_of(kind: str) -> list[str]:
    """Return all patterns that match this type: the type itself, each parent `….*`, and `*`."""
    parts = kind.split(".")
    above = [".".join([*parts[:n], "*"]) for n in range(len(parts) - 1, 0, -1)]
    return [kind, *above, "*"]
