"""Where a change of a definition came from, as the audit log names it. Room: core."""

from enum import StrEnum
from typing import Final

# The header by which a client says what it is.
ORIGIN_HEADER: Final = "rota-origin"


class ChangeOrigin(StrEnum):
    # An app that a worker serves declares its jobs when the worker starts.
    CODE = "code"
    # `rota apply`.
    FILE = "file"
    # `rota import … --apply`.
    IMPORT = "import"
    CLI = "cli"
    DASHBOARD = "dashboard"
    API = "api"
    # `rota.within`, in a transaction of the caller's.
    TRANSACTION = "transaction"


# What a client may call itself; the server knows the others by itself.
_CLAIMABLE: Final = {each.value: each for each in (ChangeOrigin.CLI, ChangeOrigin.IMPORT)}


def claimed_origin(header: str | None) -> ChangeOrigin:
    """Return what a client with a key says it is; any other text counts as the API itself."""
    return _CLAIMABLE.get(header or "", ChangeOrigin.API)
