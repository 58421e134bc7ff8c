"""Converts a message of a source into an event.

A JSON body becomes the data of the event; any other text becomes a string, and bytes that are not
text become base64. In a source of CloudEvents the message has its own id and source, so that the
event is recognized as a duplicate however it arrives.
"""

import base64
import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NoReturn

from rota.contract import cloudevents
from rota.core.errors import InvalidInput
from rota.core.event_rules.event import EVENT_ATTRIBUTE_CHARACTERS_MAX, NewEvent
from rota.core.source import Message
from rota.core.submissions import check_name


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFormat:
    """How the messages of a source are read. `type` is used for messages without a type."""

    source: str
    type: str
    is_cloudevents: bool = False


def build_event(message: Message, message_format: MessageFormat) -> NewEvent:
    """Convert a message into an event; raise `InvalidInput` if it is not a valid event."""
    if message_format.is_cloudevents:
        return read_cloudevent(message)
    return NewEvent(
        type=message.type or message_format.type,
        source=message_format.source,
        id=derive_event_id(message.id),
        time=message.time,
        subject=derive_subject(message.subject),
        data=decode_data(message.body),
    )


def read_cloudevent(message: Message) -> NewEvent:
    """Read a CloudEvent, with its attributes in headers or in the body. The headers of Kafka are
    named ce_type, those of NATS ce-type.
    """
    headers = {
        name.lower().replace("ce_", cloudevents.HEADER_PREFIX, 1): value
        for name, value in (message.headers or {}).items()
    }
    if cloudevents.is_binary(headers):
        return cloudevents.read_binary(headers, decode_data(message.body))
    return cloudevents.read_structured(decode_data(message.body))


def derive_event_id(given: str) -> str:
    """Return the id, or its hash if it is not a valid event id. File names and stream keys can have
    any content, and two different ones must not get the same event id.
    """
    try:
        if check_name(given, "id", max_length=EVENT_ATTRIBUTE_CHARACTERS_MAX) == given:
            return given
    except InvalidInput:
        pass
    return f"sha256:{sha256(given.encode('utf-8', 'surrogatepass')).hexdigest()}"


def derive_subject(given: str | None) -> str | None:
    """Return the subject; None if it is not readable text, as the key of a record may be."""
    try:
        return (
            None
            if given is None
            else check_name(given, "subject", max_length=EVENT_ATTRIBUTE_CHARACTERS_MAX)
        )
    except InvalidInput:
        return None


def decode_data(body: Any) -> Any:
    """Return the data of a body: its JSON value, otherwise text, otherwise base64."""
    if isinstance(body, bytes):
        try:
            body = body.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(body).decode()}
    if not isinstance(body, str):
        return body
    try:
        return json.loads(body, parse_constant=reject_constant)
    except ValueError:
        return body
    except RecursionError:
        raise InvalidInput("data", body, "the JSON is nested too deeply") from None


def reject_constant(text: str) -> NoReturn:
    """Reject NaN and Infinity, which Python accepts but JSON does not."""
    raise ValueError(text)
