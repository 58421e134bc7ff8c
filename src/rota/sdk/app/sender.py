"""Sends submitted jobs to the server.

A `Sender` is everything that a job needs from a server. The default is the API client, which is
loaded and connected with the first submission. Tests replace it.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rota.sdk.client import Client


class JobReceipt(Protocol):
    """A job that the server has created."""

    @property
    def job_id(self) -> str: ...
    @property
    def run_id(self) -> str | None: ...
    @property
    def deduplicated(self) -> bool: ...


class SentRun(Protocol):
    """A run as the server shows it."""

    @property
    def run_id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def result(self) -> Any: ...
    @property
    def error_message(self) -> str | None: ...


class Sender(Protocol):
    """The server, as a job sees it. Safe to use from any thread. A draft has the fields of
    `POST /v1/jobs`.
    """

    def create(self, draft: Mapping[str, Any], *, idempotency_key: str | None) -> JobReceipt: ...
    def create_many(self, drafts: Sequence[Mapping[str, Any]]) -> Sequence[JobReceipt]: ...
    def run(self, run_id: str) -> SentRun: ...
    def latest_run(self, job_id: str) -> str | None:
        """The id of the newest run of a job; None if it has none yet."""
        ...

    def cancel(self, run_id: str, *, reason: str | None) -> None: ...


class ClientSender:
    """Sends over HTTP. Finds the URL and the key as every client does if they are None."""

    def __init__(self, url: str | None = None, key: str | None = None) -> None:
        self._url = url
        self._key = key
        self._lock = threading.Lock()
        self._client: Client | None = None

    @property
    def client(self) -> "Client":
        with self._lock:
            if self._client is None:
                from rota.sdk.client import Client  # noqa: PLC0415 — declaring jobs needs no HTTP

                self._client = Client(self._url, self._key)
            return self._client

    def create(self, draft: Mapping[str, Any], *, idempotency_key: str | None) -> JobReceipt:
        return self.client.create_job(**draft, idempotency_key=idempotency_key)

    def create_many(self, drafts: Sequence[Mapping[str, Any]]) -> Sequence[JobReceipt]:
        return self.client.create_jobs(list(drafts)).jobs

    def run(self, run_id: str) -> SentRun:
        return self.client.get_run(run_id)

    def latest_run(self, job_id: str) -> str | None:
        latest = self.client.get_job_status(job_id).latest_run
        return None if latest is None else latest.run_id

    def cancel(self, run_id: str, *, reason: str | None) -> None:
        self.client.cancel_run(run_id, reason=reason)

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None
