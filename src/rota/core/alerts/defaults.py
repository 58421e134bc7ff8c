"""Defines the expectations that Rota brings along, and the checks of Rota itself.

Defaults apply to every tenant without configuration; a rule or a job with the same condition
replaces them. The setting `alerts.defaults` switches them off. Checks of Rota itself are about the
installation and use the codes of `rota why` and `GET /v1/problems`.
"""

from datetime import timedelta
from functools import lru_cache
from typing import Final

from rota.core.alerts.conditions import (
    DeadLetterCount,
    Expectation,
    FailureStreak,
    MissedTickCount,
    NoWorker,
)
from rota.core.alerts.finding import (
    PLATFORM_TENANT_ID,
    AlertPolicy,
    ExpectationRef,
    Severity,
    derive_expectation_id,
)

# Scheduled jobs; work that retries and then fails for good is a dead letter at once.
DEFAULT_STREAK: Final = FailureStreak(streak=3)
DEFAULT_MISSED_TICKS: Final = MissedTickCount(count=1)
DEFAULT_DEAD_LETTERS: Final = DeadLetterCount(count=1)
DEFAULT_NO_WORKER: Final = NoWorker(within=timedelta(minutes=2))
TENANTS_CACHED_MAX: Final = 10_000

# How long a problem of the installation must last before an incident opens, and its severity.
PLATFORM_POLICIES: Final = {
    "lag": AlertPolicy(severity=Severity.PAGE, hold_for=timedelta(minutes=1)),
    "relay_behind": AlertPolicy(severity=Severity.WARNING, hold_for=timedelta(0)),
    "shard_without_owner": AlertPolicy(severity=Severity.PAGE, hold_for=timedelta(seconds=30)),
    "clock_offset": AlertPolicy(severity=Severity.PAGE, hold_for=timedelta(0)),
}
PLATFORM_NAMES: Final = {
    "lag": "ticks fired in time",
    "relay_behind": "event relay up to date",
    "shard_without_owner": "every shard has a scheduler",
    "clock_offset": "clocks agree",
}


@lru_cache(maxsize=TENANTS_CACHED_MAX)
def list_default_expectations(tenant_id: int) -> tuple[Expectation, ...]:
    """Return the defaults of a tenant."""
    owner = f"default:{tenant_id}"
    conditions = (
        (DEFAULT_STREAK, "runs of scheduled jobs succeed"),
        (DEFAULT_MISSED_TICKS, "ticks run"),
        (DEFAULT_DEAD_LETTERS, "no dead letters"),
        (DEFAULT_NO_WORKER, "workers for every queue"),
    )
    return tuple(
        Expectation(
            id=derive_expectation_id(owner, condition.code),
            tenant_id=tenant_id,
            name=name,
            condition=condition,
            is_default=True,
        )
        for condition, name in conditions
    )


def build_default_ref(
    tenant_id: int, code: str, name: str, policy: AlertPolicy | None = None
) -> ExpectationRef:
    """Return a default that is no condition of `expect`, such as a stopped source."""
    return ExpectationRef(
        id=derive_expectation_id(f"default:{tenant_id}", code),
        tenant_id=tenant_id,
        name=name,
        condition=code,
        policy=policy or AlertPolicy(),
    )


def build_platform_ref(code: str) -> ExpectationRef:
    """Return a check of the installation."""
    return build_default_ref(
        PLATFORM_TENANT_ID, code, PLATFORM_NAMES[code], PLATFORM_POLICIES[code]
    )
