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
from rota.core.submissions import PAYLOAD_BYTES_MAX, check_name, encode_json
from rota.core.time import moments

EVENT_TYPE_LENGTH_MAX: Final = 200
EVENT_ATTRIBUTE_CHARACTERS_MAX: Final = 500
EVENTS_PER_REQUEST_MAX: Final = 1_000
EVENT_EXTENSIONS_MAX: Final = 32
# The rest of a payload is reserved for the data around the event.
EVENT_BYTES_MAX: Final = PAYLOAD_BYTES_MAX - 8 * 1024
DEFAULT_EVENT_SOURCE: Final = "api"
EVENT_ATTRIBUTES: Final = ("type", "source", "id", "time", "subject", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to validate. `extensions` are CloudEvents extension attributes."""

    type: str
    source: str = DEFAULT_EVENT_SOURCE
    id: str | None = None
    time: datetime | None = None
    subject: str | None = None
    data: object = None
    extensions: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedEvent:
    """A valid event. `shown` is the event as expressions and handlers see it, and `text` the same
    as JSON.
    """

    event_id: UUID
    received_at: datetime
    type: str
    source: str
    id: str
    attributes: Mapping[str, Any]
    json_text: str

    @property
    def size(self) -> int:
        return len(self.json_text.encode())

    @property
    def digest(self) -> bytes:
        return compute_event_digest(self.source, self.id)


def check_event(new: NewEvent, *, event_id: UUID, now: datetime) -> ReceivedEvent:
    """Validate an event that arrives `now`. Raises `InvalidInput`."""
    kind = check_name(new.type, "type", max_length=EVENT_TYPE_LENGTH_MAX)
    if "*" in kind:
        raise InvalidInput("type", new.type, "must not contain *")
    source = check_name(new.source, "source", max_length=EVENT_ATTRIBUTE_CHARACTERS_MAX)
    own_id = (
        str(event_id)
        if new.id is None
        else check_name(new.id, "id", max_length=EVENT_ATTRIBUTE_CHARACTERS_MAX)
    )
    subject = (
        None
        if new.subject is None
        else check_name(new.subject, "subject", max_length=EVENT_ATTRIBUTE_CHARACTERS_MAX)
    )
    time = now if new.time is None else moments.parse(new.time, field="time")
    if len(new.extensions) > EVENT_EXTENSIONS_MAX:
        count = f"{len(new.extensions)} extension attributes"
        wanted = (
            f"expected at most {EVENT_EXTENSIONS_MAX} in addition to {', '.join(EVENT_ATTRIBUTES)}"
        )
        raise InvalidInput("event", count, wanted)
    shown = {
        **new.extensions,
        "type": kind,
        "source": source,
        "id": own_id,
        "time": moments.to_rfc3339(time),
        "subject": subject,
        "data": new.data,
    }
    text = encode_json(shown, "data", max_bytes=EVENT_BYTES_MAX) or "null"
    return ReceivedEvent(
        event_id=event_id,
        received_at=now,
        type=kind,
        source=source,
        id=own_id,
        attributes=shown,
        json_text=text,
    )


def compute_event_digest(source: str, id: str) -> bytes:  # noqa: A002
    """Return the digest that identifies an event within its tenant."""
    name = f"{len(source)}:{source}{id}".encode()
    return blake2b(name, digest_size=16, person=b"rota event").digest()


def list_type_patterns(kind: str) -> list[str]:
    """Return all patterns that match this type: the type itself, each parent `….*`, and `*`."""
    parts = kind.split(".")
    above = [".".join([*parts[:n], "*"]) for n in range(len(parts) - 1, 0, -1)]
    return [kind, *above, "*"]
