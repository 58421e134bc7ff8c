"""Finds the rules that apply to a subject, and what a rule is about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rota.core.alerts.conditions import (
    AtRisk,
    Condition,
    Expectation,
    FinishBy,
    FiringLag,
    NoWorker,
    OldestWait,
    StartWithin,
    SubjectSelector,
    SucceedEvery,
)
from rota.core.alerts.finding import SubjectKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectTraits:
    """What selectors look at. `job` is the name of a job, `step` that of a step of its graph; both
    are None for a task or a queue as a whole. `task` is the kind, `labels` are those of the job.
    """

    job: str | None = None
    step: str | None = None
    task: str | None = None
    queue: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


def matches_selector(selector: SubjectSelector, traits: SubjectTraits) -> bool:
    """Return whether all fields of a selector match. A selector with `step` matches only steps, one
    without it matches no step: the end of the graph run covers them.
    """
    if (selector.step is None) != (traits.step is None):
        return False
    patterns = (
        (selector.job, traits.job),
        (selector.step, traits.step),
        (selector.task, traits.task),
        (selector.queue, traits.queue),
    )
    return all(
        pattern is None or (text is not None and matches_pattern(pattern, text))
        for pattern, text in patterns
    ) and all(traits.labels.get(name) == value for name, value in selector.labels.items())


def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern in which `*` stands for any characters.

    Takes each part between two `*` at its first place, so the time is linear for every pattern.
    """
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    last = rest.pop()
    if len(text) < len(first) + len(last) or not text.startswith(first):
        return False
    place, end = len(first), len(text) - len(last)
    for part in rest:
        found = text.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return text.endswith(last)


def choose_subject_kind(condition: Condition, selector: SubjectSelector) -> SubjectKind:
    """Return what a rule is about: each job, each step, each task or each queue that it matches, or
    the platform.
    """
    match condition:
        case FiringLag():
            return SubjectKind.PLATFORM
        case NoWorker() | OldestWait():
            return SubjectKind.QUEUE
        case StartWithin() | FinishBy() | SucceedEvery() | AtRisk():
            return SubjectKind.JOB
        case _:
            return _choose_by_selector(selector)


def _choose_by_selector(selector: SubjectSelector) -> SubjectKind:
    if selector.step is not None:
        return SubjectKind.STEP
    if selector.job is not None or selector.labels:
        return SubjectKind.JOB
    if selector.task is not None:
        return SubjectKind.TASK
    return SubjectKind.JOB if selector.queue is None else SubjectKind.QUEUE


def list_effective(
    traits: SubjectTraits, rules: Iterable[Expectation], own: Sequence[Expectation] = ()
) -> list[Expectation]:
    """Return the expectations of a subject: the conditions of the job itself, then the rules that
    match it. A default applies only if nothing else has the same condition.
    """
    found = list(own)
    defaults: list[Expectation] = []
    for rule in rules:
        if rule.is_enabled and matches_selector(rule.selector, traits):
            (defaults if rule.is_default else found).append(rule)
    covered = {expectation.condition.code for expectation in found}
    return found + [rule for rule in defaults if rule.condition.code not in covered]
