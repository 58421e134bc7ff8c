"""What goes wrong between a client and the API. Room: sdk/client.

`ApiError` is what the API answered, `Unreachable` that nothing answered, `Unreadable` that what
answered is not the API that this client knows.
"""

from dataclasses import dataclass, field
from http import HTTPStatus

from msgspec import Struct

from rota.core.errors import RotaError

UNKNOWN = "unknown"


class FieldError(Struct, frozen=True, kw_only=True):
    """What is wrong with one field; `pointer` is a JSON pointer into what was sent."""

    pointer: str = ""
    code: str = ""
    detail: str = ""


@dataclass(eq=False, kw_only=True)
class ApiError(RotaError):
    """The API refused, or failed.

    `code` is stable and has a page in docs/problems; it is "unknown" if something on the way
    answered instead of the API. `retry_after` is in seconds, None where waiting alone does not
    help. `hint` says what the client knows about it.
    """

    status: int
    code: str = UNKNOWN
    detail: str = ""
    title: str = ""
    errors: list[FieldError] = field(default_factory=list)
    retry_after: float | None = None
    request_id: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        said = self.detail or self.title or phrase(self.status)
        return f"{said}; {self.hint}" if self.hint else said


@dataclass(eq=False, kw_only=True)
class Unreachable(RotaError):
    """Nothing answered. `may_have_happened`: the request was on its way when the line broke."""

    url: str
    reason: str
    may_have_happened: bool = False
    hint: str = "the address is url=, else ROTA_URL, else http://127.0.0.1:7070"

    def __str__(self) -> str:
        doubt = "; what was asked for may have been done" if self.may_have_happened else ""
        return f"no answer from {self.url}: {self.reason}{doubt}; {self.hint}"


@dataclass(eq=False, kw_only=True)
class Unreadable(RotaError):
    """An answer that this client does not understand."""

    url: str
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.url} answered something that this client does not understand: {self.reason}; "
            "is it a Rota of another version, or something else?"
        )


def phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"status {status}"
