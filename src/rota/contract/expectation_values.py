"""Converts documents of expectations into values of core/alerts, and back.

Input is read strictly, stored documents leniently: a condition that only newer code knows is
ignored, so older processes check the others. The stored form has ISO durations and percentages as
text, so that a declared document and a stored one compare equal.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import time, timedelta
from typing import Any, Final
from uuid import UUID

from rota.contract.documents import read_stored
from rota.contract.expectations import (
    FINISH_BY_FORMAT,
    SHARE_FORMAT,
    AlertDraft,
    AtRiskDraft,
    DeadLettersDraft,
    ExpectDraft,
    FailuresDraft,
    MaxDurationDraft,
    RouteStepDraft,
    RuleCondition,
    SubjectMatch,
)
from rota.core.alerts.conditions import (
    AtRisk,
    Condition,
    DeadLetterCount,
    Expectation,
    FailureRate,
    FailureStreak,
    FinishBy,
    FiringLag,
    MaxDuration,
    MissedTickCount,
    NoWorker,
    OldestWait,
    StartWithin,
    SubjectSelector,
    SucceedEvery,
)
from rota.core.alerts.finding import AlertPolicy, Severity, derive_expectation_id
from rota.core.alerts.routes import RouteStep
from rota.core.errors import InvalidInput
from rota.core.submissions import check_labels, check_visible_name, prefix_errors
from rota.core.time import durations

SECOND: Final = timedelta(seconds=1)
REPEAT_MIN: Final = timedelta(minutes=1)
HOLD_MAX: Final = timedelta(days=1)
WINDOW_MAX: Final = timedelta(days=30)
CONDITION_DURATION_MAX: Final = timedelta(days=366)
DEFAULT_RATE_WINDOW: Final = timedelta(hours=1)
_TIME_OF_DAY: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")
_PERCENT: Final = re.compile(r"(\d{1,3}(?:\.\d{1,4})?)\s*%")


def parse_share(value: float | str, name: str) -> float:
    """Parse `10%` or `0.1` into 0.1."""
    share: float | None = None
    if isinstance(value, str):
        found = _PERCENT.fullmatch(value.strip())
        share = None if found is None else float(found[1]) / 100
    elif not isinstance(value, bool):
        share = float(value)
    if share is None or not 0 < share <= 1:
        raise InvalidInput(name, value, f"expected {SHARE_FORMAT}")
    return share


def format_share(share: float) -> str:
    """Format a share for people and for storage: 0.1 becomes `10%`."""
    return f"{round(share * 100, 4):g}%"


def parse_finish_by(text: str, name: str = "finish_by") -> FinishBy:
    """Parse `06:00` or `+3h30m`."""
    if text.startswith("+"):
        after = durations.parse(
            text[1:], field=name, minimum=SECOND, maximum=CONDITION_DURATION_MAX
        )
        return FinishBy(after=after)
    found = _TIME_OF_DAY.fullmatch(text)
    if found is None:
        raise InvalidInput(name, text, f"expected {FINISH_BY_FORMAT}")
    hour, minute, second = (int(part or 0) for part in found.groups())
    return FinishBy(time_of_day=time(hour, minute, second))


def format_finish_by(finish_by: FinishBy) -> str:
    if finish_by.after is not None:
        return f"+{durations.to_iso(finish_by.after)}"
    at = finish_by.time_of_day or time()
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"


def to_conditions(draft: ExpectDraft) -> tuple[Condition, ...]:
    """Convert the conditions of a document into core's values, in the order of the fields."""
    found: list[Condition] = []
    for name in draft.__struct_fields__:
        value = getattr(draft, name)
        if value is not None:
            found.extend(_READERS[name](value, name))
    return tuple(found)


def _parse_duration(
    value: str, name: str, *, maximum: timedelta = CONDITION_DURATION_MAX
) -> timedelta:
    return durations.parse(value, field=name, minimum=SECOND, maximum=maximum)


