"""Validates a manifest: the jobs, calendars, rules and routes that a file declares.

Applying a manifest must be idempotent, so a rule that counts from the time of saving (`immediate`,
`after`) is invalid. Omitted fields have their default. Default of `paused`: None, which leaves the
job paused or active as it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rota.core.alerts.routes import AlertRoute
from rota.core.alerts.rules import NewRule
from rota.core.errors import InvalidInput
from rota.core.submissions import LABEL_CHARACTERS_MAX, JobSpec, check_visible_name, prefix_errors
from rota.core.time.calendars import Calendar

# Labels with this prefix are reserved for Rota; the second one holds a job's project.
RESERVED_LABEL_PREFIX: Final = "rota."
PROJECT_LABEL: Final = "rota.project"
# Holds the app that declares a job in code.
APP_LABEL: Final = "rota.app"
ON_DEMAND_SCHEDULE: Final = {"on_demand": True}
RELATIVE_RULES: Final = ("immediate", "after")
RELATIVE_RULE_REFUSAL: Final = "depends on when it is saved; use cron, every or at instead"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestJob:
    """One declared job. Default of `paused`: None, which keeps the current state."""

    spec: JobSpec
    paused: bool | None = None

    @property
    def name(self) -> str:
        return self.spec.display_name


@dataclass(frozen=True, slots=True, kw_only=True)
class JobManifest:
    """All jobs, calendars, rules and routes of one project. A job belongs to at most one
    project.
    """

    project: str
    jobs: tuple[ManifestJob, ...]
    calendars: tuple[Calendar, ...] = ()
    rules: tuple[NewRule, ...] = ()
    routes: tuple[AlertRoute, ...] = ()


def build_manifest(
    project: str,
    jobs: Sequence[ManifestJob],
    calendars: Sequence[Calendar] = (),
    *,
    rules: Sequence[NewRule] = (),
    routes: Sequence[AlertRoute] = (),
) -> JobManifest:
    """Validate the declarations and add the project's label to each job."""
    project = check_visible_name(project, "project", max_length=LABEL_CHARACTERS_MAX)
    seen: dict[str, int] = {}
    owned = []
    for place, job in enumerate(jobs):
        with prefix_errors(f"jobs[{place}]"):
            name = check_visible_name(job.name, "name")
            first = seen.setdefault(name, place)
            if first != place:
                wanted = f"must be unique; jobs[{first}] has the same name"
                raise InvalidInput("name", name, wanted)
            _check(job.spec)
        labels = {**job.spec.labels, PROJECT_LABEL: project}
        # A job that runs on demand only has no schedule.
        schedule = None if job.spec.schedule == ON_DEMAND_SCHEDULE else job.spec.schedule
        spec = replace(job.spec, name=name, labels=labels, schedule=schedule)
        owned.append(replace(job, spec=spec))
    _refuse_twins([rule.name for rule in rules], "alerts")
    _refuse_twins([route.name for route in routes], "routes")
    return JobManifest(
        project=project,
        jobs=tuple(owned),
        calendars=tuple(_check_calendars(calendars)),
        rules=tuple(rules),
        routes=tuple(routes),
    )


def _refuse_twins(names: Sequence[str], section: str) -> None:
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        first = seen.setdefault(name, place)
        if first != place:
            wanted = f"must be unique; {section}[{first}] has the same name"
            raise InvalidInput(f"{section}[{place}].name", name, wanted)


def _check_calendars(calendars: Sequence[Calendar]) -> Iterator[Calendar]:
    seen: set[str] = set()
    for place, calendar in enumerate(calendars):
        with prefix_errors(f"calendars[{place}].calendar"):
            check_visible_name(calendar.name, "name")
            if calendar.name in seen:
                wanted = "must be unique; an earlier calendar has the same name"
                raise InvalidInput("name", calendar.name, wanted)
        seen.add(calendar.name)
        yield calendar


def _check(spec: JobSpec) -> None:
    for rule in RELATIVE_RULES:
        if spec.schedule is not None and spec.schedule.get(rule) is not None:
            raise InvalidInput(f"schedule.{rule}", spec.schedule[rule], RELATIVE_RULE_REFUSAL)
    for key in spec.labels:
        if key.startswith(RESERVED_LABEL_PREFIX):
            wanted = f"labels that start with {RESERVED_LABEL_PREFIX} are reserved"
            raise InvalidInput(f"labels.{key}", spec.labels[key], wanted)
