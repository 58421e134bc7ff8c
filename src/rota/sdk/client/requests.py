"""One call of the API before it is sent: path, query, headers and body as bytes. Room: sdk/client.

Whatever came as a keyword is written here in the API's spelling: times as RFC 3339, durations as
ISO 8601, what was not given not at all. Nothing is checked beyond what the path needs: the API
does, and says it better.
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
# A time-out after the request was sent leaves open whether it was carried out. `freely`: to do it
# again changes nothing. `by_key`: the API knows it again by its idempotency key. `never`: the
# answer holds a secret, which the API would have to store beside the key.
Repeat = Literal["freely", "by_key", "never"]

KEY: Final = re.compile(r"[!-~]{1,255}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T]):
    """`body` is None where the operation takes none, and has only what was given. `answer` is the
    shape of the answer: NoneType for none, str for text.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    answer: type[T]
    places: tuple[object, ...] = ()
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    # A body without fields is not sent if it may be left out.
    body_required: bool = True
    repeat: Repeat = "freely"
    idempotency_key: str | None = None
    if_match: int | None = None

    @property
    def target(self) -> str:
        """The path and the query."""
        path = self.path.format(*(segment(place) for place in self.places))
        given = [
            (name, text(value))
            for name, said in self.query.items()
            for value in each_of(said)
            if value is not None
        ]
        return f"{path}?{urlencode(given, quote_via=quote)}" if given else path

    def content(self) -> bytes | None:
        """The body as JSON."""
        if self.body is None:
            return None
        given = {name: value for name, value in self.body.items() if value is not UNSET}
        return encode(given) if given or self.body_required else None


def segment(place: object) -> str:
    """An id or a name in a path."""
    said = str(place)
    # The two dots would be taken for the folder above.
    if said in {"", ".", ".."}:
        raise InvalidInput("path", said, "an id or a name is needed here")
    return quote(said, safe="")


def each_of(value: object) -> Sequence[object]:
    """A parameter that may be given several times, or once."""
    if isinstance(value, str) or not isinstance(value, Sequence | AbstractSet):
        return (value,)
    return tuple(value)


def text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat()
        case timedelta():
            return durations.iso(value)
        case _:
            return str(value)


def encode(value: object) -> bytes:
    try:
        return msgspec.json.encode(value, enc_hook=plain)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise InvalidInput("body", type(value).__name__, f"JSON is needed: {error}") from None


def plain(value: object) -> object:
    """What msgspec does not write by itself."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"objects of type {type(value).__name__} cannot be sent")


def checked_key(key: str) -> str:
    """A key with a line break would be another header."""
    if not KEY.fullmatch(key):
        wanted = "1 to 255 printable ASCII characters and no space"
        raise InvalidInput("idempotency_key", key, wanted)
    return key
