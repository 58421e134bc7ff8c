"""Defines the conditions of expectations: what must hold for a job, step, task, queue or tenant.

Clock conditions (`StartWithin`, `FinishBy`, `SucceedEvery`, `AtRisk`) are checked at an instant
that is known in advance. Ending conditions (`MaxDuration`, `FailureStreak`, `FailureRate`,
`DeadLetterCount`, `MissedTickCount`) are checked when a run ends. State conditions (`NoWorker`,
`FiringLag`, `OldestWait`) are checked every few seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import time, timedelta
from typing import ClassVar
from uuid import UUID

from rota.core.alerts.finding import AlertPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class StartWithin:
    """A tick's run starts within `within` of its due time."""

    code: ClassVar = "start_within"
    within: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishBy:
    """A tick's run succeeds by a time of day in the job's zone (the first one after the tick), or
    within `after` of the tick. Exactly one of both is set.
    """

    code: ClassVar = "finish_by"
    time_of_day: time | None = None
    after: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AtRisk:
    """Warns before the `FinishBy` of the same job is missed: when the probability of finishing in
    time is below `probability`.
    """

    code: ClassVar = "at_risk"
    probability: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class SucceedEvery:
    """The newest tick that succeeded is at most `every` old. Old backfilled ticks do not count."""

    code: ClassVar = "succeed_every"
    every: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxDuration:
    """A run lasts at most `limit`, or at most `times` the 95th percentile of its own history and
    never less than `at_least`. Either `limit` or `times` is set.
    """

    code: ClassVar = "max_duration"
    limit: timedelta | None = None
    times: float | None = None
    at_least: timedelta = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureStreak:
    """Fewer than `streak` runs in a row fail."""

    code: ClassVar = "failure_streak"
    streak: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRate:
    """Of the runs that ended within `over`, the share of failures is below `rate`. Judged only if
    at least `at_least` runs ended.
    """

    code: ClassVar = "failure_rate"
    rate: float
    over: timedelta
    at_least: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterCount:
    """Fewer than `count` new dead letters per group of equal errors within `over`."""

    code: ClassVar = "dead_letters"
    count: int = 1
    over: timedelta = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedTickCount:
    """Fewer than `count` ticks in a row are missed."""

    code: ClassVar = "missed_ticks"
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NoWorker:
    """A live worker serves each queue and task with waiting runs, at the latest after `within`."""

    code: ClassVar = "no_worker"
    within: timedelta = timedelta(minutes=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringLag:
    """Ticks are fired at most `limit` late."""

    code: ClassVar = "lag"
    limit: timedelta = timedelta(seconds=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class OldestWait:
    """No ready run waits longer than `limit`."""

    code: ClassVar = "oldest_wait"
    limit: timedelta


ClockCondition = StartWithin | FinishBy | SucceedEvery | AtRisk
EndingCondition = MaxDuration | FailureStreak | FailureRate | DeadLetterCount | MissedTickCount
StateCondition = NoWorker | FiringLag | OldestWait
Condition = ClockCondition | EndingCondition | StateCondition


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectSelector:
    """Which subjects of a tenant a rule applies to. All given fields must match; without any, the
    rule applies to every job. `job` and `task` are patterns with `*`.
    """

    job: str | None = None
    step: str | None = None
    task: str | None = None
    queue: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One condition for the subjects that a selector matches.

    `job_id` is set for a condition in the `expect` of a job; then the selector is empty.
    `is_default` is set for conditions that Rota brings along.
    """

    id: UUID
    tenant_id: int
    name: str
    condition: Condition
    selector: SubjectSelector = field(default_factory=SubjectSelector)
    policy: AlertPolicy = field(default_factory=AlertPolicy)
    job_id: UUID | None = None
    is_default: bool = False
    is_enabled: bool = True
