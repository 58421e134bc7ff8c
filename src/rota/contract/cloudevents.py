"""Reads CloudEvents 1.0 in JSON.

Reads the structured form (one object), the batched form (a list of objects) and the binary form, in
which headers are the attributes and the body is the data. Extension attributes are kept. As the
specification demands, specversion 1.0, id, source and type are required, and attribute names
consist of lower-case letters and digits.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from rota.contract.documents import fields_by_name, read_input
from rota.contract.event import CloudEvent
from rota.core.errors import InvalidInput
from rota.core.event_rules.event import EVENTS_PER_REQUEST_MAX, NewEvent
from rota.core.submissions import prefix_errors
from rota.core.time import moments

STRUCTURED_MEDIA_TYPE: Final = "application/cloudevents+json"
BATCH_MEDIA_TYPE: Final = "application/cloudevents-batch+json"
HEADER_PREFIX: Final = "ce-"
_NAME: Final = re.compile(r"[a-z0-9]{1,64}")


def read_structured(value: object) -> NewEvent:
    """Read one event, with attributes and data in one object; null attributes are ignored."""
    if not isinstance(value, Mapping):
        wanted = "expected an object with the attributes of a CloudEvent"
        raise InvalidInput("event", value, wanted)
    given = {name: item for name, item in value.items() if item is not None}
    known = fields_by_name(CloudEvent)
    event = read_input(CloudEvent, {name: given[name] for name in known if name in given})
    if "data" in given and "data_base64" in given:
        raise InvalidInput("data_base64", "both", "give either data or data_base64")
    return NewEvent(
        type=event.type,
        source=event.source,
        id=event.id,
        time=None if event.time is None else moments.parse(event.time, field="time"),
        subject=event.subject,
        data=event.data,
        extensions=_find_extensions(given),
    )


def read_batch(value: object) -> list[NewEvent]:
    """Read a list of events."""
    if not isinstance(value, list):
        raise InvalidInput("events", value, "expected a list of CloudEvents")
    if len(value) > EVENTS_PER_REQUEST_MAX:
        wanted = f"at most {EVENTS_PER_REQUEST_MAX} events are allowed per request"
        raise InvalidInput("events", f"{len(value)} events", wanted)
    events = []
    for place, item in enumerate(value):
        with prefix_errors(f"events[{place}]"):
            events.append(read_structured(item))
    return events


def is_binary(headers: Mapping[str, str]) -> bool:
    return f"{HEADER_PREFIX}specversion" in headers


def read_binary(headers: Mapping[str, str], data: object) -> NewEvent:
    """Read one event whose attributes are percent-encoded headers, such as ce-type."""
    attributes: dict[str, Any] = {
        name.lower().removeprefix(HEADER_PREFIX): unquote(value)
        for name, value in headers.items()
        if name.lower().startswith(HEADER_PREFIX)
    }
    attributes.pop("data", None)
    return read_structured({**attributes, "data": data})


def _find_extensions(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the extension attributes, and `data_base64`."""
    defined = fields_by_name(CloudEvent).keys() - {"data_base64"}
    extensions = {name: value for name, value in given.items() if name not in defined}
    for name, value in extensions.items():
        if name != "data_base64" and not _NAME.fullmatch(name):
            wanted = "attribute names must be 1 to 64 lower-case letters and digits"
            raise InvalidInput(name[:64], value, wanted)
        if not isinstance(value, str | int | bool):
            raise InvalidInput(name, value, "expected text, a whole number, true or false")
    return extensions
