"""Turns the description of an operation into a method of both clients.

`generated/operations.py` describes each operation once: its arguments and the request that they
make. A client sends the request: `Client` waits for the response, `AsyncClient` returns a
coroutine. Type checkers see the arguments and the result of both.
"""

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from rota.sdk.client.requests import ApiRequest

P = ParamSpec("P")
T = TypeVar("T")


class BlockingTransport:
    """A client whose calls wait for the response."""

    def _send(self, request: ApiRequest[T]) -> T:
        raise NotImplementedError


class AsyncTransport:
    """A client whose calls are coroutines."""

    async def _send(self, request: ApiRequest[T]) -> T:
        raise NotImplementedError


class ApiMethod(Generic[P, T]):
    """A method that sends the request that the decorated function builds from its arguments."""

    def __init__(self, prepare: Callable[Concatenate[Any, P], ApiRequest[T]]) -> None:
        self._prepare = prepare
        update_wrapper(self, prepare)

    def __call__(self, client: Any, /, *args: P.args, **given: P.kwargs) -> Any:
        return client._send(self._prepare(client, *args, **given))  # noqa: SLF001 - of the client

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(self, client: BlockingTransport, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, client: AsyncTransport, owner: type
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(self, client: object, owner: type) -> Any:
        return self if client is None else MethodType(self, client)
