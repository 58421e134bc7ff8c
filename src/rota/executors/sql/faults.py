"""What a database refused, in words of ours: the kind of failure, the reason, and whether another
attempt may help. Room: executors/sql.

Drivers translate their errors here once; nobody above them knows an exception of a driver.
"""

from typing import Final

from rota.core.outcome import Failed, Failure

LONGEST_MESSAGE: Final = 2048
# A server that cannot be reached, is starting or stopping, or has no connection left: what it
# would say to any statement.
AWAY: Final = frozenset(
    {
        *("connection", "sqlstate 53300", "sqlstate 57P01", "sqlstate 57P02", "sqlstate 57P03"),
        *("mysql 1040", "mysql 2002", "mysql 2003", "mysql 2006", "mysql 2013", "mysql 2055"),
    }
)


class Fault(Exception):
    """A failure of the database, of a file or of a store. `final` when a retry cannot help."""

    def __init__(self, *, type_: str, message: str, final: bool) -> None:
        super().__init__(message)
        self.type = type_
        self.message = message
        self.final = final

    def failed(self, message: str | None = None) -> Failed:
        said = clip(message or self.message)
        away = self.type in AWAY or self.type.startswith("sqlstate 08")
        return Failed(
            failure=Failure(type=self.type, message=said),
            final=self.final,
            reached=False if away else None,
        )


class DatabaseFault(Fault):
    """One that a connection's own database told; its message may hold what it was told."""


def clip(text: str) -> str:
    """One paragraph that fits; a NUL cannot be stored."""
    text = " ".join(text.replace("\0", "�").split())
    encoded = text.encode(errors="replace")
    if len(encoded) <= LONGEST_MESSAGE:
        return encoded.decode()
    return f"{encoded[: LONGEST_MESSAGE - 3].decode(errors='ignore')}…"


def missing(extra: str, what: str) -> Fault:
    """A library that is an extra of the package and is not installed."""
    return Fault(
        type_="not installed",
        message=f"{what} needs an extra on this worker: pip install 'rota[{extra}]'",
        final=True,
    )
