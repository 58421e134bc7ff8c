"""Decides what follows an attempt to deliver a webhook: done, retry, give up, disable (I7).

Retries follow the schedule of Standard Webhooks. An endpoint that fails several times in a row
gets one probe at a time, so a dead endpoint costs one socket. After days without a success it is
disabled; its deliveries are kept.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

from rota.core.outgoing_http import PostResponse

if TYPE_CHECKING:
    from random import Random

# Waits before the second, third, … attempt: 10 attempts within 75 hours.
RETRY_WAITS: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
RETRY_JITTER_SHARE: Final = 0.1
RETRY_AFTER_MAX: Final = timedelta(hours=24)
ATTEMPT_TIMEOUT: Final = timedelta(seconds=15)
# Longer than an attempt and its recording; then another sender repeats the attempt.
DELIVERY_LEASE: Final = timedelta(seconds=45)
DELIVERIES_KEPT: Final = timedelta(days=14)

CONCURRENCY_MAX: Final = 10
# The endpoint, or a proxy in front of it, has too much to do.
OVERLOAD_STATUSES: Final = frozenset({429, 502, 504})
GONE_STATUS: Final = 410
# Failures in a row after which an endpoint gets one probe at a time.
FAILING_AFTER: Final = 5
PROBE_WAIT: Final = timedelta(seconds=5)
PROBE_WAIT_MAX: Final = timedelta(minutes=5)
# 2**6 times the first wait exceeds the longest.
PROBE_DOUBLINGS_MAX: Final = 6
DISABLE_AFTER: Final = timedelta(days=5)
DISABLE_FAILURES_MIN: Final = 20
# Success is noted at most this often while an endpoint works.
SUCCESS_NOTED_EVERY: Final = timedelta(minutes=1)

ERROR_CHARACTERS_MAX: Final = 500


class DisabledReason(StrEnum):
    """Why an endpoint is disabled."""

    MANUAL = "manual"
    GONE = "gone"
    FAILING = "failing"


class EndpointNews(StrEnum):
    """A change of an endpoint's health that becomes an event; the value is its type."""

    FAILING = "endpoint.failing"
    DISABLED = "endpoint.disabled"
    RECOVERED = "endpoint.recovered"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointHealth:
    """What is known about an endpoint. `failures` are those since the last success."""

    failures: int = 0
    failing_since: datetime | None = None
    probe_at: datetime | None = None
    concurrency: int = CONCURRENCY_MAX
    last_success_at: datetime | None = None
    disabled_reason: DisabledReason | None = None

    @property
    def is_failing(self) -> bool:
        return self.failures >= FAILING_AFTER


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthChange:
    """The health after an attempt, and the event about it, if any."""

    health: EndpointHealth
    news: EndpointNews | None = None


def derive_delivery_id(endpoint_id: UUID, event_id: UUID) -> UUID:
    """Return the id of the delivery of an event to an endpoint."""
    return uuid5(endpoint_id, event_id.hex)


def describe_failure(response: PostResponse) -> str:
    """Return one sentence about a failed attempt."""
    if response.status is None:
        reason = response.error.value if response.error is not None else "failed"
        text = f"{reason}: {response.message}" if response.message else reason
    elif 300 <= response.status < 400:
        text = f"answered {response.status}; redirects are not followed, change the URL"
    else:
        text = f"answered {response.status}"
    return text.replace("\0", "�")[:ERROR_CHARACTERS_MAX]


def compute_retry_wait(response: PostResponse, *, retries: int, rng: "Random") -> timedelta | None:
    """Return how long to wait after the attempt with this place on the schedule failed; None gives
    up. `Retry-After` can only make the wait longer.
    """
    if retries >= len(RETRY_WAITS):
        return None
    wait = RETRY_WAITS[retries] * rng.uniform(1 - RETRY_JITTER_SHARE, 1 + RETRY_JITTER_SHARE)
    if response.retry_after is not None:
        wait = max(wait, min(response.retry_after, RETRY_AFTER_MAX))
    return wait


def record_endpoint_success(health: EndpointHealth, *, now: datetime) -> HealthChange | None:
    """Return the health after a success; None if nothing needs to be written."""
    is_noted = (
        health.last_success_at is not None and now - health.last_success_at < SUCCESS_NOTED_EVERY
    )
    if is_noted and health.failures == 0 and health.concurrency == CONCURRENCY_MAX:
        return None
    return HealthChange(
        health=EndpointHealth(
            concurrency=min(health.concurrency + 1, CONCURRENCY_MAX),
            last_success_at=now,
            disabled_reason=health.disabled_reason,
        ),
        news=EndpointNews.RECOVERED if health.is_failing else None,
    )


def record_endpoint_failure(
    health: EndpointHealth, response: PostResponse, *, now: datetime, rng: "Random"
) -> HealthChange:
    """Return the health after a failed attempt."""
    failures = health.failures + 1
    since = health.failing_since or now
    is_overloaded = response.status in OVERLOAD_STATUSES
    reason = health.disabled_reason or _find_reason_to_disable(response, failures, now - since)
    news = None
    if reason is not None and health.disabled_reason is None:
        news = EndpointNews.DISABLED
    elif failures == FAILING_AFTER:
        news = EndpointNews.FAILING
    return HealthChange(
        health=EndpointHealth(
            failures=failures,
            failing_since=since,
            probe_at=_compute_probe(failures, now, rng),
            concurrency=max(health.concurrency // 2, 1) if is_overloaded else health.concurrency,
            last_success_at=health.last_success_at,
            disabled_reason=reason,
        ),
        news=news,
    )


def _find_reason_to_disable(
    response: PostResponse, failures: int, lasting: timedelta
) -> DisabledReason | None:
    if response.status == GONE_STATUS:
        return DisabledReason.GONE
    if failures >= DISABLE_FAILURES_MIN and lasting >= DISABLE_AFTER:
        return DisabledReason.FAILING
    return None


def _compute_probe(failures: int, now: datetime, rng: "Random") -> datetime | None:
    """Return when the next probe may be sent; None while the endpoint counts as working."""
    if failures < FAILING_AFTER:
        return None
    doublings = min(failures - FAILING_AFTER, PROBE_DOUBLINGS_MAX)
    wait = min(PROBE_WAIT * (1 << doublings), PROBE_WAIT_MAX)
    return now + wait * rng.uniform(1 - RETRY_JITTER_SHARE, 1 + RETRY_JITTER_SHARE)
