"""What goes wrong between a client and the API. Room: sdk/client.

`ApiError` is what the API answered, `Unreachable` that nothing answered, `Unreadable` that what
answered is not the API that this client knows.
"""

from dataclasses import dataclass, field
from http import HTTPStatus

from msgspec import Struct

from rota.core.errors import RotaError
from rota.sdk.client.finding import Address

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
    help. `hint` says what the client knows about it. `has_no_key`: the client found no key to send.
    """

    status: int
    code: str = UNKNOWN
    detail: str = ""
    title: str = ""
    errors: list[FieldError] = field(default_factory=list)
    retry_after: float | None = None
    request_id: str | None = None
    hint: str | None = None
    has_no_key: bool = False

    def __str__(self) -> str:
        said = self.detail or self.title or phrase(self.status)
        return f"{said}; {self.hint}" if self.hint else said


@dataclass(eq=False, kw_only=True)
class Unreachable(RotaError):
    """Nothing answered. `may_have_happened`: the request was on its way when the line broke.
    `address` says where the address came from.
    """

    url: str
    reason: str
    may_have_happened: bool = False
    address: Address | None = None

    def __str__(self) -> str:
        return self.describe("url=")

    def describe(self, argument: str) -> str:
        """One sentence: which address, where it came from, what is wrong, what to do.

        `argument` is how the reader gives another address.
        """
        source = "" if self.address is None else f" ({self.address.describe(argument)})"
        doubt = "; the request may have been carried out" if self.may_have_happened else ""
        remedy = f"start Rota with `rota up`, or give its address as {argument} or ROTA_URL"
        return f"cannot reach {self.url}{source}: {self.reason}{doubt}; {remedy}"


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
