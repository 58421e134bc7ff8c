"""Jobs that are handed in with the caller's own transaction: `rota.within(conn)`. Room: sdk.

entry.py      what people call: `within`, and the two faces of what it returns
writing.py    one submission, inside a savepoint, over any of the drivers
drafts.py     the fields of a job become what flow/submit takes
drivers.py    asyncpg and psycopg connections as the store's statements need them
owners.py     finds the driver's connection inside whatever was handed in (SQLAlchemy)
"""

from rota.sdk.transaction.entry import AsyncWithin, Within, within
from rota.sdk.transaction.writing import Made

__all__ = ["AsyncWithin", "Made", "Within", "within"]
