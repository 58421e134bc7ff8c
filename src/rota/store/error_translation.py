"""Translates driver errors to RotaError, by SQLSTATE, in one table.

No other module sees an exception of the driver. Temporary errors become StoreUnavailable, and
services retry those with back-off; permanent errors become StoreRefused or StoreFailed.
"""

import errno
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import asyncpg

from rota.core.errors import (
    IllegalMove,
    RotaError,
    SchemaMismatch,
    StoreFailed,
    StoreRefused,
    StoreUnavailable,
)
from rota.store.driver import Connection

CHECK_URL: Final = "correct ROTA_DATABASE_URL or database.url"
CHECK_CERTIFICATE: Final = (
    "check sslmode and sslrootcert in ROTA_DATABASE_URL, and the name in the server's certificate"
)
# Raised by the generated state guard.
ILLEGAL_MOVE_SQLSTATE: Final = "RT001"


def _unavailable(error: asyncpg.PostgresError) -> RotaError:
    return StoreUnavailable(reason=f"{error.sqlstate}: {first_line_of(error)}")


def _down(error: asyncpg.PostgresError) -> RotaError:
    return StoreUnavailable(reason=f"{error.sqlstate}: {first_line_of(error)}", is_down=True)


def _violated(error: asyncpg.PostgresError) -> RotaError:
    """Translate a violated constraint.

    A partition constraint is violated when a row was on its way to the default partition while its
    day was created; a retry goes to the day. Any other violated constraint is a bug in Rota.
    """
    if "partition constraint" in str(error):
        return _unavailable(error)
    return StoreFailed(sqlstate=error.sqlstate or "", message=first_line_of(error))


def _illegal(error: asyncpg.PostgresError) -> RotaError:
    thing, _, states = (error.detail or "run: ? to ?").partition(": ")
    old, _, new = states.partition(" to ")
    return IllegalMove(thing=thing, state=old, event=f"become {new}")


def _mismatch(error: asyncpg.PostgresError) -> RotaError:
    return SchemaMismatch(
        reason=first_line_of(error), remedy="run `rota migrate` with this version"
    )


def _refused(error: asyncpg.PostgresError) -> RotaError:
    return StoreRefused(
        reason=first_line_of(error), remedy="check the user and password in ROTA_DATABASE_URL"
    )


def _denied(error: asyncpg.PostgresError) -> RotaError:
    """The login lacks a right; `rota migrate` grants the database roles their rights."""
    return StoreRefused(
        reason=first_line_of(error),
        remedy="run `rota migrate` with the URL of the schema's owner, or check the login in "
        "ROTA_DATABASE_URL",
    )


# By SQLSTATE, then by its class (the first two characters).
TRANSLATIONS: Final[dict[str, Callable[[asyncpg.PostgresError], RotaError]]] = {
    ILLEGAL_MOVE_SQLSTATE: _illegal,
    "08": _unavailable,  # connection exceptions
    "23514": _violated,
    "25006": _unavailable,  # read-only: an old primary; the pool must find the new one (F49)
    "25P03": _unavailable,  # idle in transaction for too long
    "28": _refused,  # wrong user or password
    "3D000": _refused,  # no such database
    "3F000": _mismatch,  # no such schema
    "40": _unavailable,  # deadlock or serialisation failure: retry a little later
    "42501": _denied,  # a right is missing
    "42703": _mismatch,  # no such column
    "42704": _mismatch,  # no such type
    "42883": _mismatch,  # no such function
    "42P01": _mismatch,  # no such table
    "53": _unavailable,  # disk full, too many connections, out of memory
    "55000": _unavailable,  # the database accepts no connections at the moment
    "55P03": _unavailable,  # lock timeout
    "57": _unavailable,  # shutting down, starting up, cancelled by a timeout
    "57P03": _down,  # starting up, shutting down or in recovery
    "58": _unavailable,  # system errors: I/O
}


def first_line_of(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def translate_error(error: asyncpg.PostgresError) -> RotaError:
    state = error.sqlstate or "XX000"
    meaning = TRANSLATIONS.get(state) or TRANSLATIONS.get(state[:2])
    if meaning is not None:
        return meaning(error)
    return StoreFailed(sqlstate=state, message=first_line_of(error))


@contextmanager
def translate_errors(conn: Connection | None = None) -> Iterator[None]:
    """Translate driver errors raised inside the block.

    Wrap only calls of the driver: any `OSError` or `TimeoutError` inside is taken for the driver's.
    `conn` distinguishes a lost connection from incorrect use of it.
    """
    try:
        yield
    except asyncpg.PostgresError as error:
        raise translate_error(error) from error
    except asyncpg.InternalClientError as error:
        # asyncpg raises this when the server dies between two statements: "cannot switch to state".
        raise StoreUnavailable(reason=first_line_of(error)) from error
    except asyncpg.ClientConfigurationError as error:
        raise StoreRefused(reason=first_line_of(error), remedy=CHECK_URL) from error
    except asyncpg.InterfaceError as error:
        if not is_gone(conn):
            raise
        raise StoreUnavailable(reason=first_line_of(error)) from error
    except ssl.SSLCertVerificationError as error:
        raise StoreRefused(reason=first_line_of(error), remedy=CHECK_CERTIFICATE) from error
    except OSError as error:  # includes TimeoutError
        raise StoreUnavailable(reason=first_line_of(error), is_down=is_refusal(error)) from error


# No server listens: the port is closed, or the socket file is missing.
_NO_SERVER: Final = frozenset({errno.ECONNREFUSED, errno.ENOENT})
_ERRNO: Final = re.compile(r"\[Errno (\d+)\]")


def is_refusal(error: OSError) -> bool:
    """Return whether no server listens at any address that was tried."""
    if error.errno is not None:
        return error.errno in _NO_SERVER
    # asyncio, for a host with several addresses: "Multiple exceptions: [Errno 111] …, [Errno 111]
    # …"
    tried = _ERRNO.findall(str(error))
    return bool(tried) and all(int(number) in _NO_SERVER for number in tried)


def is_gone(conn: Connection | None) -> bool:
    """Return whether a connection is closed, directly or by its pool."""
    is_closed = getattr(conn, "is_closed", None)
    if is_closed is None:
        return False
    try:
        return bool(is_closed())
    except asyncpg.InterfaceError:
        return True
