"""Connections of every kind that `rota.in_transaction` accepts, each in a transaction."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import isawaitable
from typing import Any

import asyncpg
import psycopg
import sqlalchemy
from sqlalchemy.orm import Session


@dataclass(kw_only=True)
class Owner:
    """Somebody with an open transaction; `conn` is what they hand to `rota.in_transaction`."""

    conn: Any
    run: Callable[[str], Any]
    end: Callable[[bool], Any]

    async def execute(self, sql: str) -> None:
        await settled(self.run(sql))

    async def commit(self) -> None:
        await settled(self.end(True))

    async def rollback(self) -> None:
        await settled(self.end(False))


async def settled(value: Any) -> Any:
    """What a sync connection returned, or an async one is waiting for."""
    return await value if isawaitable(value) else value


@asynccontextmanager
async def of_asyncpg(url: str) -> AsyncIterator[Owner]:
    conn = await asyncpg.connect(url)
    await conn.execute("begin")

    async def end(keep: bool) -> None:
        # By hand, and the next one begins at once, as it does with the others.
        await conn.execute("commit; begin" if keep else "rollback; begin")

    try:
        yield Owner(conn=conn, run=conn.execute, end=end)
    finally:
        await conn.close()


@asynccontextmanager
async def of_psycopg(url: str) -> AsyncIterator[Owner]:
    with psycopg.connect(url) as conn:
        yield Owner(
            conn=conn,
            run=conn.execute,
            end=lambda keep: conn.commit() if keep else conn.rollback(),
        )


@asynccontextmanager
async def of_async_psycopg(url: str) -> AsyncIterator[Owner]:
    async with await psycopg.AsyncConnection.connect(url) as conn:
        yield Owner(
            conn=conn,
            run=conn.execute,
            end=lambda keep: conn.commit() if keep else conn.rollback(),
        )


@asynccontextmanager
async def of_sqlalchemy_session(url: str) -> AsyncIterator[Owner]:
    engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url))
    with Session(engine) as session:
        yield _of_sqlalchemy(session)
    engine.dispose()


@asynccontextmanager
async def of_sqlalchemy_connection(url: str) -> AsyncIterator[Owner]:
    engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url))
    with engine.connect() as conn:
        yield _of_sqlalchemy(conn)
    engine.dispose()


@asynccontextmanager
async def of_async_session(url: str) -> AsyncIterator[Owner]:
    from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine  # noqa: PLC0415 — see KINDS

    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url)
    )
    async with AsyncSession(engine) as session:
        yield _of_sqlalchemy(session)
    await engine.dispose()


@asynccontextmanager
async def of_async_connection(url: str) -> AsyncIterator[Owner]:
    from sqlalchemy.ext.asyncio import create_async_engine  # noqa: PLC0415 — see KINDS

    engine = create_async_engine(
        "postgresql+psycopg_async://",
        async_creator=lambda: psycopg.AsyncConnection.connect(url),
    )
    async with engine.connect() as conn:
        yield _of_sqlalchemy(conn)
    await engine.dispose()


def _of_sqlalchemy(owner: Any) -> Owner:
    return Owner(
        conn=owner,
        run=lambda sql: owner.execute(sqlalchemy.text(sql)),
        end=lambda keep: owner.commit() if keep else owner.rollback(),
    )


KINDS: dict[str, Callable[[str], Any]] = {
    "asyncpg": of_asyncpg,
    "psycopg": of_psycopg,
    "async psycopg": of_async_psycopg,
    "SQLAlchemy Session": of_sqlalchemy_session,
    "SQLAlchemy Connection": of_sqlalchemy_connection,
}
NATIVE = ("asyncpg", "psycopg", "async psycopg")
# SQLAlchemy's async side needs it.
if find_spec("greenlet"):
    KINDS |= {
        "SQLAlchemy AsyncSession": of_async_session,
        "SQLAlchemy AsyncConnection": of_async_connection,
    }
