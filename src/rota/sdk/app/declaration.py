"""Reads and checks the options of a job's decorator when the decorator is called.

The names are those of the API (docs/reference/api.md), so that a decorator, a request and a
manifest use the same fields. Durations may be `timedelta` and times `datetime`.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, Literal, TypedDict

from rota.contract.documents import read_input
from rota.contract.job import GuaranteeName, JobDraft, OverlapName, PausedQueueName
from rota.contract.job_drafts import convert_plain_fields, resolve_policy
from rota.contract.schedule import read_saved_schedule, read_schedule
from rota.core.errors import InvalidInput
from rota.core.outcome import Guarantee
from rota.core.policy import DEFAULT_POLICY
from rota.core.submissions import check_labels, check_name, prefix_errors
from rota.core.time import durations, moments
from rota.core.time.schedule import Immediate
from rota.runtime.clock import SystemClock
from rota.sdk.app.expectations import Alert, Expect

Duration = str | timedelta
# The options that define when a job runs; each is a rule of a schedule.
SCHEDULE_OPTIONS: Final = ("cron", "rrule", "every", "at", "after", "on")
CLOCK: Final = SystemClock()
EXACTLY_ONCE_NEEDS_THREAD: Final = (
    "it cannot be combined with `isolation='process'`: a child process has no connection to Rota's "
    "database, so it cannot complete its run in ctx.transaction(); remove the isolation, or use "
    "at_least_once"
)


class JobOptions(TypedDict, total=False):
    """Options of runs. An app may set them for all of its jobs."""

    queue: str
    priority: int | Literal["high", "medium", "normal", "low"]
    retries: int | Mapping[str, Any]
    timeout: Duration
    deadline: Duration
    grace: Duration
    guarantee: GuaranteeName
    target: str
    overlap: OverlapName
    keep_first: bool
    when_queue_paused: PausedQueueName
    limits: Sequence[Mapping[str, Any]]
    labels: Mapping[str, str]
    user_id: str
    description: str
    expect: Expect | Mapping[str, Any]
    alert: Alert | Mapping[str, Any]


class SubmissionOptions(JobOptions, total=False):
    """Options of one submission."""

    name: str
    unique: Mapping[str, Any]
    idempotency_key: str


class DeclarationOptions(JobOptions, total=False):
    """Options of a job's declaration."""

    name: str
    kind: str
    unique: Mapping[str, Any]
    cron: str | Sequence[str]
    rrule: str
    every: Duration
    at: str | datetime | Sequence[str | datetime]
    after: Duration
    on: str | Mapping[str, Any]
    timezone: str
    schedule: Mapping[str, Any]
    args: Mapping[str, Any]
    isolation: Literal["none", "process"]
    memory: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDeclaration:
    """A checked declaration. `options` are fields of a request as JSON values; `args` are the
    arguments of the scheduled runs.
    """

    kind: str | None = None
    name: str | None = None
    schedule: Mapping[str, Any] | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    isolation: Literal["none", "process"] = "none"
    memory: int | None = None


def read_declaration(options: Mapping[str, Any]) -> JobDeclaration:
    """Read the arguments of a decorator."""
    refuse_unknown_options(options, DeclarationOptions.__annotations__)
    schedule = build_schedule(options)
    args = options.get("args", {})
    if args and schedule is None:
        wanted = "they are the arguments of scheduled runs and need a schedule, such as cron="
        raise InvalidInput("args", args, wanted)
    for field_name in ("name", "kind"):
        if options.get(field_name) is not None:
            check_name(options[field_name], field_name)
    if options.get("isolation") == "process" and options.get("guarantee") == Guarantee.EXACTLY_ONCE:
        raise InvalidInput("guarantee", options["guarantee"], EXACTLY_ONCE_NEEDS_THREAD)
    return JobDeclaration(
        kind=options.get("kind"),
        name=options.get("name"),
        schedule=schedule,
        args=args,
        options=select_options(options, (*JobOptions.__annotations__, "unique")),
        isolation=options.get("isolation", "none"),
        memory=options.get("memory"),
    )


