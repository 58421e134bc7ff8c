"""Imports Kubernetes CronJobs.

The container's command is imported, not the container: it runs on a worker, with that machine's
files. Settings that Rota does not support are reported by line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.submissions import prefix_errors
from rota.sdk.importers.import_result import ImportedJobs
from rota.sdk.jobs_as_code import yaml_reader
from rota.sdk.jobs_as_code.manifest_writer import ManifestJobText
from rota.sdk.jobs_as_code.problems import InvalidFile
from rota.sdk.jobs_as_code.yaml_reader import ValuePath, YamlDocument

OVERLAP_BY_POLICY: Final = {"Allow": "allow", "Forbid": "skip", "Replace": "cancel_running"}
# As the Kubernetes controller: 6 retries, from 10 seconds, doubled each time, at most 6 minutes.
DEFAULT_BACKOFF_LIMIT: Final = 6
CONTROLLER_BACKOFF: Final[Mapping[str, Any]] = {"base": "10s", "cap": "6m"}
START_DEADLINE_MIN_S: Final = 30
VARIABLE: Final = re.compile(r"\$\((\w+)\)")
# Known fields: they are imported, or have no meaning outside a cluster.
CRON_JOB_FIELDS: Final = frozenset(
    {"schedule", "timeZone", "concurrencyPolicy", "startingDeadlineSeconds", "suspend"}
    | {"jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}
)
JOB_SPEC_FIELDS: Final = frozenset(
    {"backoffLimit", "activeDeadlineSeconds", "template", "ttlSecondsAfterFinished"}
)
POD_FIELDS: Final = frozenset({"containers", "restartPolicy", "dnsPolicy", "schedulerName"})
CONTAINER_FIELDS: Final = frozenset(
    {"name", "image", "imagePullPolicy", "command", "args", "env", "workingDir"}
    | {"terminationMessagePath", "terminationMessagePolicy"}
)


@dataclass(frozen=True, slots=True)
class _Part:
    """An object with its path in the file."""

    text: YamlDocument
    path: ValuePath
    value: Mapping[str, Any]

    def place(self, *more: str | int) -> str:
        spot = self.text.find_position((*self.path, *more))
        return f"{spot.file}:{spot.line}"

    def part(self, *names: str | int) -> "_Part":
        """The object at this path; empty if it does not exist."""
        value: Any = self.value
        for name in names:
            try:
                value = value[name]
            except (KeyError, IndexError, TypeError):
                value = {}
        return _Part(self.text, (*self.path, *names), value if isinstance(value, dict) else {})

    def number(self, name: str) -> int | None:
        value = self.value.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InvalidInput(name, value, f"{name} must be a whole number, 0 or more")
        return value


def import_cron_jobs(text: str, file: str, now: datetime) -> ImportedJobs:
    """Import the CronJobs of a file, which may have several documents and lists of objects."""
    found = ImportedJobs(now=now)
    try:
        texts = yaml_reader.read_documents(text, file)
    except InvalidFile as error:
        for wrong in error.problems:
            found.skip_entry(f"{wrong.position.file}:{wrong.position.line}", wrong.message)
        return found
    for document in texts:
        for part in _objects(document):
            _object(part, found)
    return found


def _objects(text: YamlDocument) -> Iterator[_Part]:
    value = text.value
    if isinstance(value, dict) and str(value.get("kind", "")).endswith("List"):
        items = value.get("items")
        for index, item in enumerate(items if isinstance(items, list) else ()):
            yield _Part(text, ("items", index), item if isinstance(item, dict) else {})
    else:
        yield _Part(text, (), value if isinstance(value, dict) else {})


def _object(part: _Part, found: ImportedJobs) -> None:
    kind = part.value.get("kind")
    if kind != "CronJob":
        found.add_note(part.place(), f"skipped {kind or 'an object without a kind'}: not a CronJob")
        return
    try:
        found.jobs.append(_cron_job(part, found))
    except InvalidInput as error:
        field = error.field.split(".")[0]
        found.skip_entry(part.part("spec").place(field), error.wanted)


def _cron_job(part: _Part, found: ImportedJobs) -> ManifestJobText:
    spec = part.part("spec")
    job = spec.part("jobTemplate", "spec")
    pod = job.part("template", "spec")
    name = part.part("metadata").value.get("name")
    if not isinstance(name, str) or not name:
        raise InvalidInput("metadata", name, "a CronJob must have a name")
    body: dict[str, Any] = {
        "kind": "shell",
        "schedule": _schedule(spec, found),
        "payload": _payload(pod, found),
        "overlap": _overlap(spec),
        "retries": {"max": _retries(job), **CONTROLLER_BACKOFF},
        # A pod has no time limit of its own; activeDeadlineSeconds limits the whole job.
        "timeout": "none",
    }
    limit = job.number("activeDeadlineSeconds")
    if limit is not None:
        body["deadline"] = f"{limit}s"
    if spec.value.get("suspend") is True:
        body["paused"] = True
    namespace = part.part("metadata").value.get("namespace")
    if isinstance(namespace, str) and 0 < len(namespace) <= 64:
        body["labels"] = {"namespace": namespace}
    for owner, known in ((spec, CRON_JOB_FIELDS), (job, JOB_SPEC_FIELDS), (pod, POD_FIELDS)):
        _note_unsupported(owner, known, found)
    return ManifestJobText(found.claim_name(name), body)


def _schedule(spec: _Part, found: ImportedJobs) -> dict[str, Any]:
    expression = spec.value.get("schedule")
    if not isinstance(expression, str):
        raise InvalidInput("schedule", expression, "a CronJob must have a schedule")
    schedule: dict[str, Any] = {"cron": expression}
    zone = spec.value.get("timeZone")
    if zone is not None:
        schedule["timezone"] = zone
    elif "TZ=" not in expression:
        found.add_note(spec.place("schedule"), "no timeZone; times are in UTC")
    late = spec.number("startingDeadlineSeconds")
    if late is not None:
        if late < START_DEADLINE_MIN_S:
            minimum = START_DEADLINE_MIN_S
            note = f"startingDeadlineSeconds below {minimum} becomes {minimum}"
            found.add_note(spec.place("startingDeadlineSeconds"), note)
        schedule["misfire"] = {"start_deadline": f"{max(late, START_DEADLINE_MIN_S)}s"}
    with prefix_errors("schedule"):
        return found.check_schedule(schedule)


def _overlap(spec: _Part) -> str:
    policy = spec.value.get("concurrencyPolicy", "Allow")
    if policy not in OVERLAP_BY_POLICY:
        wanted = f"concurrencyPolicy must be one of {', '.join(OVERLAP_BY_POLICY)}"
        raise InvalidInput("concurrencyPolicy", policy, wanted)
    return OVERLAP_BY_POLICY[policy]


def _retries(job: _Part) -> int:
    limit = job.number("backoffLimit")
    return min(DEFAULT_BACKOFF_LIMIT if limit is None else limit, 100)


def _payload(pod: _Part, found: ImportedJobs) -> dict[str, Any]:
    containers = pod.value.get("containers")
    if not isinstance(containers, list) or len(containers) != 1:
        count = len(containers) if isinstance(containers, list) else 0
        wanted = f"the pod has {count} containers; only pods with one container can be imported"
        raise InvalidInput("jobTemplate", count, wanted)
    container = pod.part("containers", 0)
    env = _env(container, found)
    words = [*_words(container, "command"), *_words(container, "args")]
    if not _words(container, "command"):
        image = container.value.get("image")
        wanted = f"the container has no command; the default of image {image!r} is unknown"
        raise InvalidInput("jobTemplate", None, wanted)
    argv = [_substitute(word, env, container, found) for word in words]
    if not argv[0].startswith("/"):
        # A shell job names its program by path; env searches PATH, as a container does.
        argv.insert(0, "/usr/bin/env")
    note = "commands run on a worker, not in their images; install what they need there"
    found.add_note(container.place("image"), note)
    payload: dict[str, Any] = {"argv": argv}
    if env:
        payload["env"] = env
    if isinstance(container.value.get("workingDir"), str):
        payload["cwd"] = container.value["workingDir"]
    _note_unsupported(container, CONTAINER_FIELDS, found)
    return payload


def _words(container: _Part, name: str) -> list[str]:
    words = container.value.get(name)
    return [str(word) for word in words] if isinstance(words, list) else []


def _env(container: _Part, found: ImportedJobs) -> dict[str, str]:
    env: dict[str, str] = {}
    variables = container.value.get("env")
    for index, variable in enumerate(variables if isinstance(variables, list) else ()):
        if not isinstance(variable, dict) or not isinstance(variable.get("name"), str):
            continue
        if "valueFrom" in variable:
            note = f"{variable['name']} is not imported: its value is not in the file (valueFrom)"
            found.add_note(container.place("env", index), note)
        else:
            env[variable["name"]] = str(variable.get("value") or "")
    return env


def _substitute(word: str, env: Mapping[str, str], container: _Part, found: ImportedJobs) -> str:
    """Replace `$(NAME)`, which Kubernetes substitutes, by the variable's value."""

    def value(match: re.Match[str]) -> str:
        if match[1] in env:
            return env[match[1]]
        found.add_note(container.place("args"), f"$({match[1]}) is unknown and left as it is")
        return match[0]

    return VARIABLE.sub(value, word)


def _note_unsupported(part: _Part, known: frozenset[str], found: ImportedJobs) -> None:
    for name in part.value:
        if name not in known:
            found.add_note(part.place(name), f"{name} is not imported")
