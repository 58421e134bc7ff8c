"""Other words for kinds of jobs and for states, understood where they come in. Room: core.

People bring the words of other schedulers: `job_type: HTTP_REQUEST`, `status=COMPLETED`. Here is
what each means in Rota's words; nothing is ever stored or answered in theirs. The page
docs/reference/api.md has the same as a table.
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
# A program if the payload names one, and else a handler of an app, by the name of the job.
CUSTOM: Final = "CUSTOM"
SHELL: Final = "shell"
PROGRAM: Final = "argv"

# Words for the states of runs and of jobs; case does not matter. A state's own word means itself.
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


def kind_of_job_type(job_type: str, *, payload: object = None, name: str | None = None) -> str:
    """The kind that a `job_type` means; one that is no alias is a kind itself."""
    if job_type != CUSTOM:
        return JOB_TYPES.get(job_type, job_type)
    if isinstance(payload, Mapping) and PROGRAM in payload:
        return SHELL
    if name is None:
        wanted = (
            f"`{PROGRAM}` in the payload for the kind {SHELL}, or a `name` or `kind` that is the "
            "kind of a handler of your own"
        )
        raise InvalidInput("job_type", job_type, wanted)
    return name


def statuses_of(words: Iterable[str], aliases: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The states that these words mean, each once and in order."""
    found = {state for word in words for state in aliases.get(word.lower(), (word.lower(),))}
    return sorted(found)
