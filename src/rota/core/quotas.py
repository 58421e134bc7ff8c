"""What one tenant may have at most. Room: core.

A quota that is not given has its default (`DEFAULT_QUOTAS`), or is no limit where there is none. A
quota that is given as null is no limit at all. Those on runs become the gate of the tenant
(store/tenants.py); the others are held against by whoever writes jobs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from rota.core.errors import InvalidInput
from rota.core.limits import MOST_AT_ONCE, MOST_PER_TIME, Limits, Rate

# The largest value of each quota that is a number.
QUOTA_MAXIMA: Final = {
    "max_jobs": 10_000_000,
    "max_queued": 100_000_000,
    "max_running": MOST_AT_ONCE,
    "runs_per_s": MOST_PER_TIME,
    "max_queues": 1_000_000,
    "max_kinds": 1_000_000,
    "max_limit_keys": 100_000_000,
    "max_hooks": 100_000,
    "max_calendars": 100_000,
    "max_secrets": 100_000,
    "max_keys": 100_000,
}
# What a tenant may have of each if nobody said anything: more than an honest one needs, and little
# enough that one tenant cannot fill the tables of all.
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
SHORTEST_PERIOD: Final = _SECOND
LONGEST_PERIOD: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    max_jobs: int | None = None
    max_queued: int | None = None
    max_running: int | None = None
    runs_per_s: int | None = None
    # The smallest time between two ticks of one job.
    min_period: timedelta | None = None
    # Names of queue and kind that its submissions made, and keys of limits.
    max_queues: int | None = None
    max_kinds: int | None = None
    max_limit_keys: int | None = None
    max_hooks: int | None = None
    max_calendars: int | None = None
    max_secrets: int | None = None
    # Valid ones.
    max_keys: int | None = None
    # The quotas that were lifted on purpose: their defaults do not apply.
    unlimited: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name, high in QUOTA_MAXIMA.items():
            value = getattr(self, name)
            if value is not None and (type(value) is not int or not 1 <= value <= high):
                raise InvalidInput(f"quotas.{name}", value, f"a whole number from 1 to {high}")
        if self.min_period is not None and not SHORTEST_PERIOD <= self.min_period <= LONGEST_PERIOD:
            raise InvalidInput("quotas.min_period", self.min_period, "one second to one day")

    def limit_of(self, name: str) -> int | None:
        """Return what is said of a quota, or else its default; None is no limit."""
        value: int | None = getattr(self, name)
        return value if value is not None or name in self.unlimited else DEFAULT_QUOTAS.get(name)

    @property
    def limits(self) -> Limits | None:
        """What the gate of the tenant lets through; None if it needs none."""
        if self.max_running is None and self.runs_per_s is None:
            return None
        each_second = self.runs_per_s
        rate = each_second and Rate(count=each_second, per=_SECOND, burst=each_second)
        return Limits(most=self.max_running, rate=rate or None)
