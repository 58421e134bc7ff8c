"""Sends planned messages through one channel.

A pass claims messages for one attempt, with a lease and the number of the attempt as a fence; then
it sends them, then it records the results. After a crash between sending and recording, another
process sends the message again with the same key: receivers that know keys drop it, chats may show
it twice. The pace of a channel is decided while its row is locked, so it holds for all processes
together.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid5

from rota.core.alert_channels import (
    AlertChannel,
    AlertItem,
    AlertMessage,
    ChannelResult,
    MessageKind,
)
from rota.core.alerts.finding import (
    ALERT_NAMESPACE,
    PLATFORM_TENANT_ID,
    AlertPolicy,
    AlertSubject,
    ExpectationRef,
    Finding,
    Severity,
    SubjectKind,
    Verdict,
)
from rota.core.alerts.grouping import ITEMS_MAX
from rota.core.alerts.lifecycle import SEVERITIES
from rota.core.alerts.pacing import (
    GIVE_UP_AFTER,
    ChannelPace,
    compute_retry_delay,
    find_next_turn,
    is_digest_due,
    take_message,
)
from rota.core.clock import ClockSource
from rota.core.log_events import Emit, NotificationAttempted
from rota.engine.alerting.incident_keeper import apply_findings
from rota.engine.alerting.notification_planner import CHANNEL_EXPECTATION_ID
from rota.store import channel_health, notifications
from rota.store.channel_health import ChannelRow
from rota.store.driver import Connection, ConnectionSource
from rota.store.notifications import ClaimedNotification, FoldedNotification, WaitingNotification
from rota.store.transaction import transaction

SEND_INTERVAL_S: Final = 1.0
# Longest rest while messages wait for their turn.
TURN_INTERVAL_MAX_S: Final = 5.0
CLAIM_BATCH_MAX: Final = 20
LEASE: Final = timedelta(seconds=30)
EXTEND_INTERVAL_S: Final = 10.0
GIVE_UP_BATCH_MAX: Final = 500
GIVE_UP_INTERVAL_S: Final = 60.0
ERROR_LENGTH_MAX: Final = 500
MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedMessage:
    """A claimed message, and when the pace of its channel counted it."""

    notification: ClaimedNotification
    counted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult:
    messages: Sequence[ClaimedMessage] = ()
    rest_s: float = SEND_INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationSender:
    """Sends the messages of one channel. `public_url` is the address of the dashboard, without
    which messages have no links.
    """

    name: str
    channel: AlertChannel
    source: ConnectionSource
    clock: ClockSource
    public_url: str | None = None
    emit: Emit = lambda _event: None

    async def tick(self) -> float:
        """Claim, send and record one batch; return how long to rest."""
        async with self.source.acquire() as conn:
            claimed = await claim_messages(conn, self.name, now=self.clock.now())
        if claimed.messages:
            await asyncio.gather(*(self._deliver(message) for message in claimed.messages))
        return claimed.rest_s

    async def _deliver(self, claimed: ClaimedMessage) -> None:
        message = build_message(
            claimed.notification, now=self.clock.now(), public_url=self.public_url
        )
        result = await self._send(claimed.notification, message)
        async with self.source.acquire() as conn, transaction(conn):
            await record_result(conn, claimed, result, now=self.clock.now())
        outcome = "sent" if result.is_sent else "failed"
        self.emit(NotificationAttempted(channel=self.name, outcome=outcome, reason=result.error))

    async def _send(self, claimed: ClaimedNotification, message: AlertMessage) -> ChannelResult:
        """Send a message and keep its lease meanwhile."""
        sending = asyncio.ensure_future(self.channel.send(message))
        try:
            while not sending.done():
                await asyncio.wait({sending}, timeout=EXTEND_INTERVAL_S)
                if not sending.done():
                    async with self.source.acquire() as conn:
                        await notifications.extend_lease(
                            conn, claimed, now=self.clock.now(), lease=LEASE
                        )
        finally:
            sending.cancel()
        try:
            return sending.result()
        except Exception as error:  # noqa: BLE001 — a channel must not end its scheduler
            return ChannelResult(error=str(error) or type(error).__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationExpirer:
    """Gives up messages that no process could send within a day."""

    source: ConnectionSource
    clock: ClockSource

    async def tick(self) -> float:
        now = self.clock.now()
        async with self.source.acquire() as conn:
            failed = await notifications.fail_old(
                conn, before=now - GIVE_UP_AFTER, now=now, limit=GIVE_UP_BATCH_MAX
            )
        return 0.0 if len(failed) >= GIVE_UP_BATCH_MAX else GIVE_UP_INTERVAL_S


async def claim_messages(conn: Connection, name: str, *, now: datetime) -> ClaimResult:
    """Claim what a channel may get now; fold what it may not into a digest."""
    async with transaction(conn):
        channel = await channel_health.lock_channel(conn, name)
        if channel is None:
            return ClaimResult()
        waiting = await notifications.read_waiting(conn, name, now=now, limit=CLAIM_BATCH_MAX)
        if not waiting:
            return ClaimResult()
        pace, counted = choose_messages(channel, waiting, now=now)
        claimed = await notifications.claim_notifications(conn, list(counted), now=now, lease=LEASE)
        left = waiting[0].waiting - len(counted)
        is_batch_full = len(counted) >= CLAIM_BATCH_MAX
        if channel.failing_since is None and is_digest_due(pace, waiting=left, now=now):
            digest = await _write_digest(conn, channel, pace, now=now)
            if digest is not None:
                pace = replace(pace, digest_at=now)
                counted[digest] = now
                claimed += await notifications.claim_notifications(
                    conn, [digest], now=now, lease=LEASE
                )
        if claimed:
            await channel_health.write_pace(conn, name, pace)
        allowed = [row for row in claimed if is_tenant_allowed(channel, row)]
        for row in claimed:
            if row not in allowed:
                reason = f"the channel does not allow tenant {row.tenant}; add it to `tenants`"
                await notifications.record_failure(conn, row, error=reason, next_at=None)
    messages = [ClaimedMessage(notification=row, counted_at=counted[row.id]) for row in allowed]
    rest_s = 0.0 if is_batch_full else _find_rest(pace, left, now)
    return ClaimResult(messages=messages, rest_s=rest_s)


def choose_messages(
    channel: ChannelRow, waiting: Sequence[WaitingNotification], *, now: datetime
) -> tuple[ChannelPace, dict[UUID, datetime]]:
    """Choose the messages that fit into the pace; return the pace after them, and when each was
    counted. A failing channel gets one message at a time, a test is never held back.
    """
    pace = channel.read_pace()
    counted: dict[UUID, datetime] = {}
    limit = CLAIM_BATCH_MAX if channel.failing_since is None else 1
    for number, row in enumerate(waiting[:limit]):
        # Each has its own time, so that a failure removes only itself.
        at = now + number * MICROSECOND
        if row.kind is MessageKind.TEST:
            counted[row.id] = at
        elif (taken := take_message(pace, row.severity, now=at)) is not None:
            pace = taken
            counted[row.id] = at
    return pace, counted


def is_tenant_allowed(channel: ChannelRow, row: ClaimedNotification) -> bool:
    """Return whether the channel still allows the tenant of a message. A digest may count messages
    of several tenants, all of which were allowed.
    """
    return row.kind is MessageKind.DIGEST or channel.is_for(row.tenant_id, row.tenant)


async def record_result(
    conn: Connection, claimed: ClaimedMessage, result: ChannelResult, *, now: datetime
) -> None:
    """Record the result of an attempt and what it says about the channel, in one transaction."""
    row = claimed.notification
    if result.error is None:
        was_failing = await channel_health.record_success(conn, row.channel, now=now)
        await notifications.record_sent(conn, row, now=now)
        if was_failing:
            await apply_findings(conn, [_build_finding(row.channel, None, now)], now=now)
        return
    error = result.error[:ERROR_LENGTH_MAX]
    is_failing = await channel_health.record_failure(
        conn,
        row.channel,
        error=error,
        is_final=result.final,
        claimed_at=claimed.counted_at,
        now=now,
    )
    delay = compute_retry_delay(row.attempts, result.retry_after_s)
    is_over = (
        result.final or row.kind is MessageKind.TEST or now + delay > row.created_at + GIVE_UP_AFTER
    )
    await notifications.record_failure(
        conn, row, error=error, next_at=None if is_over else now + delay
    )
    if is_failing:
        await apply_findings(conn, [_build_finding(row.channel, error, now)], now=now)


def build_message(
    claimed: ClaimedNotification, *, now: datetime, public_url: str | None
) -> AlertMessage:
    """Build the message of a claimed row."""
    content = json.loads(claimed.content)
    base = None if public_url is None else public_url.rstrip("/")
    items = [_read_item(item, base) for item in content["items"]]
    link = None if base is None else f"{base}/alerts"
    return AlertMessage(
        notification_id=claimed.id,
        dedup_key=claimed.dedup_key,
        kind=claimed.kind,
        severity=claimed.severity,
        tenant=claimed.tenant,
        title=content["title"],
        items=items,
        more=content["more"],
        link=items[0].link if len(items) == 1 else link,
        at=now,
        facts=content["facts"],
    )


async def _write_digest(
    conn: Connection, channel: ChannelRow, pace: ChannelPace, *, now: datetime
) -> UUID | None:
    """Fold waiting messages of a channel into a digest; return its id, None if none can wait."""
    digest_id = uuid5(ALERT_NAMESPACE, f"digest/{channel.name}/{now.isoformat()}")
    with_pages = len(pace.pages) >= pace.pages_per_hour and len(pace.sent) >= pace.messages_per_hour
    folded = await notifications.fold_notifications(
        conn, channel.name, digest_id=digest_id, with_pages=with_pages, now=now
    )
    if not folded:
        return None
    content, count = _build_digest(folded)
    tenant_ids = {row.tenant_id for row in folded}
    row = {
        "id": digest_id,
        "tenant_id": tenant_ids.pop() if len(tenant_ids) == 1 else PLATFORM_TENANT_ID,
        "group_id": None,
        "episode": 0,
        "channel": channel.name,
        "kind": MessageKind.DIGEST,
        "severity": max((row.severity for row in folded), key=SEVERITIES.index),
        "state": "pending",
        "dedup_key": f"rota-digest-{uuid5(ALERT_NAMESPACE, channel.name).hex}",
        "content": content,
        "incident_ids": [],
        "incident_count": count,
        "error": None,
    }
    await notifications.insert_notifications(conn, [row], now=now)
    return digest_id


def _build_digest(folded: Sequence[FoldedNotification]) -> tuple[dict[str, Any], int]:
    """Return the content of a digest, and how many incidents it counts."""
    counts: dict[UUID | None, int] = {}
    items: dict[str, dict[str, Any]] = {}
    for row in sorted(folded, key=lambda row: SEVERITIES.index(row.severity), reverse=True):
        counts[row.group_id] = max(counts.get(row.group_id, 0), row.incident_count)
        if len(items) < ITEMS_MAX:
            for item in json.loads(row.content)["items"][: ITEMS_MAX - len(items)]:
                items[item["incident_id"]] = item
    count = sum(counts.values())
    rules = f"{len(counts)} rule{'' if len(counts) == 1 else 's'}"
    content = {
        "title": f"{count} incident{'' if count == 1 else 's'} in {rules}",
        "items": list(items.values()),
        "more": max(count - len(items), 0),
        "facts": {},
    }
    return content, count


def _find_rest(pace: ChannelPace, left: int, now: datetime) -> float:
    if left <= 0:
        return SEND_INTERVAL_S
    turn = (find_next_turn(pace, now=now) - now).total_seconds()
    return min(max(turn, SEND_INTERVAL_S), TURN_INTERVAL_MAX_S)


def _read_item(item: Mapping[str, Any], base: str | None) -> AlertItem:
    incident_id = UUID(item["incident_id"])
    return AlertItem(
        incident_id=incident_id,
        title=item["title"],
        subject_kind=item["subject_kind"],
        subject_name=item["subject_name"],
        condition=item["condition"],
        severity=Severity(item["severity"]),
        opened_at=datetime.fromisoformat(item["opened_at"]),
        resolved_at=_read_time(item["resolved_at"]),
        error=item["error"],
        count=item["count"],
        last_success_at=_read_time(item["last_success_at"]),
        link=None if base is None else f"{base}/alerts/inc_{incident_id.hex}",
        labels=item["labels"],
    )


def _read_time(text: Any) -> datetime | None:
    """Read a time from the facts of a finding; None if it is not one."""
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None


def _build_finding(channel: str, error: str | None, now: datetime) -> Finding:
    """Return whether a channel accepts messages, as a finding about the installation."""
    return Finding(
        expectation=ExpectationRef(
            id=CHANNEL_EXPECTATION_ID,
            tenant_id=PLATFORM_TENANT_ID,
            name="alert channels",
            condition="channel_failing",
            policy=AlertPolicy(severity=Severity.WARNING),
        ),
        subject=AlertSubject(kind=SubjectKind.CHANNEL, id=channel, name=channel),
        verdict=Verdict.MET if error is None else Verdict.VIOLATED,
        at=now,
        title=f"Channel {channel} does not accept messages"
        if error is not None
        else f"Channel {channel} accepts messages again",
        facts={} if error is None else {"error": error},
    )
