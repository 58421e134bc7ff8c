"""From a message of a source to an event. Room: contract.

A body that is JSON is the data of the event; any other text is its data as a text, and bytes that
are no text are written as base64. Where a source carries CloudEvents, the event is what the message
says it is: its own id and source hold, so that it is the same event whichever way it comes.
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
    """How the messages of a source are read. `type` is for those that say none."""

    source: str
    type: str
    is_cloudevents: bool = False


def event_of(message: Message, reading: Reading) -> NewEvent:
    """`InvalidInput` says what is wrong with a message that is no event."""
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
    """With its attributes in headers, or all of it in the body. Kafka's headers say ce_type, where
    those of NATS say ce-type.
    """
    headers = {
        name.lower().replace("ce_", cloudevents.HEADER, 1): value
        for name, value in (message.headers or {}).items()
    }
    if cloudevents.is_binary(headers):
        return cloudevents.read_binary(headers, data_of(message.body))
    return cloudevents.read_structured(data_of(message.body))


def id_of(given: str) -> str:
    """The id as it is, or its hash where an event could not have it: names of files and keys of
    streams may be anything, and two of them must not become one.
    """
    try:
        if check_name(given, "id", most=MOST_TEXT) == given:
            return given
    except InvalidInput:
        pass
    return f"sha256:{sha256(given.encode('utf-8', 'surrogatepass')).hexdigest()}"


def subject_of(given: str | None) -> str | None:
    """What people may read; the key of a record may be anything, and then it is no subject."""
    try:
        return None if given is None else check_name(given, "subject", most=MOST_TEXT)
    except InvalidInput:
        return None


def data_of(body: Any) -> Any:
    """The value of a body: JSON if it is, else a text, else base64."""
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
        raise InvalidInput("data", body, "JSON that is nested less deeply") from None


def refuse_constant(text: str) -> NoReturn:
    """NaN and Infinity are no JSON, whatever Python thinks."""
    raise ValueError(text)