def _read_at_risk(value: Any, name: str) -> Iterable[Condition]:
    if isinstance(value, AtRiskDraft):
        share = parse_share(value.probability, f"{name}.probability")
        if share >= 1:
            raise InvalidInput(f"{name}.probability", value.probability, "must be below 100%")
        yield AtRisk(probability=share)
    elif value:
        yield AtRisk()


def _read_max_duration(value: str | MaxDurationDraft, name: str) -> Iterable[Condition]:
    if isinstance(value, str):
        yield MaxDuration(limit=_parse_duration(value, name))
    elif value.at_least is None:
        yield MaxDuration(times=value.times)
    else:
        at_least = _parse_duration(value.at_least, f"{name}.at_least")
        yield MaxDuration(times=value.times, at_least=at_least)


def _read_failures(value: FailuresDraft, name: str) -> Iterable[Condition]:
    if value.streak is None and value.rate is None:
        wanted = "required: `streak`, such as {streak: 2}, or `rate`, such as {rate: 10%, over: 1h}"
        raise InvalidInput(name, None, wanted)
    if value.rate is None:
        for other in ("over", "at_least"):
            if getattr(value, other) is not None:
                wanted = "requires `rate`; give `rate`, or omit it"
                raise InvalidInput(f"{name}.{other}", getattr(value, other), wanted)
    if value.streak is not None:
        yield FailureStreak(streak=value.streak)
    if value.rate is not None:
        over = DEFAULT_RATE_WINDOW
        if value.over is not None:
            over = _parse_duration(value.over, f"{name}.over", maximum=WINDOW_MAX)
        rate = parse_share(value.rate, f"{name}.rate")
        yield FailureRate(
            rate=rate, over=over, **({} if value.at_least is None else {"at_least": value.at_least})
        )


def _read_dead_letters(value: int | DeadLettersDraft, name: str) -> Iterable[Condition]:
    if isinstance(value, int):
        yield DeadLetterCount(count=value)
    elif value.over is None:
        yield DeadLetterCount(count=value.count)
    else:
        over = _parse_duration(value.over, f"{name}.over", maximum=WINDOW_MAX)
        yield DeadLetterCount(count=value.count, over=over)


_READERS: Final[Mapping[str, Callable[[Any, str], Iterable[Condition]]]] = {
    "start_within": lambda value, name: [StartWithin(within=_parse_duration(value, name))],
    "finish_by": lambda value, name: [parse_finish_by(value, name)],
    "at_risk": _read_at_risk,
    "succeed_every": lambda value, name: [SucceedEvery(every=_parse_duration(value, name))],
    "max_duration": _read_max_duration,
    "failures": _read_failures,
    "dead_letters": _read_dead_letters,
    "missed_ticks": lambda value, _name: [MissedTickCount(count=value)],
    "no_worker": lambda value, name: [NoWorker(within=_parse_duration(value, name))],
    "oldest_wait": lambda value, name: [OldestWait(limit=_parse_duration(value, name))],
    "lag": lambda value, name: [FiringLag(limit=_parse_duration(value, name))],
}
# The field of each condition whose code is not the name of its field.
_FIELDS_BY_CODE: Final = {"failure_streak": "failures", "failure_rate": "failures"}


def name_field(condition: Condition) -> str:
    """Return the field of a document that a condition comes from."""
    return _FIELDS_BY_CODE.get(condition.code, condition.code)


def write_conditions(conditions: Iterable[Condition]) -> dict[str, Any]:
    """Return the stored form of conditions, with every default written out."""
    document: dict[str, Any] = {}
    for condition in conditions:
        value, name = _write_condition(condition), name_field(condition)
        document[name] = document[name] | value if name in document else value
    return document


def _write_condition(condition: Condition) -> Any:
    return _WRITERS[condition.code](condition)


