"""Defines the errors of databases: type, message, and whether a retry may help.

Each session translates its driver's exceptions into these errors; the rest of the code never sees a
driver's exception.
"""

from typing import Final

from rota.core.outcome import Failed, Failure

FAULT_MESSAGE_MAX_BYTES: Final = 2048
# Errors that every statement would get: the server is unreachable, starting, stopping, or out of
# connections.
DATABASE_DOWN_TYPES: Final = frozenset(
    {
        *("connection", "sqlstate 53300", "sqlstate 57P01", "sqlstate 57P02", "sqlstate 57P03"),
        *("mysql 1040", "mysql 2002", "mysql 2003", "mysql 2006", "mysql 2013", "mysql 2055"),
    }
)


class SqlFault(Exception):
    """A failure of the database, of a file or of a store. `final` when a retry cannot help."""

    def __init__(self, *, type_: str, message: str, final: bool) -> None:
        super().__init__(message)
        self.type = type_
        self.message = message
        self.final = final

    def to_failed(self, message: str | None = None) -> Failed:
        is_away = self.type in DATABASE_DOWN_TYPES or self.type.startswith("sqlstate 08")
        return Failed(
            failure=Failure(type=self.type, message=clip_message(message or self.message)),
            final=self.final,
            reached=False if is_away else None,
        )


class DatabaseFault(SqlFault):
    """An error of a connection's database; its message may quote the connection's secrets."""


def clip_message(text: str) -> str:
    """Return the text as one line that fits, without NUL, which cannot be stored."""
    text = " ".join(text.replace("\0", "�").split())
    encoded = text.encode(errors="replace")
    if len(encoded) <= FAULT_MESSAGE_MAX_BYTES:
        return encoded.decode()
    return f"{encoded[: FAULT_MESSAGE_MAX_BYTES - 3].decode(errors='ignore')}…"


def build_missing_extra(extra: str, what: str) -> SqlFault:
    """Return the error for an optional dependency that is not installed."""
    return SqlFault(
        type_="not installed",
        message=f"{what} needs an optional dependency on this worker: pip install 'rota[{extra}]'",
        final=True,
    )
