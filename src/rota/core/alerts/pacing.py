"""Limits how many messages a channel gets, so that a storm of incidents stays readable.

A channel gets one message per 10 seconds on average, in bursts of three, and a number per hour.
Pages have a reserve beyond that. Messages that do not fit wait; when too many wait, or the hour is
used up, one digest every 15 minutes counts them instead.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from rota.core.alerts.finding import Severity

HOUR: Final = timedelta(hours=1)
BURST_MAX: Final = 3
BURST_WINDOW: Final = timedelta(seconds=30)
DIGEST_INTERVAL: Final = timedelta(minutes=15)
# More waiting messages than this are a storm.
BACKLOG_MAX: Final = 10

# Failures in a row after which a channel counts as failing.
FAILURES_MAX: Final = 3
RETRY_FIRST: Final = timedelta(seconds=10)
RETRY_MAX: Final = timedelta(hours=1)
GIVE_UP_AFTER: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelPace:
    """When a channel got messages within the last hour. `pages` are those of the reserve."""

    sent: tuple[datetime, ...] = ()
    pages: tuple[datetime, ...] = ()
    digest_at: datetime | None = None
    messages_per_hour: int = 30
    pages_per_hour: int = 10

    def forget_old(self, now: datetime) -> "ChannelPace":
        return replace(
            self,
            sent=tuple(at for at in self.sent if now - at < HOUR),
            pages=tuple(at for at in self.pages if now - at < HOUR),
        )


def take_message(pace: ChannelPace, severity: Severity, *, now: datetime) -> ChannelPace | None:
    """Return the pace after one more message; None if the message must wait."""
    pace = pace.forget_old(now)
    burst = sum(now - at < BURST_WINDOW for at in pace.sent)
    if burst < BURST_MAX and len(pace.sent) < pace.messages_per_hour:
        return replace(pace, sent=(*pace.sent, now))
    if severity is Severity.PAGE and len(pace.pages) < pace.pages_per_hour:
        return replace(pace, pages=(*pace.pages, now))
    return None


def find_next_turn(pace: ChannelPace, *, now: datetime) -> datetime:
    """Return when the channel may get the next message that is not a page."""
    pace = pace.forget_old(now)
    times = [now]
    if len(pace.sent) >= pace.messages_per_hour:
        times.append(pace.sent[-pace.messages_per_hour] + HOUR)
    if len(pace.sent) >= BURST_MAX:
        times.append(pace.sent[-BURST_MAX] + BURST_WINDOW)
    return max(times)


def is_digest_due(pace: ChannelPace, *, waiting: int, now: datetime) -> bool:
    """Return whether a digest must count the waiting messages."""
    pace = pace.forget_old(now)
    is_storm = waiting > BACKLOG_MAX or len(pace.sent) >= pace.messages_per_hour
    is_allowed = pace.digest_at is None or now - pace.digest_at >= DIGEST_INTERVAL
    return waiting > 0 and is_storm and is_allowed


def compute_retry_delay(attempts: int, retry_after_s: float | None = None) -> timedelta:
    """Return how long after the `attempts`-th failed attempt the next one waits."""
    delay = min(RETRY_FIRST * (1 << min(attempts - 1, 20)), RETRY_MAX)
    if retry_after_s is None:
        return delay
    return min(max(delay, timedelta(seconds=retry_after_s)), RETRY_MAX)
