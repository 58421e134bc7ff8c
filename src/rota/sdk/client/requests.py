"""Builds a request of the API: path, query, headers and body as bytes.

Keyword arguments are written in the API's notation: times as RFC 3339, durations as ISO 8601;
omitted arguments are left out. Only the path is checked here: the API checks the rest and has
better messages.
"""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import quote, urlencode

import msgspec
from msgspec import UNSET

from rota.core.errors import InvalidInput
from rota.core.time import durations

T = TypeVar("T")
# After a timeout it is unknown whether the request was carried out. `freely`: the operation is
# idempotent. `by_key`: the API recognises a repetition by its idempotency key. `never`: the
# response contains a secret, which the API would have to store with the key.
Repeat = Literal["freely", "by_key", "never"]

IDEMPOTENCY_KEY_PATTERN: Final = re.compile(r"[!-~]{1,255}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest(Generic[T]):
    """A request. `body` holds the given fields, or is None for operations without a body. `answer`
    is the type of the response: NoneType for none, str for text.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    response_type: type[T]
    path_arguments: tuple[object, ...] = ()
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    # An optional body without fields is not sent.
    body_required: bool = True
    repeat: Repeat = "freely"
    idempotency_key: str | None = None
    if_match: int | None = None

    @property
    def target(self) -> str:
        """The path and the query."""
        path = self.path.format(*(quote_segment(place) for place in self.path_arguments))
        pairs = [
            (name, format_parameter(value))
            for name, values in self.query.items()
            for value in list_values(values)
            if value is not None
        ]
        return f"{path}?{urlencode(pairs, quote_via=quote)}" if pairs else path

    def content(self) -> bytes | None:
        """The body as JSON."""
        if self.body is None:
            return None
        fields = {name: value for name, value in self.body.items() if value is not UNSET}
        return encode_body(fields) if fields or self.body_required else None


def quote_segment(value: object) -> str:
    """Quote an id or a name for a path."""
    name = str(value)
    # "." and ".." would be resolved as relative paths.
    if name in {"", ".", ".."}:
        raise InvalidInput("path", name, "expected an id or a name")
    return quote(name, safe="")


def list_values(value: object) -> Sequence[object]:
    """The values of a parameter that may be repeated."""
    if isinstance(value, str) or not isinstance(value, Sequence | AbstractSet):
        return (value,)
    return tuple(value)


def format_parameter(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat()
        case timedelta():
            return durations.to_iso(value)
        case _:
            return str(value)


def encode_body(value: object) -> bytes:
    try:
        return msgspec.json.encode(value, enc_hook=to_plain)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        wanted = f"expected values that JSON can represent: {error}"
        raise InvalidInput("body", type(value).__name__, wanted) from None


def to_plain(value: object) -> object:
    """Convert types that msgspec does not encode."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"objects of type {type(value).__name__} cannot be sent")


def check_idempotency_key(key: str) -> str:
    """Check an idempotency key; one with a line break would inject a header."""
    if not IDEMPOTENCY_KEY_PATTERN.fullmatch(key):
        wanted = "expected 1 to 255 printable ASCII characters without spaces"
        raise InvalidInput("idempotency_key", key, wanted)
    return key
