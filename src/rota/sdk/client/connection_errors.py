"""Describes in a few words why a connection failed.

The messages of the HTTP libraries name their own classes. The innermost cause is an error of the
operating system, which has a short description.
"""

import os
import ssl
from collections.abc import Iterator


def describe_cause(error: BaseException) -> str:
    """Describe the innermost cause that has a description."""
    for cause in list_causes(error):
        match cause:
            case ssl.SSLError():
                return (getattr(cause, "reason", None) or str(cause)).replace("_", " ").lower()
            case TimeoutError() if not cause.errno:
                return "timed out"
            case OSError(errno=int(number)) if number > 0:
                return os.strerror(number).lower()
            case OSError(strerror=str(text)) if text:
                return text.lower()
            case ConnectionError():
                return "the connection was closed"
            case _:
                pass
    return str(error) or type(error).__name__


def list_causes(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes, innermost first."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return reversed(chain)
