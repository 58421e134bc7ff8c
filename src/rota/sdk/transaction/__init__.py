"""Submits jobs in the caller's own database transaction: `rota.in_transaction(conn)`.

entry.py      the public functions, and the sync and async objects that they return
writing.py    writes one submission inside a savepoint, with any driver
drivers.py    adapts asyncpg and psycopg connections to the store's statements
owners.py     finds the driver's connection in the caller's object (SQLAlchemy)
"""

from rota.sdk.transaction.submitter import (
    AsyncTransactionSubmitter,
    TransactionSubmitter,
    in_transaction,
    within,
)
from rota.sdk.transaction.writer import TransactionJob

__all__ = [
    "AsyncTransactionSubmitter",
    "TransactionJob",
    "TransactionSubmitter",
    "in_transaction",
    "within",
]
