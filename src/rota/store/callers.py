"""Whose connection it is, when it is not one of ours. Room: store.

Somebody hands in jobs through a connection of their own (sdk/transaction): as their own role, in
their own transaction.
"""

from datetime import datetime
from typing import NamedTuple

from rota.core.errors import StoreRefused
from rota.store.driver import Connection
from rota.store.statement import statement


class Caller(NamedTuple):
    """`now` is the time by the database's clock; who is walled sees one tenant at most."""

    role: str
    now: datetime
    is_read_only: bool
    is_walled: bool


DESCRIBE = statement("callers/describe", Caller)


async def describe(conn: Connection) -> Caller:
    caller = await DESCRIBE.one(conn)
    if caller is None:
        raise StoreRefused(reason="it does not tell the time", remedy="run `rota migrate`")
    return caller
