"""Defines the quotas of a tenant.

An omitted quota has its default (`DEFAULT_QUOTAS`), or no limit if it has none. A quota of null
means no limit. The quotas on runs become the gate of the tenant (store/tenants.py); the others are
checked where jobs and other resources are written.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from rota.core.errors import InvalidInput
from rota.core.limits import CONCURRENCY_MAX, RATE_COUNT_MAX, GateLimits, RateLimit

# The maximum value of each numeric quota.
QUOTA_MAXIMA: Final = {
    "max_jobs": 10_000_000,
    "max_queued": 100_000_000,
    "max_running": CONCURRENCY_MAX,
    "runs_per_s": RATE_COUNT_MAX,
    "max_queues": 1_000_000,
    "max_kinds": 1_000_000,
    "max_limit_keys": 100_000_000,
    "max_hooks": 100_000,
    "max_calendars": 100_000,
    "max_secrets": 100_000,
    "max_keys": 100_000,
}
# More than a normal tenant needs, and few enough that one tenant cannot fill the shared tables.
DEFAULT_QUOTAS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "max_jobs": 1_000_000,
        "max_queued": 5_000_000,
        "max_queues": 10_000,
        "max_kinds": 100_000,
        "max_limit_keys": 1_000_000,
        "max_hooks": 1_000,
        "max_calendars": 100,
        "max_secrets": 200,
        "max_keys": 100,
    }
)
_SECOND: Final = timedelta(seconds=1)
TICK_PERIOD_MIN: Final = _SECOND
TICK_PERIOD_MAX: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    max_jobs: int | None = None
    max_queued: int | None = None
    max_running: int | None = None
    runs_per_s: int | None = None
    # The minimum time between two ticks of one job.
    min_period: timedelta | None = None
    # Queue and kind names that its submissions created, and keys of limits.
    max_queues: int | None = None
    max_kinds: int | None = None
    max_limit_keys: int | None = None
    max_hooks: int | None = None
    max_calendars: int | None = None
    max_secrets: int | None = None
    # Valid API keys.
    max_keys: int | None = None
    # The quotas that were explicitly set to no limit: their defaults do not apply.
    unlimited: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name, high in QUOTA_MAXIMA.items():
            value = getattr(self, name)
            if value is not None and (type(value) is not int or not 1 <= value <= high):
                wanted = f"must be a whole number from 1 to {high:,}"
                raise InvalidInput(f"quotas.{name}", value, wanted)
        if (
            self.min_period is not None
            and not TICK_PERIOD_MIN <= self.min_period <= TICK_PERIOD_MAX
        ):
            wanted = "must be 1 second to 1 day"
            raise InvalidInput("quotas.min_period", self.min_period, wanted)

    def find_limit(self, name: str) -> int | None:
        """Return the value of a quota, or its default; None means no limit."""
        value: int | None = getattr(self, name)
        return value if value is not None or name in self.unlimited else DEFAULT_QUOTAS.get(name)

    @property
    def gate_limits(self) -> GateLimits | None:
        """The limits of the tenant's gate; None if it needs no gate."""
        if self.max_running is None and self.runs_per_s is None:
            return None
        per_second = self.runs_per_s
        rate = per_second and RateLimit(count=per_second, per=_SECOND, burst=per_second)
        return GateLimits(max_running=self.max_running, rate=rate or None)
