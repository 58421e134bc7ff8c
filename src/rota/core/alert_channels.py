"""Defines what a channel implements: it sends one message about incidents to people or systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol
from uuid import UUID

from rota.core.alerts.finding import Severity


class MessageKind(StrEnum):
    """Why a message is sent."""

    OPENED = "opened"
    UPDATED = "updated"
    REPEATED = "repeated"
    ESCALATED = "escalated"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"
    FLAPPING = "flapping"
    DIGEST = "digest"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertItem:
    """One incident in a message. All texts may come from jobs; senders escape them."""

    incident_id: UUID
    title: str
    subject_kind: str
    subject_name: str
    condition: str
    severity: Severity
    opened_at: datetime
    resolved_at: datetime | None = None
    error: str | None = None
    count: int = 1
    last_success_at: datetime | None = None
    link: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMessage:
    """A message for one channel. `notification_id` is the idempotency key of this message,
    `dedup_key` is the same for all messages about one group of incidents, from the first to the
    last, so that PagerDuty, Jira Service Management, Alertmanager and mail threads connect them.
    `more` counts incidents that `items` leaves out.
    """

    notification_id: UUID
    dedup_key: str
    kind: MessageKind
    severity: Severity
    tenant: str
    title: str
    items: Sequence[AlertItem]
    more: int = 0
    link: str | None = None
    at: datetime
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelResult:
    """Sent if `error` is None. A `final` error is not worth a retry."""

    error: str | None = None
    final: bool = False
    retry_after_s: float | None = None

    @property
    def is_sent(self) -> bool:
        return self.error is None


class AlertChannel(Protocol):
    """Sends messages. One object per configured channel; it owns its timeouts."""

    async def send(self, message: AlertMessage, /) -> ChannelResult: ...

    async def close(self) -> None: ...
