"""Runs a real PostgreSQL in a folder, without installing one.

    with start(Path(".rota")) as database:
        asyncpg.connect(database.url)

Every process that uses the server holds a share in it; the first one starts it, and it stops when
the last one leaves or is killed. It is always durable: fsync, synchronous_commit and
full_page_writes are on, except in homes created for tests. ADR 0003 gives the reasons for this
design. This package handles processes and files; it contains no SQL and no driver.
"""

from rota.store.embedded.startup import Embedded, EmbeddedOptions, start

__all__ = ["Embedded", "EmbeddedOptions", "start"]
