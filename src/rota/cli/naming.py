"""From what people type to ids: names of jobs and tenants, beginnings of run ids. Room: cli."""

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from rota.cli.listing import Most, gather
from rota.core.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from rota.sdk.client import Client

JOB: Final = re.compile(r"job_[0-9a-f]{32}")
RUN: Final = re.compile(r"run_[0-9a-f]{32}")
RUN_BEGINS: Final = re.compile(r"(?:run_)?([0-9a-f]{4,32})")
KEY: Final = re.compile(r"key_[0-9a-f]{32}")
LONGEST_NAME: Final = 200
# The share of letters that a misspelt name must have in common with a job's.
ALIKE: Final = 0.75
# Runs have no index by the beginnings of their ids; the newest are those that people mean.
NEWEST: Final = 1000
SHOWN: Final = 3
# Submissions that are looked at for one with a name; the names of two need not differ.
NAMESAKES_MAX: Final = 50


def job_id(client: "Client", text: str) -> str:
    """The id of a job, by its id or its name; also of the only one-time submission of a name."""
    if JOB.fullmatch(text):
        return text
    if not 1 <= len(text) <= LONGEST_NAME:
        raise InvalidInput("job", text, "the name or the id of a job")
    from rota.sdk.client import ApiError  # noqa: PLC0415 — as everywhere in this program

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
        wanted = "an id: several one-time submissions have this name (--type one_time lists them)"
        raise InvalidInput("job", text, wanted)
    similar = gather(client.list_jobs, most=Most(limit=SHOWN + 1), q=text).rows
    raise not_found("job", text, [job.name for job in similar] or misspelt(client, text))


def misspelt(client: "Client", text: str) -> list[str]:
    """Names of the newest jobs that differ from the text by a few letters."""
    jobs = gather(client.list_jobs, most=Most(limit=NEWEST)).rows
    names = {job.name.lower(): job.name for job in jobs}
    close = get_close_matches(text.lower(), names, n=SHOWN, cutoff=ALIKE)
    return [names[each] for each in close]


def run_id(client: "Client", text: str) -> str:
    """The id of a run, by its id or a beginning that only one of the newest runs has."""
    if RUN.fullmatch(text):
        return text
    begins = RUN_BEGINS.fullmatch(text)
    if begins is None:
        raise InvalidInput("run", text, "the id of a run, or its beginning: run_ and hex digits")
    head = f"run_{begins[1]}"
    newest = gather(client.list_runs, most=Most(limit=NEWEST)).rows
    found = [run.run_id for run in newest if run.run_id.startswith(head)]
    if len(found) > 1:
        wanted = f"a longer beginning: {len(found)} of the newest {NEWEST} runs begin so"
        raise InvalidInput("run", text, wanted)
    if not found:
        raise NotFound("run", text)
    return str(found[0])


def tenant(client: "Client", text: str) -> Any:
    """A tenant, by its number or its name."""
    tenants = gather(client.list_tenants, most=Most(all_=True)).rows
    for each in tenants:
        if text in {str(each.tenant_id), each.name}:
            return each
    near = [each.name for each in tenants if text.lower() in each.name.lower()]
    raise not_found("tenant", text, near)


def key_id(client: "Client", text: str) -> str:
    """The id of a key, by its id, its name or its handle, which is how a key begins."""
    if KEY.fullmatch(text):
        return text
    keys = gather(client.list_keys, most=Most(all_=True)).rows
    found = [key for key in keys if text in {key.name, key.handle} and key.revoked_at is None]
    if len(found) > 1:
        raise InvalidInput("key", text, f"an id: {len(found)} keys have this name")
    if not found:
        raise NotFound("key", text)
    return str(found[0].key_id)


def not_found(thing: str, text: str, similar: list[str]) -> NotFound:
    if not similar:
        return NotFound(thing, text)
    said = ", ".join(repr(name) for name in similar[:SHOWN])
    return NotFoundButNear(thing, text, f"{said}{', …' if len(similar) > SHOWN else ''}")


class NotFoundButNear(NotFound):
    """There is none of this name, and there are some whose names are like it."""

    def __init__(self, thing: str, id_: object, near: str) -> None:
        super().__init__(thing, id_)
        self.near = near

    def __str__(self) -> str:
        return f"{super().__str__()}; did you mean {self.near}?"
