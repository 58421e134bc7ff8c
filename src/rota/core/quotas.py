"""What one tenant may have at most. Room: core.

A quota that is not given is no limit. Those on runs become the gate of the tenant
(store/tenants.py); the others are held against by whoever writes jobs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.limits import MOST_AT_ONCE, MOST_PER_TIME, Limits, Rate
from rota.core.time import durations

_COUNTS: Final = {
    "max_jobs": 10_000_000,
    "max_queued": 100_000_000,
    "max_running": MOST_AT_ONCE,
    "runs_per_s": MOST_PER_TIME,
}
_KNOWN: Final = (*_COUNTS, "min_period")
_SECOND: Final = timedelta(seconds=1)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    max_jobs: int | None = None
    max_queued: int | None = None
    max_running: int | None = None
    runs_per_s: int | None = None
    # The smallest time between two ticks of one job.
    min_period: timedelta | None = None

    def __post_init__(self) -> None:
        for name, high in _COUNTS.items():
            value = getattr(self, name)
            if value is not None and (type(value) is not int or not 1 <= value <= high):
                raise InvalidInput(f"quotas.{name}", value, f"a whole number from 1 to {high}")
        if self.min_period is not None and not _SECOND <= self.min_period <= _DAY:
            raise InvalidInput("quotas.min_period", self.min_period, "one second to one day")

    @property
    def limits(self) -> Limits | None:
        """What the gate of the tenant lets through; None if it needs none."""
        if self.max_running is None and self.runs_per_s is None:
            return None
        each_second = self.runs_per_s
        rate = each_second and Rate(count=each_second, per=_SECOND, burst=each_second)
        return Limits(most=self.max_running, rate=rate or None)


def to_plain(quotas: Quotas) -> dict[str, object]:
    """The stored form, without what is not limited."""
    period = quotas.min_period
    values = {name: getattr(quotas, name) for name in _COUNTS}
    values["min_period"] = period and durations.iso(period)
    return {name: value for name, value in values.items() if value is not None}


def from_plain(value: object) -> Quotas:
    """Read what somebody wrote; errors name the field."""
    if not isinstance(value, Mapping):
        raise InvalidInput("quotas", value, "an object")
    for name in value:
        if name not in _KNOWN:
            raise InvalidInput(f"quotas.{name}", value[name], f"one of {', '.join(_KNOWN)}")
    return _read(value)


def read_stored(value: Mapping[str, object]) -> Quotas:
    """Read quotas from the database. A quota that this version does not know is not enforced."""
    return _read(value)


def _read(value: Mapping[str, Any]) -> Quotas:
    period = value.get("min_period")
    if period is not None and not isinstance(period, str):
        raise InvalidInput("quotas.min_period", period, durations.WANTED)
    return Quotas(
        **{name: value.get(name) for name in _COUNTS},
        min_period=None if period is None else durations.parse(period, field="quotas.min_period"),
    )
