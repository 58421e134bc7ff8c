"""Reads events in the form of CloudEvents 1.0, in JSON. Room: contract.

Structured (one object), batched (a list of them), and binary, where the attributes are headers and
the body is the data. Extensions are kept as they come. What their specification demands is
demanded here: specversion 1.0, id, source and type, and names of lower case letters and digits.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from rota.contract.documents import fields_by_name, read_input
from rota.contract.event import CloudEvent
from rota.core.arrivals.event import MOST_EVENTS, NewEvent
from rota.core.errors import InvalidInput
from rota.core.submission import within
from rota.core.time import moments

STRUCTURED: Final = "application/cloudevents+json"
BATCH: Final = "application/cloudevents-batch+json"
HEADER: Final = "ce-"
_NAME: Final = re.compile(r"[a-z0-9]{1,64}")


def read_structured(value: object) -> NewEvent:
    """Read one event, with attributes and data in one object; null counts as not given."""
    if not isinstance(value, Mapping):
        raise InvalidInput("event", value, "an object with the attributes of a CloudEvent")
    given = {name: each for name, each in value.items() if each is not None}
    known = fields_by_name(CloudEvent)
    event = read_input(CloudEvent, {name: given[name] for name in known if name in given})
    if "data" in given and "data_base64" in given:
        raise InvalidInput("data_base64", "both", "either data or data_base64")
    return NewEvent(
        type=event.type,
        source=event.source,
        id=event.id,
        time=None if event.time is None else moments.parse(event.time, field="time"),
        subject=event.subject,
        data=event.data,
        extensions=_extensions(given),
    )


def read_batch(value: object) -> list[NewEvent]:
    """Several, in a list."""
    if not isinstance(value, list):
        raise InvalidInput("events", value, "a list of CloudEvents")
    if len(value) > MOST_EVENTS:
        raise InvalidInput("events", f"{len(value)} events", f"at most {MOST_EVENTS} at once")
    found = []
    for place, each in enumerate(value):
        with within(f"events[{place}]"):
            found.append(read_structured(each))
    return found


def is_binary(headers: Mapping[str, str]) -> bool:
    return f"{HEADER}specversion" in headers


def read_binary(headers: Mapping[str, str], data: object) -> NewEvent:
    """One event whose attributes are headers, as ce-type; percent-encoded, as HTTP wants them."""
    attributes: dict[str, Any] = {
        name.lower().removeprefix(HEADER): unquote(value)
        for name, value in headers.items()
        if name.lower().startswith(HEADER)
    }
    attributes.pop("data", None)
    return read_structured({**attributes, "data": data})


def _extensions(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes that CloudEvents does not define, and data that is not JSON."""
    defined = fields_by_name(CloudEvent).keys() - {"data_base64"}
    found = {name: each for name, each in given.items() if name not in defined}
    for name, each in found.items():
        if name != "data_base64" and not _NAME.fullmatch(name):
            raise InvalidInput(name[:64], each, "a name of lower case letters and digits")
        if not isinstance(each, str | int | bool):
            raise InvalidInput(name, each, "a text, a whole number, true or false")
    return found
