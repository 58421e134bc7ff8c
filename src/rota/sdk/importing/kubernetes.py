"""Reads CronJobs of Kubernetes. Room: sdk/importing.

A container is not carried over, its command is: it runs on a worker, in that machine's files. What
else the object says and Rota does not do is told by its line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.submission import within
from rota.sdk.code import yaml_text
from rota.sdk.code.problems import FileRefused
from rota.sdk.code.writing import Written
from rota.sdk.code.yaml_text import Path, Text
from rota.sdk.importing.imported import Imported

OVERLAPS: Final = {"Allow": "allow", "Forbid": "skip", "Replace": "cancel_running"}
# The controller's own: ten seconds, doubled each time, six minutes at most, six times.
USUAL_LIMIT: Final = 6
BACKOFF: Final[Mapping[str, Any]] = {"base": "10s", "cap": "6m"}
SHORTEST_DEADLINE: Final = 30
VARIABLE: Final = re.compile(r"\$\((\w+)\)")
# What is used, or means nothing outside of a cluster.
CRON_JOB: Final = frozenset(
    {"schedule", "timeZone", "concurrencyPolicy", "startingDeadlineSeconds", "suspend"}
    | {"jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}
)
JOB: Final = frozenset(
    {"backoffLimit", "activeDeadlineSeconds", "template", "ttlSecondsAfterFinished"}
)
POD: Final = frozenset({"containers", "restartPolicy", "dnsPolicy", "schedulerName"})
CONTAINER: Final = frozenset(
    {"name", "image", "imagePullPolicy", "command", "args", "env", "workingDir"}
    | {"terminationMessagePath", "terminationMessagePolicy"}
)


@dataclass(frozen=True, slots=True)
class _Part:
    """An object somewhere in the text."""

    text: Text
    path: Path
    value: Mapping[str, Any]

    def place(self, *more: str | int) -> str:
        spot = self.text.spot((*self.path, *more))
        return f"{spot.file}:{spot.line}"

    def part(self, *names: str | int) -> "_Part":
        """What is under these names; an empty object if nothing is."""
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
            raise InvalidInput(name, value, f"{name} is a whole number")
        return value


def read(text: str, file: str, now: datetime) -> Imported:
    """The CronJobs of a file, which may have many documents and lists of objects."""
    found = Imported(now=now)
    try:
        texts = yaml_text.read(text, file)
    except FileRefused as error:
        for wrong in error.wrongs:
            found.leave_out(f"{wrong.spot.file}:{wrong.spot.line}", wrong.said)
        return found
    for each in texts:
        for part in _objects(each):
            _object(part, found)
    return found


def _objects(text: Text) -> Iterator[_Part]:
    value = text.value
    if isinstance(value, dict) and str(value.get("kind", "")).endswith("List"):
        items = value.get("items")
        for place, item in enumerate(items if isinstance(items, list) else ()):
            yield _Part(text, ("items", place), item if isinstance(item, dict) else {})
    else:
        yield _Part(text, (), value if isinstance(value, dict) else {})


def _object(part: _Part, found: Imported) -> None:
    kind = part.value.get("kind")
    if kind != "CronJob":
        found.note(part.place(), f"{kind or 'something without a kind'} is no CronJob; passed over")
        return
    try:
        found.jobs.append(_cron_job(part, found))
    except InvalidInput as error:
        field = error.field.split(".")[0]
        found.leave_out(part.part("spec").place(field), error.wanted)


def _cron_job(part: _Part, found: Imported) -> Written:
    spec = part.part("spec")
    job = spec.part("jobTemplate", "spec")
    pod = job.part("template", "spec")
    name = part.part("metadata").value.get("name")
    if not isinstance(name, str) or not name:
        raise InvalidInput("metadata", name, "a CronJob has a name")
    body: dict[str, Any] = {
        "kind": "shell",
        "schedule": _schedule(spec, found),
        "payload": _payload(pod, found),
        "overlap": _overlap(spec),
        "retries": {"max": _retries(job), **BACKOFF},
        # A pod runs as long as it likes, or as long as the whole job may.
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
    for each, known in ((spec, CRON_JOB), (job, JOB), (pod, POD)):
        _tell_rest(each, known, found)
    return Written(found.name(name), body)


def _schedule(spec: _Part, found: Imported) -> dict[str, Any]:
    expression = spec.value.get("schedule")
    if not isinstance(expression, str):
        raise InvalidInput("schedule", expression, "a CronJob has a schedule")
    schedule: dict[str, Any] = {"cron": expression}
    zone = spec.value.get("timeZone")
    if zone is not None:
        schedule["timezone"] = zone
    elif "TZ=" not in expression:
        found.note(spec.place("schedule"), "without a timeZone the times are taken as UTC")
    late = spec.number("startingDeadlineSeconds")
    if late is not None:
        if late < SHORTEST_DEADLINE:
            said = f"startingDeadlineSeconds below {SHORTEST_DEADLINE} becomes {SHORTEST_DEADLINE}"
            found.note(spec.place("startingDeadlineSeconds"), said)
        schedule["misfire"] = {"start_deadline": f"{max(late, SHORTEST_DEADLINE)}s"}
    with within("schedule"):
        return found.checked(schedule)


def _overlap(spec: _Part) -> str:
    said = spec.value.get("concurrencyPolicy", "Allow")
    if said not in OVERLAPS:
        known = ", ".join(OVERLAPS)
        raise InvalidInput("concurrencyPolicy", said, f"concurrencyPolicy is one of {known}")
    return OVERLAPS[said]


def _retries(job: _Part) -> int:
    limit = job.number("backoffLimit")
    return min(USUAL_LIMIT if limit is None else limit, 100)


def _payload(pod: _Part, found: Imported) -> dict[str, Any]:
    containers = pod.value.get("containers")
    if not isinstance(containers, list) or len(containers) != 1:
        count = len(containers) if isinstance(containers, list) else 0
        wanted = f"a pod with one container becomes a job; this one has {count}"
        raise InvalidInput("jobTemplate", count, wanted)
    container = pod.part("containers", 0)
    env = _env(container, found)
    words = [*_words(container, "command"), *_words(container, "args")]
    if not _words(container, "command"):
        image = container.value.get("image")
        wanted = f"a command: what the image {image!r} starts by itself is not known here"
        raise InvalidInput("jobTemplate", None, wanted)
    argv = [_filled(word, env, container, found) for word in words]
    if not argv[0].startswith("/"):
        # A program is named by its path; env finds one by its name, as a container does.
        argv.insert(0, "/usr/bin/env")
    said = "commands run on a worker, not in their images: what they need must be there"
    found.note(container.place("image"), said)
    payload: dict[str, Any] = {"argv": argv}
    if env:
        payload["env"] = env
    if isinstance(container.value.get("workingDir"), str):
        payload["cwd"] = container.value["workingDir"]
    _tell_rest(container, CONTAINER, found)
    return payload


def _words(container: _Part, name: str) -> list[str]:
    words = container.value.get(name)
    return [str(word) for word in words] if isinstance(words, list) else []


def _env(container: _Part, found: Imported) -> dict[str, str]:
    env: dict[str, str] = {}
    given = container.value.get("env")
    for place, each in enumerate(given if isinstance(given, list) else ()):
        if not isinstance(each, dict) or not isinstance(each.get("name"), str):
            continue
        if "valueFrom" in each:
            said = f"the value of {each['name']} is not in the file and not carried over"
            found.note(container.place("env", place), said)
        else:
            env[each["name"]] = str(each.get("value") or "")
    return env


def _filled(word: str, env: Mapping[str, str], container: _Part, found: Imported) -> str:
    """`$(NAME)` is filled by the cluster, not by a shell."""

    def value(match: re.Match[str]) -> str:
        if match[1] in env:
            return env[match[1]]
        found.note(container.place("args"), f"$({match[1]}) is not known here and stays as it is")
        return match[0]

    return VARIABLE.sub(value, word)


def _tell_rest(part: _Part, known: frozenset[str], found: Imported) -> None:
    for name in part.value:
        if name not in known:
            found.note(part.place(name), f"{name} is not carried over")
