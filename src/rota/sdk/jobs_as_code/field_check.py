"""Checks a manifest for unknown fields.

The fields of a job are those of the contract, as in the API. `unique` is missing, because it
applies to submissions and a file declares none.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rota.contract.calendar import CalendarDocument
from rota.contract.documents import fields_by_name
from rota.contract.expectations import (
    AlertDraft,
    ExpectDraft,
    RouteStepDraft,
    RuleCondition,
    RuleDraft,
    SubjectMatch,
)
from rota.contract.job import JOB_FIELDS
from rota.contract.limits import LimitDraft, RateDraft
from rota.contract.retries import RetriesDraft
from rota.sdk.jobs_as_code import graph_files
from rota.sdk.jobs_as_code.problems import FileProblem, describe_unknown_field
from rota.sdk.jobs_as_code.yaml_reader import ValuePath, YamlDocument

TOP_LEVEL_FIELDS: Final = (
    "version",
    "project",
    "defaults",
    "calendars",
    "jobs",
    "alerts",
    "routes",
)
CALENDAR_FIELDS: Final = tuple(name for name in fields_by_name(CalendarDocument) if name != "name")
# `name` is the key in the file; `paused` is a state that only a file declares.
MANIFEST_JOB_FIELDS: Final = (*(name for name in JOB_FIELDS if name != "name"), "paused")
# The fields that `defaults` may set: all but the schedule. The time zone is allowed.
DEFAULTS_FIELDS: Final = tuple(
    name
    for name in MANIFEST_JOB_FIELDS
    if name == "timezone"
    or (name != "graph" and not (name in JOB_FIELDS and JOB_FIELDS[name].is_schedule))
)
RETRIES_FIELDS: Final = tuple(fields_by_name(RetriesDraft))
LIMIT_FIELDS: Final = tuple(fields_by_name(LimitDraft))
RATE_FIELDS: Final = tuple(fields_by_name(RateDraft))
EXPECT_FIELDS: Final = tuple(fields_by_name(ExpectDraft))
ALERT_FIELDS: Final = tuple(fields_by_name(AlertDraft))
RULE_FIELDS: Final = tuple(fields_by_name(RuleDraft))
CONDITION_FIELDS: Final = tuple(fields_by_name(RuleCondition))
MATCH_FIELDS: Final = tuple(fields_by_name(SubjectMatch))
ROUTE_STEP_FIELDS: Final = tuple(fields_by_name(RouteStepDraft))


def find_unknown_fields(text: YamlDocument) -> Iterator[FileProblem]:
    """Yield an error for every unknown field of the file."""
    root = text.value
    if not isinstance(root, dict):
        yield FileProblem(
            text.find_position(()), "expected an object with version, project and jobs"
        )
        return
    yield from _unknown_fields(text, root, (), TOP_LEVEL_FIELDS, "field")
    yield from _job(text, root.get("defaults"), ("defaults",), DEFAULTS_FIELDS)
    yield from _calendars(text, root.get("calendars"))
    yield from _rules(text, root.get("alerts"))
    yield from _routes(text, root.get("routes"))
    jobs = root.get("jobs")
    if jobs is not None and not isinstance(jobs, dict):
        message = "jobs must be an object that maps the name of each job to its fields"
        yield FileProblem(text.find_position(("jobs",)), message)
        return
    for name, job in (jobs or {}).items():
        yield from _job(text, job, ("jobs", name), MANIFEST_JOB_FIELDS)


def _calendars(text: YamlDocument, calendars: Any) -> Iterator[FileProblem]:
    if calendars is None:
        return
    if not isinstance(calendars, dict):
        message = "calendars must be an object that maps the name of each calendar to its fields"
        yield FileProblem(text.find_position(("calendars",)), message)
        return
    for name, calendar in calendars.items():
        path = ("calendars", name)
        if not isinstance(calendar, dict):
            yield FileProblem(
                text.find_position(path), f"{name} must be an object with fields such as dates"
            )
        yield from _unknown_fields(text, calendar, path, CALENDAR_FIELDS, "calendar field")


def _rules(text: YamlDocument, rules: Any) -> Iterator[FileProblem]:
    if rules is None:
        return
    if not isinstance(rules, list) or not all(
        isinstance(rule, dict) and isinstance(rule.get("name"), str) for rule in rules
    ):
        message = "alerts must be a list of rules, each with name and when"
        yield FileProblem(text.find_position(("alerts",)), message)
        return
    for index, rule in enumerate(rules):
        path = ("alerts", index)
        yield from _unknown_fields(text, rule, path, RULE_FIELDS, "rule field")
        when, match = rule.get("when"), rule.get("match")
        yield from _unknown_fields(text, when, (*path, "when"), CONDITION_FIELDS, "condition")
        yield from _unknown_fields(text, match, (*path, "match"), MATCH_FIELDS, "match field")


def _routes(text: YamlDocument, routes: Any) -> Iterator[FileProblem]:
    if routes is None:
        return
    if not isinstance(routes, dict) or not all(
        isinstance(steps, list) for steps in routes.values()
    ):
        message = "routes must be an object that maps the name of each route to a list of steps"
        yield FileProblem(text.find_position(("routes",)), message)
        return
    for name, steps in routes.items():
        for index, step in enumerate(steps):
            path = ("routes", name, index)
            yield from _unknown_fields(text, step, path, ROUTE_STEP_FIELDS, "step field")


def _job(
    text: YamlDocument, job: Any, path: ValuePath, known: tuple[str, ...]
) -> Iterator[FileProblem]:
    if job is None:
        return
    if not isinstance(job, dict):
        yield FileProblem(
            text.find_position(path), f"{path[-1]} must be an object with fields such as kind"
        )
        return
    yield from _unknown_fields(text, job, path, known, "job field")
    yield from graph_files.find_graph_errors(text, job, path)
    retries = job.get("retries")
    yield from _unknown_fields(text, retries, (*path, "retries"), RETRIES_FIELDS, "retries field")
    expect, alert = job.get("expect"), job.get("alert")
    yield from _unknown_fields(text, expect, (*path, "expect"), EXPECT_FIELDS, "condition")
    yield from _unknown_fields(text, alert, (*path, "alert"), ALERT_FIELDS, "alert field")
    limits = job.get("limits")
    for index, limit in enumerate(limits if isinstance(limits, list) else ()):
        at = (*path, "limits", index)
        yield from _unknown_fields(text, limit, at, LIMIT_FIELDS, "limit field")
        if isinstance(limit, dict):
            rate = limit.get("rate")
            yield from _unknown_fields(text, rate, (*at, "rate"), RATE_FIELDS, "rate field")


def _unknown_fields(
    text: YamlDocument, value: Any, path: ValuePath, known: tuple[str, ...], description: str
) -> Iterator[FileProblem]:
    if not isinstance(value, Mapping):
        return
    for name in value:
        if name not in known:
            yield FileProblem(
                text.find_position((*path, name)), describe_unknown_field(name, known, description)
            )