def _write_max_duration(condition: MaxDuration) -> Any:
    if condition.limit is not None:
        return durations.to_iso(condition.limit)
    return {"times": condition.times, "at_least": durations.to_iso(condition.at_least)}


def _write_failure_rate(condition: FailureRate) -> Any:
    return {
        "rate": format_share(condition.rate),
        "over": durations.to_iso(condition.over),
        "at_least": condition.at_least,
    }


def _write_dead_letters(condition: DeadLetterCount) -> Any:
    return {"count": condition.count, "over": durations.to_iso(condition.over)}


_WRITERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    StartWithin.code: lambda condition: durations.to_iso(condition.within),
    FinishBy.code: format_finish_by,
    AtRisk.code: lambda condition: {"probability": format_share(condition.probability)},
    SucceedEvery.code: lambda condition: durations.to_iso(condition.every),
    MaxDuration.code: _write_max_duration,
    FailureStreak.code: lambda condition: {"streak": condition.streak},
    FailureRate.code: _write_failure_rate,
    DeadLetterCount.code: _write_dead_letters,
    MissedTickCount.code: lambda condition: condition.count,
    NoWorker.code: lambda condition: durations.to_iso(condition.within),
    FiringLag.code: lambda condition: durations.to_iso(condition.limit),
    OldestWait.code: lambda condition: durations.to_iso(condition.limit),
}


def write_expect(draft: ExpectDraft | None) -> dict[str, Any] | None:
    """Return the stored form of a job's `expect`; None if it has no condition."""
    if draft is None:
        return None
    with prefix_errors("expect"):
        return write_conditions(to_conditions(draft)) or None


def write_alert(draft: AlertDraft | None) -> dict[str, Any] | None:
    """Return the stored form of a job's `alert`; None if everything has its default."""
    if draft is None:
        return None
    with prefix_errors("alert"):
        return write_policy(to_alert_policy(draft)) or None


def to_alert_policy(draft: AlertDraft) -> AlertPolicy:
    default = AlertPolicy()
    hold_for = default.hold_for
    if draft.hold_for is not None:
        hold_for = durations.parse(draft.hold_for, field="for", maximum=HOLD_MAX)
    return AlertPolicy(
        severity=default.severity if draft.severity is None else Severity(draft.severity),
        route=None if draft.to is None else check_visible_name(draft.to, "to"),
        hold_for=hold_for,
        clear_successes=default.clear_successes if draft.clear is None else draft.clear,
        recovery=default.recovery if draft.recovery is None else draft.recovery,
    )


def write_policy(policy: AlertPolicy) -> dict[str, Any]:
    """Return the stored form of a policy: the fields that differ from their defaults."""
    default = AlertPolicy()
    document: dict[str, Any] = {}
    if policy.route is not None:
        document["to"] = policy.route
    if policy.severity is not default.severity:
        document["severity"] = policy.severity.value
    if policy.hold_for != default.hold_for:
        document["for"] = durations.to_iso(policy.hold_for)
    if policy.clear_successes != default.clear_successes:
        document["clear"] = policy.clear_successes
    if policy.recovery != default.recovery:
        document["recovery"] = policy.recovery
    return document


def to_selector(match: SubjectMatch) -> SubjectSelector:
    """Convert a `match` document into core's value."""
    patterns = {name: getattr(match, name) for name in ("job", "step", "task", "queue")}
    with prefix_errors("match"):
        checked = {
            name: check_visible_name(value, name)
            for name, value in patterns.items()
            if value is not None
        }
        labels = json.loads(check_labels(match.labels))
    return SubjectSelector(**checked, labels=labels)


def write_selector(selector: SubjectSelector) -> dict[str, Any]:
    """Return the stored form of a selector: the fields that are given."""
    plain = {name: getattr(selector, name) for name in ("job", "step", "task", "queue")}
    document: dict[str, Any] = {name: value for name, value in plain.items() if value is not None}
    return document | ({"labels": dict(selector.labels)} if selector.labels else {})