def read_submission_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Read the options of one submission."""
    refuse_unknown_options(options, SubmissionOptions.__annotations__)
    return select_options(options, tuple(SubmissionOptions.__annotations__))


def read_app_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Read the options that an app sets for all of its jobs."""
    refuse_unknown_options(options, JobOptions.__annotations__)
    return select_options(options, tuple(JobOptions.__annotations__))


def select_options(arguments: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Select the options from the arguments, as JSON values; None counts as omitted."""
    options = {
        name: to_json_value(arguments[name]) for name in names if arguments.get(name) is not None
    }
    fields = {name: value for name, value in options.items() if name != "idempotency_key"}
    draft = read_input(JobDraft, fields)
    resolve_policy(draft, DEFAULT_POLICY)
    convert_plain_fields(draft)
    if "labels" in options:
        check_labels(options["labels"])
    for name in ("queue", "user_id", "name"):
        if name in options:
            check_name(options[name], name)
    return options


def build_schedule(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Build the schedule in the form that the engine reads; None if the job has none."""
    rules = [rule for rule in SCHEDULE_OPTIONS if arguments.get(rule) is not None]
    if arguments.get("schedule") is not None:
        outside = [*rules, *(["timezone"] if arguments.get("timezone") else [])]
        if outside:
            name = outside[0]
            wanted = f"it cannot be combined with `schedule`; move {name} into `schedule`"
            raise InvalidInput(name, arguments[name], wanted)
        plain = to_json_value(arguments["schedule"])
        if not isinstance(plain, dict):
            wanted = "expected an object, such as {'cron': '0 2 * * *'}"
            raise InvalidInput("schedule", plain, wanted)
    elif rules:
        names = [*rules, *(["timezone"] if arguments.get("timezone") else [])]
        plain = {
            "event" if name == "on" else name: to_json_value(arguments[name]) for name in names
        }
        for name in ("every", "after"):
            if isinstance(plain.get(name), int | float):
                durations.parse(plain[name], field=name)  # raises with a precise message
    elif arguments.get("timezone") is not None:
        wanted = "it needs a schedule, such as cron= or every="
        raise InvalidInput("timezone", arguments["timezone"], wanted)
    else:
        return None
    with prefix_errors("schedule"):
        # A time may lie in the past: the module of a job that has run must remain importable.
        # Parts that depend on the current time, such as the end of `after`, are read again when
        # the schedule is stored.
        is_times = [
            rule for rule in (*SCHEDULE_OPTIONS, "fixed_delay", "event") if rule in plain
        ] == ["at"]
        schedule = read_saved_schedule(plain) if is_times else read_schedule(plain, now=CLOCK.now())
        if isinstance(schedule.rules[0], Immediate):
            wanted = "expected a rule with times; to run the job at once, call its submit()"
            raise InvalidInput("immediate", True, wanted)
    return dict(plain)


def to_json_value(value: Any) -> Any:
    """Convert a value to JSON values, with durations and times in the engine's notation."""
    match value:
        case timedelta():
            return durations.to_iso(value)
        case datetime():
            return moments.to_rfc3339(moments.parse(value, field="at"))
        case Enum():
            return to_json_value(value.value)
        case Expect() | Alert():
            return {
                name: to_json_value(getattr(value, attribute))
                for attribute, name in zip(
                    value.__struct_fields__, value.__struct_encode_fields__, strict=True
                )
                if getattr(value, attribute) is not None
            }
        case Mapping():
            return {key: to_json_value(inner) for key, inner in value.items()}
        case list() | tuple():
            return [to_json_value(inner) for inner in value]
        case _:
            return value


def refuse_unknown_options(options: Mapping[str, Any], known: Iterable[str]) -> None:
    names = list(known)
    for name in options:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            suggestion = f"; did you mean {close[0]}?" if close else ""
            wanted = f"unknown option; known options: {', '.join(names)}{suggestion}"
            raise InvalidInput(name, options[name], wanted)
