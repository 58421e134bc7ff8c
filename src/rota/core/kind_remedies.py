"""What to do about a kind of job that no worker serves. Room: core.

Said by the API when jobs are made or applied, and by `rota doctor`. Kinds of Rota's own are served
by a worker whose settings allow them; all others by a worker with the app that has them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

# Kinds that live workers serve, each with all fields that its payload may have; None for any.
ServedKinds = Mapping[str, frozenset[str] | None]
SHELL: Final = "shell"
PROGRAMS_SHOWN: Final = 5
KINDS_SHOWN: Final = 5
FIELDS_SHOWN: Final = 5
FIELD_CHARACTERS_SHOWN: Final = 80
SETTINGS: Final[Mapping[str, str]] = {
    "sql": "executors.connections",
    "etl": "executors.connections",
    "notify": "executors.channels",
    "webhook": "executors.webhooks",
    "sync": "executors.places",
}


def remedy_for(kind: str, payloads: Iterable[Any] = ()) -> str:
    """An instruction; `payloads` are those of the jobs, which name the programs of `shell`."""
    if kind == SHELL:
        programs = json.dumps(programs_of(payloads) or ["/path/of/the/program"])
        return (
            f"set executors.shell_allow = {programs} for a worker, and executors.shell_user if it "
            "runs as root; then restart it"
        )
    if kind in SETTINGS:
        return f"declare what it needs in {SETTINGS[kind]} of a worker, then restart it"
    return "start a worker with the app that has them: `rota worker module:app`"


def programs_of(payloads: Iterable[Any]) -> list[str]:
    """The programs that payloads of `shell` start, each once."""
    found = {
        payload["argv"][0]
        for payload in payloads
        if isinstance(payload, dict)
        and isinstance(payload.get("argv"), list)
        and payload["argv"]
        and isinstance(payload["argv"][0], str)
    }
    return sorted(found)[:PROGRAMS_SHOWN]


def warn_unserved(jobs: Iterable[tuple[str, Any]], served: Iterable[str]) -> list[str]:
    """A sentence for the kinds of each remedy that no worker serves; `jobs` are kinds with
    payloads.
    """
    payloads: dict[str, list[Any]] = {}
    known = set(served)
    for kind, payload in jobs:
        if kind not in known:
            payloads.setdefault(kind, []).append(payload)
    return [
        f"no live worker serves the {name_kinds(kinds)}, so the runs of "
        f"{count_jobs(sum(len(payloads[kind]) for kind in kinds))} will wait: {remedy}"
        for remedy, kinds in group_by_remedy(payloads).items()
    ]


def warn_unknown_fields(kind: str, payload: object, served: ServedKinds) -> list[str]:
    """Return a sentence for each of the first fields that the workers of the kind refuse."""
    known = served.get(kind)
    if known is None or not isinstance(payload, Mapping) or payload.keys() <= known:
        return []
    return [
        f"payload.{name[:FIELD_CHARACTERS_SHOWN]} is not a field of the kind {kind!r}, so its runs "
        f"fail; {suggest_field(name, known)}"
        for name in sorted(payload.keys() - known)[:FIELDS_SHOWN]
    ]


def suggest_field(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else f"the fields are {', '.join(sorted(known))}"


def group_by_remedy(payloads: Mapping[str, Iterable[Any]]) -> dict[str, list[str]]:
    """The kinds, sorted, by what to do about them."""
    found: dict[str, list[str]] = {}
    for kind in sorted(payloads):
        found.setdefault(remedy_for(kind, payloads[kind]), []).append(kind)
    return found


def name_kinds(kinds: Sequence[str]) -> str:
    shown = ", ".join(repr(kind) for kind in kinds[:KINDS_SHOWN])
    more = ", …" if len(kinds) > KINDS_SHOWN else ""
    return f"kind {shown}" if len(kinds) == 1 else f"kinds {shown}{more}"


def count_jobs(number: int) -> str:
    return "1 job" if number == 1 else f"{number} jobs"
