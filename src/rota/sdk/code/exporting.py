"""Jobs that are there, as a manifest would declare them. Room: sdk/code."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rota.contract.job import STORED_FIELDS
from rota.contract.job_values import DEFAULTS
from rota.core.policy import NO_LIMIT
from rota.sdk.code.writing import Written, slim

LABEL: Final = "rota.project"
APP: Final = "rota.app"
OURS: Final = "rota."
# Made by the commands that they are about.
EXEC: Final = "exec"
# What a file says in a way of its own; of the other fields it says what is not the default.
APART: Final = frozenset({"name", "kind", "schedule", "graph", "labels"})
DECLARED: Final = tuple(name for name in STORED_FIELDS if name not in APART)
GRAPH: Final = "graph"


def belongs(job: Any, project: str) -> bool:
    """Whether a job goes into the file: it is this project's or nobody's, and comes again."""
    if APP in job.labels or job.labels.get(LABEL, project) != project or job.kind == EXEC:
        return False
    schedule = job.schedule or {}
    if schedule.get("on_demand") or schedule.get("event"):
        return True
    return not schedule.get("immediate") and job.status != "finished"


def declared(job: Any) -> Written:
    """What the file says about it: only what is not usual."""
    body: dict[str, Any] = {"kind": job.kind}
    if job.graph is not None:
        body["graph"] = job.graph
    if job.schedule is not None and not job.schedule.get("on_demand"):
        body["schedule"] = slim(job.schedule)
    values = {name: _said(name, getattr(job, name)) for name in DECLARED}
    body |= {name: value for name, value in values.items() if value != DEFAULTS[name]}
    if "retries" in body:
        body["retries"] = _retries(job.retries)
    if "limits" in body:
        body["limits"] = [_given(limit) for limit in job.limits]
    labels = {key: value for key, value in job.labels.items() if not key.startswith(OURS)}
    if labels:
        body["labels"] = labels
    if job.status == "paused":
        body["paused"] = True
    return Written(job.name, body)


def _said(name: str, value: Any) -> Any:
    """In a file a limit that there is not has a name; null would be its default."""
    return NO_LIMIT if value is None and DEFAULTS[name] is not None else value


def calendars(jobs: Iterable[Any], known: Iterable[Any]) -> dict[str, Any]:
    """The calendars that these jobs go by, without what is usual."""
    used = {name for job in jobs for name in (job.schedule or {}).get("calendars") or ()}
    return {
        each.name: {
            key: value
            for key, value in each.calendar.items()
            if key != "name" and value not in ([], "UTC")
        }
        for each in known
        if each.name in used
    }


def _retries(retries: Mapping[str, Any]) -> Any:
    """A number if only that is not usual."""
    usual = DEFAULTS["retries"]
    other = {key: value for key, value in retries.items() if value != usual.get(key)}
    return retries["max"] if set(other) <= {"max"} else other


def _given(limit: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in limit.items() if value is not None}