def to_rule_condition(draft: RuleCondition, name: str = "when") -> Condition:
    """Return the single condition of a rule."""
    with prefix_errors(name):
        found = to_conditions(draft)
    if len(found) != 1:
        given = ", ".join(name_field(condition) for condition in found) or "none"
        wanted = f"expected exactly one condition, got {given}; write one rule for each"
        raise InvalidInput(name, given, wanted)
    return found[0]


def read_stored_selector(document: object) -> SubjectSelector:
    return to_selector(read_stored(SubjectMatch, document).document)


def read_stored_policy(document: object) -> AlertPolicy:
    return to_alert_policy(read_stored(AlertDraft, document or {}).document)


def read_stored_conditions(document: object) -> tuple[Condition, ...]:
    """Read stored conditions. Those that only newer code knows are left out."""
    return to_conditions(read_stored(RuleCondition, document or {}).document)


def build_job_expectations(
    *,
    job_id: UUID,
    tenant_id: int,
    job_name: str,
    expect: object,
    alert: object,
) -> list[Expectation]:
    """Return the expectations in the `expect` of a job, with ids that survive edits of their values
    and renames of the job.
    """
    return name_job_expectations(
        read_stored_conditions(expect),
        read_stored_policy(alert),
        job_id=job_id,
        tenant_id=tenant_id,
        job_name=job_name,
    )


def name_job_expectations(
    conditions: Iterable[Condition],
    policy: AlertPolicy,
    *,
    job_id: UUID,
    tenant_id: int,
    job_name: str,
) -> list[Expectation]:
    """Return the expectations of a job for conditions that were read before."""
    return [
        Expectation(
            id=derive_expectation_id(f"job:{job_id.hex}", condition.code),
            tenant_id=tenant_id,
            name=f"{job_name}: {condition.code}",
            condition=condition,
            policy=policy,
            job_id=job_id,
        )
        for condition in conditions
    ]


def to_route_steps(
    drafts: Sequence[RouteStepDraft], *, name: str = "steps"
) -> tuple[RouteStep, ...]:
    """Convert the steps of a route into core's values."""
    steps: list[RouteStep] = []
    for place, draft in enumerate(drafts):
        with prefix_errors(f"{name}[{place}]"):
            steps.append(_to_route_step(draft))
    return tuple(steps)


def _to_route_step(draft: RouteStepDraft) -> RouteStep:
    after, repeat = timedelta(0), None
    if draft.after is not None:
        after = durations.parse(draft.after, field="after", maximum=WINDOW_MAX)
    if draft.repeat is not None:
        repeat = durations.parse(
            draft.repeat, field="repeat", minimum=REPEAT_MIN, maximum=WINDOW_MAX
        )
    return RouteStep(
        channels=tuple(check_visible_name(channel, "to") for channel in dict.fromkeys(draft.to)),
        after=after,
        repeat=repeat,
        unless_acknowledged=draft.unless == "acknowledged",
        severity=Severity(draft.severity or Severity.INFO),
        recovery=draft.recovery is not False,
    )


def write_route_steps(steps: Iterable[RouteStep]) -> list[dict[str, Any]]:
    """Return the stored form of the steps: the fields that differ from their defaults."""
    documents: list[dict[str, Any]] = []
    for step in steps:
        document: dict[str, Any] = {"to": list(step.channels)}
        if step.after:
            document["after"] = durations.to_iso(step.after)
        if step.repeat is not None:
            document["repeat"] = durations.to_iso(step.repeat)
        if step.unless_acknowledged:
            document["unless"] = "acknowledged"
        if step.severity is not Severity.INFO:
            document["severity"] = step.severity.value
        if not step.recovery:
            document["recovery"] = False
        documents.append(document)
    return documents


def read_stored_steps(documents: Iterable[object]) -> tuple[RouteStep, ...]:
    return to_route_steps(
        [read_stored(RouteStepDraft, document).document for document in documents]
    )
