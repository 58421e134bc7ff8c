"""Makes one description of an operation a method of both clients. Room: sdk/client.

`generated/operations.py` says once, for each operation, which arguments it takes and which request
they make. A client sends the request: `Client` waits for the answer, `AsyncClient` returns a
coroutine. A type checker sees the arguments and the answer of both.
"""

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from rota.sdk.client.requests import Request

P = ParamSpec("P")
T = TypeVar("T")


class BlockingSender:
    """A client whose calls wait for the answer."""

    def _send(self, request: Request[T]) -> T:
        raise NotImplementedError


class AsyncSender:
    """A client whose calls are coroutines."""

    async def _send(self, request: Request[T]) -> T:
        raise NotImplementedError


class ApiMethod(Generic[P, T]):
    """A method that sends the request which the decorated function makes of its arguments."""

    def __init__(self, prepare: Callable[Concatenate[Any, P], Request[T]]) -> None:
        self._prepare = prepare
        update_wrapper(self, prepare)

    def __call__(self, client: Any, /, *args: P.args, **given: P.kwargs) -> Any:
        return client._send(self._prepare(client, *args, **given))  # noqa: SLF001 - its own

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(self, client: BlockingSender, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncSender, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(self, client: object, owner: type) -> Any:
        return self if client is None else MethodType(self, client)
