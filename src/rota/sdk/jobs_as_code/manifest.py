"""Loads a manifest: a file, or a folder of files, with the jobs of a project.

Errors that can be found without a server are reported together, by line and column. The server
reports its errors as pointers into the request, which `Manifest.locate` maps to lines.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any, Final

from rota.core.errors import InvalidInput, UnusableInput
from rota.sdk.jobs_as_code import yaml_reader
from rota.sdk.jobs_as_code.field_check import find_unknown_fields
from rota.sdk.jobs_as_code.problems import FilePosition, FileProblem, InvalidFile
from rota.sdk.jobs_as_code.yaml_reader import ValuePath, YamlDocument

MANIFEST_VERSION: Final = 1
DEFAULT_MANIFEST_FILE: Final = "rota.yaml"
YAML_SUFFIXES: Final = (".yaml", ".yml")
PROJECT_JOBS_MAX: Final = 1000
_POINTER: Final = re.compile(r"/(jobs|calendars|alerts|routes)/(\d+)(?:/calendar|/steps)?(/.*)?")


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A job or a calendar as it is sent, with its document and its path in it."""

    name: str
    body: Mapping[str, Any]
    text: YamlDocument
    path: ValuePath


@dataclass(frozen=True, slots=True)
class ManifestFile:
    project: str
    jobs: tuple[ManifestEntry, ...]
    calendars: tuple[ManifestEntry, ...] = ()
    alerts: tuple[ManifestEntry, ...] = ()
    routes: tuple[ManifestEntry, ...] = ()

    def to_request(self) -> dict[str, Any]:
        """The request body for the API."""
        return {
            "project": self.project,
            "jobs": [{"name": job.name, **job.body} for job in self.jobs],
            "calendars": [{"name": one.name, "calendar": one.body} for one in self.calendars],
            "alerts": [dict(rule.body) for rule in self.alerts],
            "routes": [{"name": route.name, **route.body} for route in self.routes],
        }

    def list_entries(self, section: str) -> tuple[ManifestEntry, ...]:
        """The entries of a section, in the order of the request."""
        return {
            "jobs": self.jobs,
            "calendars": self.calendars,
            "alerts": self.alerts,
            "routes": self.routes,
        }[section]

    def locate(self, pointer: str) -> FilePosition | None:
        """The position in the files that a JSON pointer of the API refers to; None if in none."""
        match = _POINTER.fullmatch(pointer)
        entries = () if match is None else self.list_entries(match[1])
        if match is None or int(match[2]) >= len(entries):
            return None
        entry = entries[int(match[2])]
        parts: list[str | int] = []
        for part in (match[3] or "").split("/")[1:]:
            plain = part.replace("~1", "/").replace("~0", "~")
            parts.append(int(plain) if plain.isdigit() else plain)
        return entry.text.find_position((*entry.path, *parts))


def load_manifest(path: File) -> ManifestFile:
    """Load a file, or all `.yaml` and `.yml` files of a folder as one manifest."""
    texts = [text for file in _files(path) for text in _documents(file)]
    return combine_documents(texts, str(path))


def _files(place: File) -> list[File]:
    if place.is_dir():
        files = sorted(file for file in place.iterdir() if file.suffix in YAML_SUFFIXES)
        if not files:
            wanted = f"expected a folder with {' or '.join(YAML_SUFFIXES)} files"
            raise InvalidInput("file", str(place), wanted)
        return files
    return [place]


def _documents(file: File) -> list[YamlDocument]:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise UnusableInput("file", str(file), f"no such file: {file}") from None
    except OSError as error:
        wanted = f"expected a readable file: {error.strerror}"
        raise InvalidInput("file", str(file), wanted) from None
    except UnicodeDecodeError:
        raise InvalidInput("file", str(file), "expected a text file in UTF-8") from None
    documents = yaml_reader.read_documents(text, str(file))
    if len(documents) > 1:
        spot = documents[1].find_position(())
        message = "a manifest must have one YAML document per file; move this one to its own file"
        raise InvalidFile([FileProblem(spot, message)])
    return documents


