"""Exports existing jobs as declarations for a manifest."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rota.contract.job import STORED_JOB_FIELDS
from rota.contract.job_values import JOB_DEFAULTS
from rota.core.policy import NO_LIMIT
from rota.sdk.jobs_as_code.manifest_writer import ManifestJobText, remove_schedule_defaults

PROJECT_LABEL: Final = "rota.project"
SDK_APP_LABEL: Final = "rota.app"
RESERVED_LABEL_PREFIX: Final = "rota."
# Jobs of this kind are created by `rota exec`.
EXEC_KIND: Final = "exec"
# Fields with their own notation in a file. Of the others, the file has those that are not default.
SPECIAL_FIELDS: Final = frozenset({"name", "kind", "schedule", "graph", "labels"})
EXPORTED_FIELDS: Final = tuple(name for name in STORED_JOB_FIELDS if name not in SPECIAL_FIELDS)
GRAPH: Final = "graph"
ALERT_DEFAULTS: Final = {"to": None, "severity": "warning", "for": "PT0S", "clear": 1}


def is_exported(job: Any, project: str) -> bool:
    """Whether a job is exported: it belongs to this project or to none, and can run again."""
    if (
        SDK_APP_LABEL in job.labels
        or job.labels.get(PROJECT_LABEL, project) != project
        or job.kind == EXEC_KIND
    ):
        return False
    schedule = job.schedule or {}
    if schedule.get("on_demand") or schedule.get("event"):
        return True
    return not schedule.get("immediate") and job.status != "finished"


def export_job(job: Any) -> ManifestJobText:
    """The declaration of a job, without default values."""
    body: dict[str, Any] = {"kind": job.kind}
    if job.graph is not None:
        body["graph"] = job.graph
    if job.schedule is not None and not job.schedule.get("on_demand"):
        body["schedule"] = remove_schedule_defaults(job.schedule)
    values = {name: _file_value(name, getattr(job, name)) for name in EXPORTED_FIELDS}
    body |= {name: value for name, value in values.items() if value != JOB_DEFAULTS[name]}
    if "retries" in body:
        body["retries"] = _retries(job.retries)
    if "limits" in body:
        body["limits"] = [_without_none(limit) for limit in job.limits]
    labels = {
        key: value for key, value in job.labels.items() if not key.startswith(RESERVED_LABEL_PREFIX)
    }
    if labels:
        body["labels"] = labels
    if job.status == "paused":
        body["paused"] = True
    return ManifestJobText(job.name, body)


def _file_value(name: str, value: Any) -> Any:
    """The value for the file: `none` for an absent limit, because null means the default."""
    return NO_LIMIT if value is None and JOB_DEFAULTS[name] is not None else value


def export_calendars(jobs: Iterable[Any], known: Iterable[Any]) -> dict[str, Any]:
    """The calendars that these jobs use, without default values."""
    used = {name for job in jobs for name in (job.schedule or {}).get("calendars") or ()}
    return {
        calendar.name: {
            key: value
            for key, value in calendar.calendar.items()
            if key != "name" and value not in ([], "UTC")
        }
        for calendar in known
        if calendar.name in used
    }


def export_alerts(rules: Iterable[Any], project: str) -> list[dict[str, Any]]:
    """The rules of the project and those of none, without default values."""
    found = []
    for rule in rules:
        if rule.project not in {None, project}:
            continue
        values = {
            "to": rule.to,
            "severity": rule.severity,
            "for": rule.hold_for,
            "clear": rule.clear,
        }
        body: dict[str, Any] = {"name": rule.name}
        body |= {"match": rule.match} if rule.match else {}
        body["when"] = rule.when
        body |= {key: value for key, value in values.items() if value != ALERT_DEFAULTS[key]}
        body |= {} if rule.recovery else {"recovery": False}
        body |= {} if rule.enabled else {"enabled": False}
        found.append(body)
    return found


def export_routes(routes: Iterable[Any], project: str) -> dict[str, Any]:
    """The routes of the project and those of none."""
    return {route.name: route.steps for route in routes if route.project in {None, project}}


def _retries(retries: Mapping[str, Any]) -> Any:
    """The retries: a number if only `max` differs from the default."""
    default = JOB_DEFAULTS["retries"]
    changed = {key: value for key, value in retries.items() if value != default.get(key)}
    return retries["max"] if set(changed) <= {"max"} else changed


def _without_none(limit: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in limit.items() if value is not None}
