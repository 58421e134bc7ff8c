"""Defines the policy of a job's runs: retries, time limits, guarantee, target.

contract/policy.py reads and writes the document.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from rota.core.errors import InvalidInput
from rota.core.outcome import Guarantee
from rota.core.retry import RetryPolicy

TIMEOUT_MAX: Final = timedelta(hours=24)
GRACE_MAX: Final = timedelta(minutes=10)
NO_LIMIT: Final = "none"
TIME_LIMIT_MIN: Final = timedelta(milliseconds=100)
# Matches hosts with a port and user-defined names; shown in messages and logs.
TARGET_PATTERN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,252}", re.ASCII)
TARGET_WANTED: Final = (
    "expected a name such as payments or example.org:443, of 1 to 253 letters, digits and . _ : / -"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The policy of a job. `timeout` limits one attempt, `deadline` the whole run from its due
    time. `grace` is the time between asking an attempt to stop and killing it. `target` is what its
    attempts depend on, if it differs from what their executor reports (core/breaker.py). `unread`
    has the stored fields that only newer code knows.
    """

    retries: RetryPolicy = field(default_factory=RetryPolicy)
    timeout: timedelta | None = timedelta(minutes=15)
    deadline: timedelta | None = None
    grace: timedelta = timedelta(seconds=10)
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    target: str | None = None
    unread: Mapping[str, object] = field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self) -> None:
        if self.target is not None and TARGET_PATTERN.fullmatch(self.target) is None:
            raise InvalidInput("target", self.target, TARGET_WANTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadablePolicy(Policy):
    """Represents a stored policy that only newer code can read. No run starts under it."""

    reason: str


DEFAULT_POLICY: Final = Policy()
