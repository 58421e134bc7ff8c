"""`rota.within(conn)`: hand in jobs with the caller's own transaction. Room: sdk/transaction.

    async with conn.transaction():
        await conn.execute("update orders set paid = true where id = $1", 42)
        await rota.within(conn).create_job(kind="send_receipt", payload={"order": 42})

Both happen at the commit, or neither. A sync connection gives a `Within`, whose methods return what
an `AsyncWithin` has awaited.
"""

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
    """A job of a `rota.App`: its draft has the fields of `create_job`."""

    def draft(self, *args: P.args, **kwargs: P.kwargs) -> Mapping[str, Any]: ...


class SyncOwner(Protocol):
    """A connection or session whose methods block."""

    def commit(self) -> None: ...


class AsyncOwner(Protocol):
    """A connection or session whose methods are awaited."""

    def execute(self, *args: Any, **kwargs: Any) -> Awaitable[Any]: ...


class Within:
    """The transaction of a sync connection."""

    def __init__(self, conn: Any, *, tenant: str, wake: bool) -> None:
        self._conn = conn
        self._tenant = tenant
        self._wake = wake

    def submit(self, job: Job[P], /, *args: P.args, **kwargs: P.kwargs) -> Made:
        """Hand in a job of a `rota.App` with these arguments."""
        return self.create_job(**_draft(job, args, kwargs))

    def create_job(self, **fields: Any) -> Made:
        """Make a job; the fields are those of `Client.create_job`."""
        with _alone():
            return self.create_jobs([fields])[0]

    def create_jobs(self, jobs: Sequence[Mapping[str, Any]]) -> list[Made]:
        """Make up to 1,000 jobs, all or none."""
        asked = Asked(jobs=jobs, tenant=self._tenant, wake=self._wake)
        return driven(write(owners.driver(self._conn), asked))


class AsyncWithin:
    """The transaction of an async connection."""

    def __init__(self, conn: Any, *, tenant: str, wake: bool) -> None:
        self._conn = conn
        self._tenant = tenant
        self._wake = wake

    async def submit(self, job: Job[P], /, *args: P.args, **kwargs: P.kwargs) -> Made:
        """Hand in a job of a `rota.App` with these arguments."""
        return await self.create_job(**_draft(job, args, kwargs))

    async def create_job(self, **fields: Any) -> Made:
        """Make a job; the fields are those of `AsyncClient.create_job`."""
        with _alone():
            return (await self.create_jobs([fields]))[0]

    async def create_jobs(self, jobs: Sequence[Mapping[str, Any]]) -> list[Made]:
        """Make up to 1,000 jobs, all or none."""
        asked = Asked(jobs=jobs, tenant=self._tenant, wake=self._wake)
        return await write(await owners.async_driver(self._conn), asked)


@overload
def within(
    conn: SyncOwner | BlockingConnection, /, *, tenant: str = ..., wake: bool = ...
) -> Within: ...
@overload
def within(conn: AsyncOwner, /, *, tenant: str = ..., wake: bool = ...) -> AsyncWithin: ...
def within(conn: Any, /, *, tenant: str = "default", wake: bool = True) -> "Within | AsyncWithin":
    """Hand in jobs through this connection, in the transaction that is open on it.

    `conn` is a connection of asyncpg or psycopg, a Session or Connection of SQLAlchemy over one of
    them, sync or async, or what `ctx.transaction()` gave. `wake=False` spares the hint to workers:
    they find the job when they look by themselves, within a quarter of a second.
    """
    kind = AsyncWithin if owners.sort_of(conn) in owners.ASYNC else Within
    return kind(conn, tenant=tenant, wake=wake)


def driven(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, because its driver blocks."""
    try:
        with blocking_driver():
            work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return] # what the coroutine returned
    work.close()
    raise RuntimeError("a sync driver let its coroutine wait")


@contextmanager
def _alone() -> Iterator[None]:
    """The errors of a list of one, without its number."""
    try:
        yield
    except InvalidInput as error:
        error.field = error.field.removeprefix("jobs[0].")
        raise


def _draft(job: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Mapping[str, Any]:
    draft = getattr(job, "draft", None)
    if draft is None:
        raise InvalidInput("job", job, "a job of a rota.App; `create_job` takes plain fields")
    return draft(*args, **kwargs)  # type: ignore[no-any-return] # as `Job` says
