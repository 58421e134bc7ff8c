"""Ids as the outside sees them: a prefix that says what it is, then the UUID. Room: api.

`job_0199…` reads better in a log than 36 anonymous characters, and a run's id given where a job's
is wanted is refused at once. A bare UUID is understood as well.
"""

import re
from typing import Any, Final
from uuid import UUID

from rota.core.errors import NotFound

PREFIXES: Final = {
    "backfill_id": "bf",
    "job_id": "job",
    "run_id": "run",
    "worker_id": "wrk",
    "key_id": "key",
    "session_id": "wrk",
    "event_id": "evt",
    "hook_id": "hook",
}
_HEX: Final = re.compile(r"[0-9a-f]{32}")


def shown(prefix: str, id_: UUID) -> str:
    return f"{prefix}_{id_.hex}"


def job(id_: UUID) -> str:
    return f"job_{id_.hex}"


def backfill(id_: UUID) -> str:
    return f"bf_{id_.hex}"


def run(id_: UUID) -> str:
    return f"run_{id_.hex}"


def read(parameter: str, text: str) -> UUID:
    """The id in a path; one that cannot be one does not exist."""
    prefix = PREFIXES[parameter]
    body = text.removeprefix(f"{prefix}_")
    if body == text:
        body = text.replace("-", "").lower()
    if not _HEX.fullmatch(body):
        raise NotFound(parameter.removesuffix("_id"), text[:100])
    return UUID(body)


def schema(parameter: str) -> dict[str, Any]:
    """The JSON Schema of a place in a path."""
    if parameter in PREFIXES:
        return {"type": "string", "pattern": f"^{PREFIXES[parameter]}_[0-9a-f]{{32}}$"}
    return {"type": "string", "minLength": 1, "maxLength": 200}
