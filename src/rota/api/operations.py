"""What an operation of the API is: one declaration for route, check, document and test. Room: api.

An operation names its permission, what it reads and what it answers. The router, the OpenAPI
document, the matrix of who may do what and the reference page are all made from this list, so they
cannot disagree. An operation without a permission is open to everybody, and says so.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

from rota.core.access import Permission

if TYPE_CHECKING:
    from starlette.requests import Request

    from rota.api.call import Call, Reply

Handle = Callable[["Call"], Awaitable["Reply"]]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
# Where its statements run: behind the tenant's wall in one transaction; on a connection of the
# whole installation; there for a key of the platform that acts for all tenants, and behind the wall
# for others; or nowhere that the door could prepare.
Scope = Literal["tenant", "platform", "either", "none"]
ChosenScope = Literal["tenant", "platform", "none"]

_PARAMETER: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`problems` are the codes it may answer beside those that every operation may."""

    method: Method
    path: str
    name: str
    summary: str
    tag: str
    handle: Handle
    permission: Permission | None
    query: type[Struct] | None = None
    body: Any = None
    body_required: bool = True
    # How the body is read if not, or not only, as JSON of that shape; and the schemas of the other
    # forms that it may have, by their media types.
    read: Callable[[bytes, "Request"], Any] | None = None
    other_bodies: Mapping[str, Any] = field(default_factory=dict)
    answer: Any = None
    status: int = 200
    # What else it may answer when all is well, with the same body.
    other_statuses: tuple[int, ...] = ()
    scope: Scope = "tenant"
    # How it is carried out if it comes without an idempotency key and may share a transaction.
    gathered: Handle | None = None
    problems: tuple[str, ...] = ()
    largest_body: int = 1_000_000
    media: str = "application/json"
    # In which form else it may answer, if it is asked to.
    other_media: tuple[str, ...] = ()
    # The answer shows a secret that nobody can read again. It is not stored for an idempotency key.
    reveals_secret: bool = False
    # A health probe: it costs nothing, and is counted against no rate.
    is_probe: bool = False
    # The caller has no key and signs its requests; each hook has a rate of its own.
    is_hook: bool = False
    example: Any = None
    description: str = ""
    # Where else it is found, by the same rules; each has the same places for ids.
    other_paths: tuple[str, ...] = ()
    parameters: tuple[str, ...] = field(default=())

    @property
    def has_body(self) -> bool:
        return self.body is not None or self.read is not None

    @property
    def is_change(self) -> bool:
        return self.method != "GET"


class Catalogue:
    """The operations in the order in which they were declared."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def operation(
        self, method: Method, path: str, *, tag: str, permission: Permission | None, **more: Any
    ) -> Callable[[Handle], Handle]:
        """Declare the decorated function; its name and docstring become those of the operation."""

        def declare(handle: Handle) -> Handle:
            said = (handle.__doc__ or "").strip().split("\n\n", 1)
            self.operations.append(
                Operation(
                    method=method,
                    path=path,
                    name=handle.__name__,
                    summary=" ".join(said[0].split()).rstrip("."),
                    description=" ".join(said[1].split()) if len(said) > 1 else "",
                    tag=tag,
                    handle=handle,
                    permission=permission,
                    parameters=tuple(_PARAMETER.findall(path)),
                    **more,
                )
            )
            return handle

        return declare


catalogue = Catalogue()
operation = catalogue.operation
