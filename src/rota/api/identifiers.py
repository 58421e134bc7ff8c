"""Formats and parses public ids: a prefix for the type, then the UUID.

`job_0199…` reads better in a log than 36 anonymous characters, and a run id in place of a job id is
refused at once. A bare UUID is accepted too.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from rota.core.errors import InvalidInput, NotFound

PREFIXES: Final = {
    "backfill_id": "bf",
    "job_id": "job",
    "run_id": "run",
    "worker_id": "wrk",
    "key_id": "key",
    "session_id": "wrk",
    "event_id": "evt",
    "hook_id": "hook",
    "webhook_id": "whe",
    "delivery_id": "dlv",
    "ping_id": "png",
    "expectation_id": "exp",
    "incident_id": "inc",
    "silence_id": "sil",
    "notification_id": "ntf",
}
# Characters of a name in a path, or of a part of a cursor.
PATH_TEXT_MAX: Final = 200
_HEX: Final = re.compile(r"[0-9a-f]{32}")


def format_id(prefix: str, id_: UUID) -> str:
    return f"{prefix}_{id_.hex}"


def format_job_id(id_: UUID) -> str:
    return f"job_{id_.hex}"


def format_backfill_id(id_: UUID) -> str:
    return f"bf_{id_.hex}"


def format_run_id(id_: UUID) -> str:
    return f"run_{id_.hex}"


def parse_id(parameter: str, text: str) -> UUID:
    """Parse the id in a path; raise `NotFound` for a malformed one."""
    prefix = PREFIXES[parameter]
    body = text.removeprefix(f"{prefix}_")
    if body == text:
        body = text.replace("-", "").lower()
    if not _HEX.fullmatch(body):
        raise NotFound(parameter.removesuffix("_id"), text[:100])
    return UUID(body)


def is_plain_text(text: str) -> bool:
    """Tell whether a name has a valid length and no NUL, which PostgreSQL cannot store."""
    return 1 <= len(text) <= PATH_TEXT_MAX and "\0" not in text


def check_path(params: Mapping[str, str]) -> Mapping[str, str]:
    """Validate every name in a path. `read` validates ids."""
    for parameter, text in params.items():
        if parameter not in PREFIXES and not is_plain_text(text):
            wanted = f"must have 1 to {PATH_TEXT_MAX} characters and no NUL"
            raise InvalidInput(parameter, text, wanted)
    return params


def build_schema(parameter: str) -> dict[str, Any]:
    """Return the JSON Schema of a path parameter."""
    if parameter in PREFIXES:
        return {"type": "string", "pattern": f"^{PREFIXES[parameter]}_[0-9a-f]{{32}}$"}
    return {"type": "string", "minLength": 1, "maxLength": PATH_TEXT_MAX}
