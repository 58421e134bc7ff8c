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
from rota.core.arrivals.event import MOST_TEXT, NewEvent
from rota.core.errors import InvalidInput
from rota.core.source import Message
from rota.core.submission import check_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the messages of a source are read. `type` is used for messages without a type."""

    source: str
    type: str
    is_cloudevents: bool = False


def event_of(message: Message, reading: Reading) -> NewEvent:
    """Convert a message into an event; raise `InvalidInput` if it is not a valid event."""
    if reading.is_cloudevents:
        return cloudevent_of(message)
    return NewEvent(
        type=message.type or reading.type,
        source=reading.source,
        id=id_of(message.id),
        time=message.time,
        subject=subject_of(message.subject),
        data=data_of(message.body),
    )


def cloudevent_of(message: Message) -> NewEvent:
    """Read a CloudEvent, with its attributes in headers or in the body. The headers of Kafka are
    named ce_type, those of NATS ce-type.
    """
    headers = {
        name.lower().replace("ce_", cloudevents.HEADER, 1): value
        for name, value in (message.headers or {}).items()
    }
    if cloudevents.is_binary(headers):
        return cloudevents.read_binary(headers, data_of(message.body))
    return cloudevents.read_structured(data_of(message.body))


def id_of(given: str) -> str:
    """Return the id, or its hash if it is not a valid event id. File names and stream keys can have
    any content, and two different ones must not get the same event id.
    """
    try:
        if check_name(given, "id", most=MOST_TEXT) == given:
            return given
    except InvalidInput:
        pass
    return f"sha256:{sha256(given.encode('utf-8', 'surrogatepass')).hexdigest()}"


def subject_of(given: str | None) -> str | None:
    """Return the subject; None if it is not readable text, as the key of a record may be."""
    try:
        return None if given is None else check_name(given, "subject", most=MOST_TEXT)
    except InvalidInput:
        return None


def data_of(body: Any) -> Any:
    """Return the data of a body: its JSON value, otherwise text, otherwise base64."""
    if isinstance(body, bytes):
        try:
            body = body.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(body).decode()}
    if not isinstance(body, str):
        return body
    try:
        return json.loads(body, parse_constant=refuse_constant)
    except ValueError:
        return body
    except RecursionError:
        raise InvalidInput("data", body, "the JSON is nested too deeply") from None


def refuse_constant(text: str) -> NoReturn:
    """Reject NaN and Infinity, which Python accepts but JSON does not."""
    raise ValueError(text)
