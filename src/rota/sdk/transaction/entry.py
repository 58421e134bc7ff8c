"""Provides `rota.in_transaction(conn)`, which submits jobs in the caller's own transaction.

    async with conn.transaction():
        await conn.execute("update orders set paid = true where id = $1", 42)
        await rota.in_transaction(conn).create_job(kind="send_receipt", payload={"order": 42})

The update and the job are committed together or not at all. A sync connection gives a `Within`, an
async one an `AsyncWithin` with the same methods as coroutines.
"""

import warnings
from collections.abc import Awaitable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from rota.core.errors import InvalidInput
from rota.executors.python.transactions import BlockingConnection
from rota.sdk.transaction import owners
from rota.sdk.transaction.writing import Asked, Made, write
from rota.store.threads import blocking_driver

T = TypeVar("T")
P = ParamSpec("P")


class Job(Protocol[P]):
    """A job of a `rota.App`; `draft` returns the fields of `create_job`."""

    def draft(self, *args: P.args, **kwargs: P.kwargs) -> Mapping[str, Any]: ...


class SyncOwner(Protocol):
    """A connection or session whose methods block."""

    def commit(self) -> None: ...


class AsyncOwner(Protocol):
    """A connection or session whose methods are coroutines."""

    def execute(self, *args: Any, **kwargs: Any) -> Awaitable[Any]: ...


class Within:
    """Submits jobs in the transaction of a sync connection."""

    def __init__(self, conn: Any, *, tenant: str, wake: bool) -> None:
        self._conn = conn
        self._tenant = tenant
        self._wake = wake

    def submit(self, job: Job[P], /, *args: P.args, **kwargs: P.kwargs) -> Made:
        """Submit a job of a `rota.App` with these arguments."""
        return self.create_job(**_draft(job, args, kwargs))

    def create_job(self, **fields: Any) -> Made:
        """Create a job; the fields are those of `Client.create_job`."""
        with _single_job_errors():
            return self.create_jobs([fields])[0]

    def create_jobs(self, jobs: Sequence[Mapping[str, Any]]) -> list[Made]:
        """Create up to 1,000 jobs, all or none."""
        request = Asked(jobs=jobs, tenant=self._tenant, wake=self._wake)
        return driven(write(owners.driver(self._conn), request))


class AsyncWithin:
    """Submits jobs in the transaction of an async connection."""

    def __init__(self, conn: Any, *, tenant: str, wake: bool) -> None:
        self._conn = conn
        self._tenant = tenant
        self._wake = wake

    async def submit(self, job: Job[P], /, *args: P.args, **kwargs: P.kwargs) -> Made:
        """Submit a job of a `rota.App` with these arguments."""
        return await self.create_job(**_draft(job, args, kwargs))

    async def create_job(self, **fields: Any) -> Made:
        """Create a job; the fields are those of `AsyncClient.create_job`."""
        with _single_job_errors():
            return (await self.create_jobs([fields]))[0]

    async def create_jobs(self, jobs: Sequence[Mapping[str, Any]]) -> list[Made]:
        """Create up to 1,000 jobs, all or none."""
        request = Asked(jobs=jobs, tenant=self._tenant, wake=self._wake)
        return await write(await owners.async_driver(self._conn), request)


@overload
def in_transaction(
    conn: SyncOwner | BlockingConnection, /, *, tenant: str = ..., wake: bool = ...
) -> Within: ...
@overload
def in_transaction(conn: AsyncOwner, /, *, tenant: str = ..., wake: bool = ...) -> AsyncWithin: ...
def in_transaction(
    conn: Any, /, *, tenant: str = "default", wake: bool = True
) -> "Within | AsyncWithin":
    """Submit jobs through this connection, in its open transaction.

    `conn` is a connection of asyncpg or psycopg, a Session or Connection of SQLAlchemy over one of
    them, sync or async, or the connection of `ctx.transaction()`. With `wake=False` the commit
    sends no hint to the workers; they find the job within a quarter of a second.
    """
    submitter = AsyncWithin if owners.sort_of(conn) in owners.ASYNC else Within
    return submitter(conn, tenant=tenant, wake=wake)


@overload
def within(
    conn: SyncOwner | BlockingConnection, /, *, tenant: str = ..., wake: bool = ...
) -> Within: ...
@overload
def within(conn: AsyncOwner, /, *, tenant: str = ..., wake: bool = ...) -> AsyncWithin: ...
def within(conn: Any, /, *, tenant: str = "default", wake: bool = True) -> "Within | AsyncWithin":
    """Do the same as `in_transaction`. Deprecated: the name was changed."""
    message = "rota.within() is deprecated; use rota.in_transaction()"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    submitter: Within | AsyncWithin = in_transaction(conn, tenant=tenant, wake=wake)
    return submitter


def driven(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, because its driver blocks."""
    try:
        with blocking_driver():
            work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return] # the coroutine's result
    work.close()
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
