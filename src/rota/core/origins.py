"""Names the origins of changes to definitions, for the audit log."""

from enum import StrEnum
from typing import Final

# The request header in which a client names itself.
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
    # `rota.in_transaction`, in a transaction of the caller.
    TRANSACTION = "transaction"


# The origins that a client may claim; the server determines the others itself.
_CLAIMABLE: Final = {origin.value: origin for origin in (ChangeOrigin.CLI, ChangeOrigin.IMPORT)}


def parse_origin(header: str | None) -> ChangeOrigin:
    """Return the origin that a client claims; any other text means the API."""
    return _CLAIMABLE.get(header or "", ChangeOrigin.API)
