"""Resolves names and id prefixes of jobs, runs, tenants and keys to ids."""

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from rota.cli.pagination import ListLimit, list_rows
from rota.core.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from rota.sdk.client import Client

JOB_ID: Final = re.compile(r"job_[0-9a-f]{32}")
RUN_ID: Final = re.compile(r"run_[0-9a-f]{32}")
RUN_ID_PREFIX: Final = re.compile(r"(?:run_)?([0-9a-f]{4,32})")
KEY_ID: Final = re.compile(r"key_[0-9a-f]{32}")
NAME_LENGTH_MAX: Final = 200
# Similarity, 0 to 1, from which a job's name counts as a misspelling.
SIMILARITY_MIN: Final = 0.75
# Runs have no index by id prefix, so only the newest are searched.
NEWEST_MAX: Final = 1000
SUGGESTIONS_MAX: Final = 3
# One-time submissions that are searched for a name; their names need not be unique.
NAMESAKES_MAX: Final = 50


def resolve_job_id(client: "Client", text: str) -> str:
    """Return the id of a job, given its id or name, or the name of a single one-time submission."""
    if JOB_ID.fullmatch(text):
        return text
    if not 1 <= len(text) <= NAME_LENGTH_MAX:
        raise InvalidInput(
            "job", text, f"expected a job id or name of 1 to {NAME_LENGTH_MAX} characters"
        )
    from rota.sdk.client import ApiError  # noqa: PLC0415 - imports the HTTP library

    try:
        return str(client.get_job_by_name(text).job_id)
    except ApiError as error:
        if error.code != "not_found":
            raise
    once = client.list_jobs(type="one_time", q=text, limit=NAMESAKES_MAX).items
    namesakes = [str(job.job_id) for job in once if job.name == text]
    if len(namesakes) == 1:
        return namesakes[0]
    if namesakes:
        wanted = "several one-time submissions have this name; use an id (see --type one_time)"
        raise InvalidInput("job", text, wanted)
    similar = list_rows(
        client.list_jobs, row_limit=ListLimit(limit=SUGGESTIONS_MAX + 1), q=text
    ).rows
    raise build_not_found(
        "job", text, [job.name for job in similar] or find_similar_jobs(client, text)
    )


def find_similar_jobs(client: "Client", text: str) -> list[str]:
    """Return names among the newest jobs that differ from the text by a few letters."""
    jobs = list_rows(client.list_jobs, row_limit=ListLimit(limit=NEWEST_MAX)).rows
    names = {job.name.lower(): job.name for job in jobs}
    close = get_close_matches(text.lower(), names, n=SUGGESTIONS_MAX, cutoff=SIMILARITY_MIN)
    return [names[name] for name in close]


def resolve_run_id(client: "Client", text: str) -> str:
    """Return the id of a run, given its id or a prefix that is unique among the newest runs."""
    if RUN_ID.fullmatch(text):
        return text
    begins = RUN_ID_PREFIX.fullmatch(text)
    if begins is None:
        raise InvalidInput(
            "run", text, "expected a run id or a prefix of at least 4 hex digits, such as run_01f3"
        )
    head = f"run_{begins[1]}"
    newest = list_rows(client.list_runs, row_limit=ListLimit(limit=NEWEST_MAX)).rows
    found = [run.run_id for run in newest if run.run_id.startswith(head)]
    if len(found) > 1:
        wanted = f"{len(found)} of the newest {NEWEST_MAX} runs start with it; give a longer prefix"
        raise InvalidInput("run", text, wanted)
    if not found:
        raise NotFound("run", text)
    return str(found[0])


def resolve_tenant(client: "Client", text: str) -> Any:
    """Return a tenant, given its number or name."""
    tenants = list_rows(client.list_tenants, row_limit=ListLimit(all_=True)).rows
    for each in tenants:
        if text in {str(each.tenant_id), each.name}:
            return each
    near = [each.name for each in tenants if text.lower() in each.name.lower()]
    raise build_not_found("tenant", text, near)


def resolve_key_id(client: "Client", text: str) -> str:
    """Return the id of a key, given its id, its name or its handle (the start of the key)."""
    if KEY_ID.fullmatch(text):
        return text
    keys = list_rows(client.list_keys, row_limit=ListLimit(all_=True)).rows
    found = [key for key in keys if text in {key.name, key.handle} and key.revoked_at is None]
    if len(found) > 1:
        raise InvalidInput(
            "key", text, f"{len(found)} keys have this name; use an id (`rota keys list`)"
        )
    if not found:
        raise NotFound("key", text)
    return str(found[0].key_id)


def build_not_found(thing: str, text: str, similar: list[str]) -> NotFound:
    if not similar:
        return NotFound(thing, text)
    suggestions = ", ".join(repr(name) for name in similar[:SUGGESTIONS_MAX])
    return NotFoundWithSuggestion(
        thing, text, f"{suggestions}{', …' if len(similar) > SUGGESTIONS_MAX else ''}"
    )


class NotFoundWithSuggestion(NotFound):
    """Not found, with similar names to suggest."""

    def __init__(self, thing: str, id_: object, suggestions: str) -> None:
        super().__init__(thing, id_)
        self.near = suggestions

    def __str__(self) -> str:
        return f"{super().__str__()}; did you mean {self.near}?"