def combine_documents(texts: Sequence[YamlDocument], path: str) -> ManifestFile:
    """Combine documents into one manifest."""
    errors = [error for text in texts for error in find_unknown_fields(text)]
    if errors:
        raise InvalidFile(errors)
    if not texts:
        message = "the file is empty; version, project and jobs are required"
        raise InvalidFile([FileProblem(FilePosition(path, 1, 1), message)])
    errors = [*_versions(texts), *_projects(texts, path), *_duplicates(texts)]
    if errors:
        raise InvalidFile(errors)
    jobs = tuple(job for text in texts for job in _jobs(text))
    if len(jobs) > PROJECT_JOBS_MAX:
        wanted = f"a project has at most {PROJECT_JOBS_MAX:,} jobs"
        raise InvalidInput("jobs", f"{len(jobs)} jobs", wanted)
    project = next(text.value["project"] for text in texts if "project" in text.value)
    calendars = tuple(
        ManifestEntry(name, calendar, text, ("calendars", name))
        for text in texts
        for name, calendar in (text.value.get("calendars") or {}).items()
    )
    alerts = tuple(
        ManifestEntry(rule["name"], rule, text, ("alerts", index))
        for text in texts
        for index, rule in enumerate(text.value.get("alerts") or ())
    )
    routes = tuple(
        ManifestEntry(name, {"steps": steps}, text, ("routes", name))
        for text in texts
        for name, steps in (text.value.get("routes") or {}).items()
    )
    return ManifestFile(project, jobs, calendars, alerts, routes)


def _versions(texts: Sequence[YamlDocument]) -> Iterator[FileProblem]:
    for text in texts:
        version = text.value.get("version")
        if version is None:
            yield FileProblem(
                text.find_position(()), f"version is missing; add `version: {MANIFEST_VERSION}`"
            )
        elif version != MANIFEST_VERSION or isinstance(version, bool):
            message = f"unknown version {version!r}; supported: {MANIFEST_VERSION}"
            yield FileProblem(text.find_position(("version",)), message)


def _projects(texts: Sequence[YamlDocument], place: str) -> Iterator[FileProblem]:
    projects: dict[str, FilePosition] = {}
    for text in texts:
        if "project" not in text.value:
            continue
        spot, project = text.find_position(("project",)), text.value["project"]
        if not isinstance(project, str) or not 0 < len(project) <= 64:
            yield FileProblem(spot, "project must be a string of 1 to 64 characters")
            return
        projects.setdefault(project, spot)
    if not projects:
        message = "project is missing; add the name of the project that owns these jobs"
        yield FileProblem(FilePosition(place, 1, 1), message)
    elif len(projects) > 1:
        (first, _), (second, spot), *_ = projects.items()
        message = f"project is {second!r} here and {first!r} before; a folder has one project"
        yield FileProblem(spot, message)


def _duplicates(texts: Sequence[YamlDocument]) -> Iterator[FileProblem]:
    seen: dict[ValuePath, FilePosition] = {}
    for text in texts:
        for section, thing in (("jobs", "job"), ("calendars", "calendar"), ("routes", "route")):
            for name in text.value.get(section) or {}:
                spot = text.find_position((section, name))
                first = seen.setdefault((section, name), spot)
                if first is not spot:
                    yield FileProblem(spot, f"{thing} {name!r} is declared twice; first at {first}")


def _jobs(text: YamlDocument) -> Iterator[ManifestEntry]:
    defaults = text.value.get("defaults") or {}
    for name, own in (text.value.get("jobs") or {}).items():
        yield ManifestEntry(name, apply_defaults(own or {}, defaults), text, ("jobs", name))


def apply_defaults(own: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Apply the defaults of a file to a job: the job's own fields win, labels are merged."""
    job = {**defaults, **own}
    if isinstance(defaults.get("labels"), dict) and isinstance(own.get("labels"), dict):
        job["labels"] = {**defaults["labels"], **own["labels"]}
    for field, other in (("kind", "job_type"), ("retries", "max_retries")):
        # Two names of one field: the one that the job itself uses wins.
        for used, alias in ((field, other), (other, field)):
            if used in own and alias not in own:
                job.pop(alias, None)
    if isinstance(job.get("schedule"), str):
        job["schedule"] = {"cron": job["schedule"]}
    return _place_time_zone(job, is_own="timezone" in own)


def _place_time_zone(job: dict[str, Any], *, is_own: bool) -> dict[str, Any]:
    """Move the time zone to where the API takes it. A default zone applies only to schedules that
    can use one.
    """
    if "timezone" not in job:
        return job
    schedule = job.get("schedule")
    if isinstance(schedule, dict):
        zone = job.pop("timezone")
        if "timezone" not in schedule and (is_own or _follows_clock(schedule)):
            job["schedule"] = {**schedule, "timezone": zone}
    elif not is_own and not _follows_clock({"cron": job.get("cron_expression")}):
        job.pop("timezone")
    return job


def _follows_clock(schedule: Mapping[str, Any]) -> bool:
    """Whether the rules follow a wall clock and do not name a zone themselves."""
    rules = [schedule[rule] for rule in ("cron", "rrule") if schedule.get(rule) is not None]
    return bool(rules) and "TZ=" not in str(rules) and "TZID" not in str(rules)
