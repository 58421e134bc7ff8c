"""Events in the form of CloudEvents 1.0, in JSON. Room: core/arrivals.

Structured (one object), batched (a list of them), and binary, where the attributes are headers and
the body is the data. Extensions are kept as they come. What their specification demands is
demanded here: specversion 1.0, id, source and type, and names of lower case letters and digits.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from rota.core.arrivals.event import MOST_EVENTS, NewEvent
from rota.core.errors import InvalidInput
from rota.core.submission import within
from rota.core.time import moments

STRUCTURED: Final = "application/cloudevents+json"
BATCH: Final = "application/cloudevents-batch+json"
HEADER: Final = "ce-"
VERSION: Final = "1.0"
_REQUIRED: Final = ("id", "source", "type")
_NAME: Final = re.compile(r"[a-z0-9]{1,64}")
_KNOWN: Final = {"specversion", "id", "source", "type", "time", "subject", "data", "data_base64"}


def read_structured(value: object) -> NewEvent:
    """One event, with attributes and data in one object."""
    if not isinstance(value, Mapping):
        raise InvalidInput("event", value, "an object with the attributes of a CloudEvent")
    given = {name: each for name, each in value.items() if each is not None}
    if given.get("specversion") != VERSION:
        raise InvalidInput("specversion", given.get("specversion"), f"{VERSION!r}")
    for name in _REQUIRED:
        if not isinstance(given.get(name), str) or not given[name]:
            raise InvalidInput(name, given.get(name), "a text, which every CloudEvent has")
    if "data" in given and "data_base64" in given:
        raise InvalidInput("data_base64", "both", "either data or data_base64")
    return NewEvent(
        type=given["type"],
        source=given["source"],
        id=given["id"],
        time=None if "time" not in given else moments.parse(given["time"], field="time"),
        subject=_text(given, "subject"),
        data=value.get("data"),
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
    found = {name: each for name, each in given.items() if name not in _KNOWN - {"data_base64"}}
    for name, each in found.items():
        if name != "data_base64" and not _NAME.fullmatch(name):
            raise InvalidInput(name[:64], each, "a name of lower case letters and digits")
        if not isinstance(each, str | int | bool):
            raise InvalidInput(name, each, "a text, a whole number, true or false")
    return found


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(name, value, "a text")
    return value
