"""Defines the errors of a client.

`ApiError`: the API answered with an error. `Unreachable`: the server did not answer. `Unreadable`:
the response does not match the API that this client knows.
"""

from dataclasses import dataclass, field
from http import HTTPStatus

from msgspec import Struct

from rota.core.errors import RotaError
from rota.sdk.client.discovery import ApiAddress

UNKNOWN_CODE = "unknown"


class FieldError(Struct, frozen=True, kw_only=True):
    """The error of one field; `pointer` is a JSON pointer into the request."""

    pointer: str = ""
    code: str = ""
    detail: str = ""


@dataclass(eq=False, kw_only=True)
class ApiError(RotaError):
    """The API answered with an error.

    `code` is stable and has a page in docs/problems; it is "unknown" if the response came from
    another server, such as a proxy. `retry_after` is in seconds; None if waiting does not help.
    `hint` says where the client looked for its key. `has_no_key`: the client found no key to send.
    """

    status: int
    code: str = UNKNOWN_CODE
    detail: str = ""
    title: str = ""
    errors: list[FieldError] = field(default_factory=list)
    retry_after: float | None = None
    request_id: str | None = None
    hint: str | None = None
    has_no_key: bool = False

    def __str__(self) -> str:
        message = self.detail or self.title or describe_status(self.status)
        return f"{message}; {self.hint}" if self.hint else message


@dataclass(eq=False, kw_only=True)
class Unreachable(RotaError):
    """The server did not answer. `may_have_happened`: the connection broke after the request was
    sent. `address` says where the address came from.
    """

    url: str
    reason: str
    may_have_happened: bool = False
    address: ApiAddress | None = None

    def __str__(self) -> str:
        return self.describe("url=")

    def describe(self, argument: str) -> str:
        """One sentence: the address, its source, the error and the remedy.

        `argument` is the option by which the reader sets another address.
        """
        source = "" if self.address is None else f" ({self.address.describe(argument)})"
        doubt = "; the request may have been carried out" if self.may_have_happened else ""
        remedy = f"start Rota with `rota up`, or set its address with {argument} or ROTA_URL"
        return f"cannot reach {self.url}{source}: {self.reason}{doubt}; {remedy}"


@dataclass(eq=False, kw_only=True)
class Unreadable(RotaError):
    """The response does not match the API that this client knows."""

    url: str
    reason: str

    def __str__(self) -> str:
        return (
            f"cannot read the response of {self.url}: {self.reason}; check that the address is "
            "that of a Rota server and that its version matches this client"
        )


def describe_status(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"status {status}"
