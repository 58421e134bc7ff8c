"""A job as a file declares it, and a file of them. Room: core/manifest.

What is declared must mean the same however often it is applied: a rule that counts from the moment
it is saved (`immediate`, `after`) is refused. Everything that is left out has its default, except
`paused`: None leaves a job as somebody paused or resumed it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rota.core.errors import InvalidInput
from rota.core.submission import MOST_LABEL, JobSpec, check_visible_name, within
from rota.core.time.calendars import Calendar

# The label that says whose a job is. Labels that begin like it are ours.
OURS: Final = "rota."
PROJECT: Final = "rota.project"
ON_DEMAND: Final = {"on_demand": True}
UNSTEADY: Final = ("immediate", "after")
STEADY: Final = "a rule that means the same however often it is applied, such as cron, every or at"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One job of a file; `paused` is None if the file does not say."""

    spec: JobSpec
    paused: bool | None = None

    @property
    def name(self) -> str:
        return self.spec.display_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The jobs of one project: nothing else belongs to it, and nothing of it belongs to others."""

    project: str
    jobs: tuple[Declared, ...]
    calendars: tuple[Calendar, ...] = ()


def manifest(
    project: str, jobs: Sequence[Declared], calendars: Sequence[Calendar] = ()
) -> Manifest:
    """Check what was declared, and give each job the label of its project."""
    project = check_visible_name(project, "project", most=MOST_LABEL)
    seen: dict[str, int] = {}
    owned = []
    for place, job in enumerate(jobs):
        with within(f"jobs[{place}]"):
            name = check_visible_name(job.name, "name")
            first = seen.setdefault(name, place)
            if first != place:
                raise InvalidInput("name", name, f"a name that jobs[{first}] does not have")
            _check(job.spec)
        labels = {**job.spec.labels, PROJECT: project}
        # A job that only runs on demand has no schedule, rather than one that never comes.
        schedule = None if job.spec.schedule == ON_DEMAND else job.spec.schedule
        spec = replace(job.spec, name=name, labels=labels, schedule=schedule)
        owned.append(replace(job, spec=spec))
    return Manifest(
        project=project, jobs=tuple(owned), calendars=tuple(_check_calendars(calendars))
    )


def _check_calendars(calendars: Sequence[Calendar]) -> Iterator[Calendar]:
    seen: set[str] = set()
    for place, calendar in enumerate(calendars):
        with within(f"calendars[{place}].calendar"):
            check_visible_name(calendar.name, "name")
            if calendar.name in seen:
                raise InvalidInput("name", calendar.name, "a name that none before it has")
        seen.add(calendar.name)
        yield calendar


def _check(spec: JobSpec) -> None:
    for rule in UNSTEADY:
        if spec.schedule is not None and spec.schedule.get(rule) is not None:
            raise InvalidInput(f"schedule.{rule}", spec.schedule[rule], STEADY)
    for key in spec.labels:
        if key.startswith(OURS):
            wanted = f"a label that does not begin with {OURS}"
            raise InvalidInput(f"labels.{key}", spec.labels[key], wanted)
