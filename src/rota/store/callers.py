"""Describes the owner of a connection that Rota did not open.

Applications submit jobs through their own connection (sdk/transaction): with their own role, in
their own transaction.
"""

from datetime import datetime
from typing import NamedTuple

from rota.core.errors import StoreRefused
from rota.store.driver import Connection
from rota.store.statement import statement


class Caller(NamedTuple):
    """`now` is the database's time. A walled caller sees at most one tenant."""

    role: str
    now: datetime
    is_read_only: bool
    is_walled: bool


DESCRIBE_CALLER = statement("callers/describe", Caller)


async def describe_caller(conn: Connection) -> Caller:
    caller = await DESCRIBE_CALLER.one(conn)
    if caller is None:
        raise StoreRefused(reason="the server did not report its time", remedy="run `rota migrate`")
    return caller
