"""Explains what to do about a kind of job that no worker serves.

The API warns when jobs are created or applied, and `rota doctor` warns as well. Built-in kinds are
served by a worker whose settings enable them; all other kinds by a worker with the app that
defines them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

# Kinds that live workers serve, each with the known fields of its payload; None if unknown.
ServedKinds = Mapping[str, frozenset[str] | None]
SHELL_KIND_NAME: Final = "shell"
PROGRAMS_SHOWN: Final = 5
KINDS_SHOWN: Final = 5
FIELDS_SHOWN: Final = 5
FIELD_CHARACTERS_SHOWN: Final = 80
KIND_SETTINGS: Final[Mapping[str, str]] = {
    "sql": "executors.connections",
    "etl": "executors.connections",
    "notify": "channels",
    "webhook": "executors.webhooks",
    "sync": "executors.places",
}


def find_remedy(kind: str, payloads: Iterable[Any] = ()) -> str:
    """Return what to do; `payloads` are those of the jobs and name the programs of `shell`."""
    if kind == SHELL_KIND_NAME:
        programs = json.dumps(find_programs(payloads) or ["/path/to/program"])
        return (
            f"set executors.shell_allow = {programs} for a worker (and executors.shell_user if it "
            "runs as root), then restart the worker"
        )
    if kind in KIND_SETTINGS:
        return f"configure {KIND_SETTINGS[kind]} for a worker, then restart the worker"
    return "start a worker with the app that defines them: `rota worker module:app`"


def find_programs(payloads: Iterable[Any]) -> list[str]:
    """Return the programs that payloads of `shell` start, without duplicates."""
    programs = {
        payload["argv"][0]
        for payload in payloads
        if isinstance(payload, dict)
        and isinstance(payload.get("argv"), list)
        and payload["argv"]
        and isinstance(payload["argv"][0], str)
    }
    return sorted(programs)[:PROGRAMS_SHOWN]


def warn_unserved(jobs: Iterable[tuple[str, Any]], served: Iterable[str]) -> list[str]:
    """Return a warning for the kinds that no worker serves, one per remedy; `jobs` are pairs of
    kind and payload.
    """
    payloads: dict[str, list[Any]] = {}
    served_kinds = set(served)
    for kind, payload in jobs:
        if kind not in served_kinds:
            payloads.setdefault(kind, []).append(payload)
    return [
        f"no live worker serves {name_kinds(kinds)}; the runs of "
        f"{count_jobs(sum(len(payloads[kind]) for kind in kinds))} will wait: {remedy}"
        for remedy, kinds in group_by_remedy(payloads).items()
    ]


def warn_unknown_fields(kind: str, payload: object, served: ServedKinds) -> list[str]:
    """Return a warning for each of the first payload fields that the kind does not have."""
    known = served.get(kind)
    if known is None or not isinstance(payload, Mapping) or payload.keys() <= known:
        return []
    return [
        f"payload.{name[:FIELD_CHARACTERS_SHOWN]} is not a field of kind {kind!r}; its runs will "
        f"fail; {suggest_field(name, known)}"
        for name in sorted(payload.keys() - known)[:FIELDS_SHOWN]
    ]


def suggest_field(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else f"known fields: {', '.join(sorted(known))}"


def group_by_remedy(payloads: Mapping[str, Iterable[Any]]) -> dict[str, list[str]]:
    """Return the kinds, sorted, by their remedy."""
    kinds: dict[str, list[str]] = {}
    for kind in sorted(payloads):
        kinds.setdefault(find_remedy(kind, payloads[kind]), []).append(kind)
    return kinds


def name_kinds(kinds: Sequence[str]) -> str:
    shown = ", ".join(repr(kind) for kind in kinds[:KINDS_SHOWN])
    more = ", …" if len(kinds) > KINDS_SHOWN else ""
    return f"kind {shown}" if len(kinds) == 1 else f"kinds {shown}{more}"


def count_jobs(number: int) -> str:
    return "1 job" if number == 1 else f"{number} jobs"
