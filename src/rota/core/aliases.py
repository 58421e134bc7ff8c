"""Translates names of kinds and states from other schedulers into Rota's.

Requests may use `job_type: HTTP_REQUEST` or `status=COMPLETED`. Rota never stores or returns these
names. docs/reference/api.md has the same table.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from rota.core.errors import InvalidInput

JOB_TYPES: Final[Mapping[str, str]] = {
    "HTTP_REQUEST": "http",
    "DATABASE_QUERY": "sql",
    "ETL_TASK": "etl",
    "NOTIFICATION": "notify",
    "DATA_SYNC": "sync",
}
# A program if the payload has `argv`; otherwise a handler of an app, by the name of the job.
CUSTOM_JOB_TYPE: Final = "CUSTOM"
SHELL_KIND: Final = "shell"
PROGRAM_FIELD: Final = "argv"

# Aliases of the states of runs and jobs, in any case. A name that is no alias is a state itself.
RUN_STATUSES: Final[Mapping[str, tuple[str, ...]]] = {
    "scheduled": ("queued",),
    "enqueued": ("queued",),
    "completed": ("succeeded",),
    "success": ("succeeded",),
    "failed": ("dead", "lost", "quarantined"),
    "paused": ("blocked",),
}
JOB_STATUSES: Final[Mapping[str, tuple[str, ...]]] = {
    "scheduled": ("pending",),
    "enqueued": ("pending",),
    "retrying": ("pending",),
    "completed": ("finished",),
    "success": ("finished",),
    "failed": ("quarantined",),
    "cancelled": ("deleted",),
}


def resolve_job_type(job_type: str, *, payload: object = None, name: str | None = None) -> str:
    """Return the kind for a `job_type`; a name that is not an alias is the kind itself."""
    if job_type != CUSTOM_JOB_TYPE:
        return JOB_TYPES.get(job_type, job_type)
    if isinstance(payload, Mapping) and PROGRAM_FIELD in payload:
        return SHELL_KIND
    if name is None:
        wanted = (
            f"needs `{PROGRAM_FIELD}` in the payload to run a program, or a `name` or `kind` of "
            "one of your handlers"
        )
        raise InvalidInput("job_type", job_type, wanted)
    return name


def resolve_statuses(words: Iterable[str], aliases: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the states that these names stand for, sorted, without duplicates."""
    states = {state for word in words for state in aliases.get(word.lower(), (word.lower(),))}
    return sorted(states)
