"""Declares API operations: one declaration for route, validation, document and test.

An operation declares its permission, its input and its response. The router, the OpenAPI document,
the permission matrix and the reference page are generated from this list, so they cannot disagree.
An operation without a permission needs no key, and its declaration says so.
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

OperationHandler = Callable[["Call"], Awaitable["Reply"]]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
# Where the statements run. "tenant": one transaction in the tenant's row-level security scope.
# "platform": a connection for the whole installation. "either": "platform" for a platform key that
# acts for all tenants, else "tenant". "none": the pipeline prepares no connection.
Scope = Literal["tenant", "platform", "either", "none"]
ChosenScope = Literal["tenant", "platform", "none"]

_PARAMETER: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation. `problems` are its problem codes beyond those of every operation."""

    method: Method
    path: str
    name: str
    summary: str
    tag: str
    handle: OperationHandler
    permission: Permission | None
    query: type[Struct] | None = None
    body: Any = None
    body_required: bool = True
    # Reads a body that is not, or not only, JSON of that schema; and the schemas of the other
    # formats, by media type.
    read: Callable[[bytes, "Request"], Any] | None = None
    other_bodies: Mapping[str, Any] = field(default_factory=dict)
    answer: Any = None
    status: int = 200
    # Other success statuses, with the same body.
    other_statuses: tuple[int, ...] = ()
    scope: Scope = "tenant"
    # Executes the operation in a shared transaction, if it may be batched.
    handle_batched: OperationHandler | None = None
    problems: tuple[str, ...] = ()
    body_bytes_max: int = 1_000_000
    media: str = "application/json"
    # Other media types that the caller may request.
    other_media: tuple[str, ...] = ()
    # The response contains a secret that is shown once. It is not stored for an idempotency key.
    reveals_secret: bool = False
    # A health probe: cheap, and exempt from rate limits.
    is_probe: bool = False
    # The caller has no key and signs its requests; each hook has its own rate limit.
    is_hook: bool = False
    example: Any = None
    description: str = ""
    # Other paths of the operation, with the same path parameters.
    other_paths: tuple[str, ...] = ()
    parameters: tuple[str, ...] = field(default=())

    @property
    def has_body(self) -> bool:
        return self.body is not None or self.read is not None

    @property
    def is_change(self) -> bool:
        return self.method != "GET"


class Catalogue:
    """All operations in the order of their declaration."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def operation(
        self, method: Method, path: str, *, tag: str, permission: Permission | None, **more: Any
    ) -> Callable[[OperationHandler], OperationHandler]:
        """Declare the decorated function as an operation. Its name becomes the operation id, its
        docstring the summary and description.
        """

        def declare(handle: OperationHandler) -> OperationHandler:
            texts = (handle.__doc__ or "").strip().split("\n\n", 1)
            self.operations.append(
                Operation(
                    method=method,
                    path=path,
                    name=handle.__name__,
                    summary=" ".join(texts[0].split()).rstrip("."),
                    description=" ".join(texts[1].split()) if len(texts) > 1 else "",
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
