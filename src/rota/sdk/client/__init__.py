"""Calls Rota's API from Python: every operation is a typed method.

sync_client.py    `Client`
async_client.py   `AsyncClient`; it needs aiohttp, which is loaded on first use
client_base.py    the code that both clients share
methods.py        turns the description of an operation into a method of both clients
requests.py       builds requests                    responses.py  reads responses
retry_policy.py   decides about retries              errors.py     the errors of a client
discovery.py      finds the server and the key       streams.py    follows logs and the feed
generated/        operations and response types, rendered from the API by `make generate`
"""

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from rota.sdk.client.errors import ApiError, FieldError, Unreachable, Unreadable
from rota.sdk.client.pages import Page
from rota.sdk.client.streams import FeedEvent
from rota.sdk.client.sync_client import Client

if TYPE_CHECKING:
    from rota.sdk.client.async_client import AsyncClient

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
    from rota.sdk.client.async_client import AsyncClient  # noqa: PLC0415 - aiohttp loads slowly

    return AsyncClient
