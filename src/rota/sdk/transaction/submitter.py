"""Provides `rota.in_transaction(conn)`, which submits jobs in the caller's own transaction.

    async with conn.transaction():
        await conn.execute("update orders set paid = true where id = $1", 42)
        await rota.in_transaction(conn).create_job(kind="send_receipt", payload={"order": 42})

The update and the job are committed together or not at all. A sync connection gives a
`TransactionSubmitter`, an async one an `AsyncTransactionSubmitter` with the same methods as
coroutines.
"""

import warnings
from collections.abc import Awaitable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from rota.core.errors import InvalidInput
from rota.executors.python.transactions import BlockingConnection
from rota.sdk.transaction import connections
from rota.sdk.transaction.writer import TransactionJob, TransactionRequest, write_jobs
from rota.store.threads import blocking_driver

T = TypeVar("T")
P = ParamSpec("P")


class DraftableJob(Protocol[P]):
    """A job of a `rota.App`; `draft` returns the fields of `create_job`."""

    def draft(self, *args: P.args, **kwargs: P.kwargs) -> Mapping[str, Any]: ...


class SyncConnection(Protocol):
    """A connection or session whose methods block."""

    def commit(self) -> None: ...


class AsyncConnection(Protocol):
    """A connection or session whose methods are coroutines."""

    def execute(self, *args: Any, **kwargs: Any) -> Awaitable[Any]: ...


class TransactionSubmitter:
    """Submits jobs in the transaction of a sync connection."""

    def __init__(self, conn: Any, *, tenant: str, wake: bool) -> None:
        self._conn = conn
        self._tenant = tenant
        self._wake = wake

    def submit(self, job: DraftableJob[P], /, *args: P.args, **kwargs: P.kwargs) -> TransactionJob:
        """Submit a job of a `rota.App` with these arguments."""
        return self.create_job(**_draft(job, args, kwargs))

    def create_job(self, **fields: Any) -> TransactionJob:
        """Create a job; the fields are those of `Client.create_job`."""
        with _single_job_errors():
            return self.create_jobs([fields])[0]

    def create_jobs(self, jobs: Sequence[Mapping[str, Any]]) -> list[TransactionJob]:
        """Create up to 1,000 jobs, all or none."""
        request = TransactionRequest(jobs=jobs, tenant=self._tenant, wake=self._wake)
        return run_without_loop(write_jobs(connections.open_driver(self._conn), request))


class AsyncTransactionSubmitter:
    """Submits jobs in the transaction of an async connection."""

    def __init__(self, conn: Any, *, tenant: str, wake: bool) -> None:
        self._conn = conn
        self._tenant = tenant
        self._wake = wake

    async def submit(
        self, job: DraftableJob[P], /, *args: P.args, **kwargs: P.kwargs
    ) -> TransactionJob:
        """Submit a job of a `rota.App` with these arguments."""
        return await self.create_job(**_draft(job, args, kwargs))

    async def create_job(self, **fields: Any) -> TransactionJob:
        """Create a job; the fields are those of `AsyncClient.create_job`."""
        with _single_job_errors():
            return (await self.create_jobs([fields]))[0]

    async def create_jobs(self, jobs: Sequence[Mapping[str, Any]]) -> list[TransactionJob]:
        """Create up to 1,000 jobs, all or none."""
        request = TransactionRequest(jobs=jobs, tenant=self._tenant, wake=self._wake)
        return await write_jobs(await connections.open_async_driver(self._conn), request)


@overload
def in_transaction(
    conn: SyncConnection | BlockingConnection, /, *, tenant: str = ..., wake: bool = ...
) -> TransactionSubmitter: ...
@overload
def in_transaction(
    conn: AsyncConnection, /, *, tenant: str = ..., wake: bool = ...
) -> AsyncTransactionSubmitter: ...
def in_transaction(
    conn: Any, /, *, tenant: str = "default", wake: bool = True
) -> "TransactionSubmitter | AsyncTransactionSubmitter":
    """Submit jobs through this connection, in its open transaction.

    `conn` is a connection of asyncpg or psycopg, a Session or Connection of SQLAlchemy over one of
    them, sync or async, or the connection of `ctx.transaction()`. With `wake=False` the commit
    sends no hint to the workers; they find the job within a quarter of a second.
    """
    submitter = (
        AsyncTransactionSubmitter
        if connections.find_connection_class(conn) in connections.ASYNC_CONNECTION_CLASSES
        else TransactionSubmitter
    )
    return submitter(conn, tenant=tenant, wake=wake)


@overload
def within(
    conn: SyncConnection | BlockingConnection, /, *, tenant: str = ..., wake: bool = ...
) -> TransactionSubmitter: ...
@overload
def within(
    conn: AsyncConnection, /, *, tenant: str = ..., wake: bool = ...
) -> AsyncTransactionSubmitter: ...
def within(
    conn: Any, /, *, tenant: str = "default", wake: bool = True
) -> "TransactionSubmitter | AsyncTransactionSubmitter":
    """Do the same as `in_transaction`. Deprecated: the name was changed."""
    message = "rota.within() is deprecated; use rota.in_transaction()"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    submitter: TransactionSubmitter | AsyncTransactionSubmitter = in_transaction(
        conn, tenant=tenant, wake=wake
    )
    return submitter


def run_without_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, because its driver blocks."""
    try:
        with blocking_driver():
            coroutine.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return] # the coroutine's result
    coroutine.close()
    raise RuntimeError("the coroutine of a sync driver was suspended")


@contextmanager
def _single_job_errors() -> Iterator[None]:
    """Remove the index `jobs[0]` from the errors of a single job."""
    try:
        yield
    except InvalidInput as error:
        error.field = error.field.removeprefix("jobs[0].")
        raise


def _draft(job: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Mapping[str, Any]:
    draft = getattr(job, "draft", None)
    if draft is None:
        wanted = "expected a job of a rota.App; for plain fields, use create_job()"
        raise InvalidInput("job", job, wanted)
    return draft(*args, **kwargs)  # type: ignore[no-any-return] # typed by the protocol `Job`
