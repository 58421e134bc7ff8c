"""Why a connection did not come about, in a few words. Room: sdk/client.

The libraries tell it in sentences that name their own classes; underneath lies an error of the
operating system, which says it plainly.
"""

import os
import ssl
from collections.abc import Iterator


def reason_of(error: BaseException) -> str:
    """The innermost thing that says something."""
    for each in chain_of(error):
        match each:
            case ssl.SSLError():
                return (getattr(each, "reason", None) or str(each)).replace("_", " ").lower()
            case TimeoutError() if not each.errno:
                return "it took too long"
            case OSError(errno=int(number)) if number > 0:
                return os.strerror(number).lower()
            case OSError(strerror=str(said)) if said:
                return said.lower()
            case ConnectionError():
                return "the connection was closed"
            case _:
                pass
    return str(error) or type(error).__name__


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """The error, and what led to it, the innermost first."""
    known: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and found not in known:
        known.append(found)
        found = found.__cause__ or found.__context__
    return reversed(known)
