"""Jobs that are there, as a manifest would declare them. Room: sdk/code."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rota.core import policy as policies
from rota.sdk.code.writing import Written, slim

LABEL: Final = "rota.project"
APP: Final = "rota.app"
OURS: Final = "rota."
# Made by the commands that they are about.
EXEC: Final = "exec"
USUAL: Final[Mapping[str, Any]] = {
    **policies.to_plain(policies.USUAL),
    "target": None,
    "queue": "default",
    "priority": 5,
    "overlap": "skip",
    "keep_first": False,
    "when_queue_paused": "skip",
    "limits": [],
    "user_id": None,
    "payload": None,
}
REST: Final = (
    *("payload", "queue", "priority", "overlap", "keep_first", "when_queue_paused", "limits"),
    "user_id",
)
NEVER: Final = "none"
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
    policy = {
        "retries": job.retries,
        "timeout": job.timeout or NEVER,
        "deadline": job.deadline or NEVER,
        "grace": job.grace,
        "guarantee": job.guarantee,
        "target": job.target,
    }
    rest = {key: getattr(job, key) for key in REST}
    body |= {key: value for key, value in (rest | policy).items() if value != USUAL[key]}
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
    usual: Any = USUAL["retries"]
    other = {key: value for key, value in retries.items() if value != usual.get(key)}
    return retries["max"] if set(other) <= {"max"} else other


def _given(limit: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in limit.items() if value is not None}
