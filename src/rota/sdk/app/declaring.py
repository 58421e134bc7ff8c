"""What is said about a job, read and checked where it is said. Room: sdk/app.

The names are those of the API (docs/reference/api.md), so that a decorator, a request and a file
say the same thing in the same words. Durations may be `timedelta` and times `datetime`.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, Literal, TypedDict

from rota.contract.documents import read_input
from rota.contract.drafts import plain_values, policy_of
from rota.contract.job import GuaranteeName, JobDraft, OverlapName, PausedQueueName
from rota.contract.schedule import read_saved_schedule, read_schedule
from rota.core.errors import InvalidInput
from rota.core.outcome import Guarantee
from rota.core.policy import USUAL
from rota.core.submission import check_labels, check_name, within
from rota.core.time import durations, moments
from rota.core.time.schedule import Immediate
from rota.runtime.clock import SystemClock

Duration = str | timedelta
# The ways to say when; each is a rule of a schedule.
RULES: Final = ("cron", "rrule", "every", "at", "after", "on")
CLOCK: Final = SystemClock()
NOT_IN_A_PROCESS: Final = (
    "no `isolation='process'` beside it: a child process has no connection to Rota's database, so "
    "it cannot complete its run in ctx.transaction(); leave the isolation out, or use at_least_once"
)


class Options(TypedDict, total=False):
    """How runs are carried out; an app may say it for all of its jobs."""

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


class Sending(Options, total=False):
    """What may be said about one submission."""

    name: str
    unique: Mapping[str, Any]
    idempotency_key: str


class Declaration(Options, total=False):
    """What may be said about a job."""

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
class Declared:
    """A declaration that was read. `options` are fields of a request, as JSON has them; `args` are
    the arguments of the scheduled runs.
    """

    kind: str | None = None
    name: str | None = None
    schedule: Mapping[str, Any] | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    isolation: Literal["none", "process"] = "none"
    memory: int | None = None


def read(given: Mapping[str, Any]) -> Declared:
    """Read what a decorator was given."""
    refuse_unknown(given, Declaration.__annotations__)
    schedule = schedule_of(given)
    args = given.get("args", {})
    if args and schedule is None:
        raise InvalidInput("args", args, "a schedule to go with them: they are for its runs")
    for text in ("name", "kind"):
        if given.get(text) is not None:
            check_name(given[text], text)
    if given.get("isolation") == "process" and given.get("guarantee") == Guarantee.EXACTLY_ONCE:
        raise InvalidInput("guarantee", given["guarantee"], NOT_IN_A_PROCESS)
    return Declared(
        kind=given.get("kind"),
        name=given.get("name"),
        schedule=schedule,
        args=args,
        options=options_of(given, (*Options.__annotations__, "unique")),
        isolation=given.get("isolation", "none"),
        memory=given.get("memory"),
    )


def sending_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Read what is said about one submission."""
    refuse_unknown(given, Sending.__annotations__)
    return options_of(given, tuple(Sending.__annotations__))


def defaults_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Read what an app says about all of its jobs."""
    refuse_unknown(given, Options.__annotations__)
    return options_of(given, tuple(Options.__annotations__))


def options_of(given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The options among what was given, as JSON has them; None counts as not said."""
    said = {name: plainly(given[name]) for name in names if given.get(name) is not None}
    draft = read_input(JobDraft, {name: said[name] for name in said if name != "idempotency_key"})
    policy_of(draft, USUAL)
    plain_values(draft)
    if "labels" in said:
        check_labels(said["labels"])
    for name in ("queue", "user_id", "name"):
        if name in said:
            check_name(said[name], name)
    return said


def schedule_of(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """When it runs, in the one form that the engine reads; None if nothing is said about it."""
    rules = [rule for rule in RULES if given.get(rule) is not None]
    if given.get("schedule") is not None:
        both = [*rules, *(["timezone"] if given.get("timezone") else [])]
        if both:
            raise InvalidInput(both[0], given[both[0]], "it inside `schedule`, or no `schedule`")
        said = plainly(given["schedule"])
        if not isinstance(said, dict):
            raise InvalidInput("schedule", said, "an object, such as {'cron': '0 2 * * *'}")
    elif rules:
        names = [*rules, *(["timezone"] if given.get("timezone") else [])]
        said = {"event" if name == "on" else name: plainly(given[name]) for name in names}
        for name in ("every", "after"):
            if isinstance(said.get(name), int | float):
                durations.parse(said[name], field=name)  # which says what is wrong with it
    elif given.get("timezone") is not None:
        raise InvalidInput("timezone", given["timezone"], "a schedule that it is about")
    else:
        return None
    with within("schedule"):
        # A time may lie in the past: the module of a job that has run must still be imported. What
        # depends on the moment, such as the end of `after`, is read again when it is stored.
        is_times = [rule for rule in (*RULES, "fixed_delay", "event") if rule in said] == ["at"]
        read = read_saved_schedule(said) if is_times else read_schedule(said, now=CLOCK.now())
        if isinstance(read.rules[0], Immediate):
            raise InvalidInput("immediate", True, "a rule with times; `submit` runs it at once")
    return dict(said)


def plainly(value: Any) -> Any:
    """A value as JSON has it, with durations and times as the engine writes them."""
    match value:
        case timedelta():
            return durations.iso(value)
        case datetime():
            return moments.rfc3339(moments.parse(value, field="at"))
        case Enum():
            return plainly(value.value)
        case Mapping():
            return {key: plainly(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plainly(inner) for inner in value]
        case _:
            return value


def refuse_unknown(given: Mapping[str, Any], known: Iterable[str]) -> None:
    names = list(known)
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            meant = f"; did you mean {close[0]}?" if close else ""
            raise InvalidInput(name, given[name], f"one of {', '.join(names)}{meant}")
