"""A real PostgreSQL in a folder, without installing one. Room: store/embedded.

    with start(Path(".rota")) as database:
        asyncpg.connect(database.url)

Every process that uses the server holds a share in it; the first one starts it, the last one to
leave, or to be killed, ends it. Durable always: fsync, synchronous_commit and full_page_writes are
on, except in homes made for tests. ADR 0003 says why it is built like this. No SQL and no driver
here: this room is about processes and files.
"""

from rota.store.embedded.starting import Embedded, Options, start

__all__ = ["Embedded", "Options", "start"]
