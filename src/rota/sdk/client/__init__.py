"""Rota's API from Python: every operation as a method, typed. Room: sdk/client.

blocking.py       Client
asynchronous.py   AsyncClient, which needs aiohttp and loads it when it is first asked for
methods.py        an operation as a method of both clients
requests.py       a call before it is sent         answers.py    what came back
patience.py       whether it is tried again        errors.py     what goes wrong
finding.py        where the API is, and the key    streams.py    logs and feed as they come
generated/        operations and shapes, rendered from the API's catalogue by `make generate`
"""

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from rota.sdk.client.blocking import Client
from rota.sdk.client.errors import ApiError, FieldError, Unreachable, Unreadable
from rota.sdk.client.pages import Page
from rota.sdk.client.streams import FeedEvent

if TYPE_CHECKING:
    from rota.sdk.client.asynchronous import AsyncClient

__all__ = [
    "UNSET",
    "ApiError",
    "AsyncClient",
    "Client",
    "FeedEvent",
    "FieldError",
    "Page",
    "Unreachable",
    "Unreadable",
    "UnsetType",
]


def __getattr__(name: str) -> Any:
    if name != "AsyncClient":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rota.sdk.client.asynchronous import AsyncClient  # noqa: PLC0415 - aiohttp takes its time

    return AsyncClient
