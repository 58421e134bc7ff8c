"""Plans messages: decides for each group of incidents what its channels get, and writes one row per
message and channel.

The id of a row is derived from group, episode, number and channel, and the group is locked while it
is planned: any number of processes write each message once. Silences and causes that explain other
incidents count at this time.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from rota.core.alert_channels import MessageKind
from rota.core.alerts.channel_kinds import is_recovery_required
from rota.core.alerts.finding import Severity, SubjectKind, derive_expectation_id
from rota.core.alerts.grouping import (
    ITEMS_MAX,
    GroupPlan,
    GroupSnapshot,
    GroupState,
    PlannedMessage,
    derive_dedup_key,
    derive_notification_id,
    plan_group,
)
from rota.core.alerts.lifecycle import is_at_least
from rota.core.alerts.routes import RouteStep
from rota.core.clock import ClockSource
from rota.engine.alerting.incident_keeper import refresh_inhibition
from rota.store import alert_groups, channel_health, notifications
from rota.store.alert_groups import GroupItem, GroupRow
from rota.store.channel_health import ChannelRow
from rota.store.driver import Connection, ConnectionSource
from rota.store.transaction import transaction

PLAN_INTERVAL_S: Final = 0.5
PLAN_BATCH_MAX: Final = 200
# The expectation that every channel accepts messages.
CHANNEL_EXPECTATION_ID: Final = derive_expectation_id("platform", "channel_failing")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationPlanner:
    """Plans the messages of due groups. `on_planned` wakes the senders of this process."""

    source: ConnectionSource
    clock: ClockSource
    on_planned: Callable[[], object] = lambda: None

    async def tick(self) -> float:
        """Plan one batch of groups; return how long to rest."""
        now = self.clock.now()
        async with self.source.acquire() as conn:
            if not await alert_groups.is_group_due(conn, now=now):
                return PLAN_INTERVAL_S
            async with transaction(conn):
                await refresh_inhibition(conn, now=now)
            planned = await plan_due_groups(conn, now=now)
        if planned.messages:
            self.on_planned()
        return 0.0 if planned.groups >= PLAN_BATCH_MAX else PLAN_INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageContext:
    """What decides about the channels of a group's messages."""

    group: GroupRow
    route: Sequence[RouteStep]
    snapshot: GroupSnapshot
    channels: Mapping[str, ChannelRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBatch:
    groups: int
    messages: int


async def plan_due_groups(conn: Connection, *, now: datetime) -> PlannedBatch:
    """Plan the messages of due groups in one transaction."""
    async with transaction(conn):
        groups = await alert_groups.lock_due_groups(conn, now=now, limit=PLAN_BATCH_MAX)
        if not groups:
            return PlannedBatch(groups=0, messages=0)
        ids = [group.id for group in groups]
        snapshots = await alert_groups.read_snapshots(conn, ids, now=now)
        known = {row.name: row for row in await channel_health.list_channels(conn)}
        routes = await alert_groups.read_route_steps(
            conn, {(group.tenant_id, group.route) for group in groups if group.route}
        )
        plans = {}
        routes_of: dict[UUID, tuple[RouteStep, ...]] = {}
        for group in groups:
            steps = find_steps(group, routes, known)
            snapshot = snapshots.get(group.id, GroupSnapshot())
            # The settings of each channel decide about recoveries (`_wants`).
            told = [replace(step, recovery=True) for step in steps]
            routes_of[group.id] = steps
            plans[group.id] = plan_group(group.read_state(), told, snapshot, now=now)
        telling = [group for group in groups if plans[group.id].messages]
        rows: list[dict[str, Any]] = []
        if telling:
            items = await alert_groups.read_items(
                conn, [group.id for group in telling], now=now, limit=ITEMS_MAX
            )
            for group in telling:
                snapshot = snapshots[group.id]
                content = build_content(group, items[group.id], snapshot)
                rows += _build_rows(
                    MessageContext(
                        group=group, route=routes_of[group.id], snapshot=snapshot, channels=known
                    ),
                    plans[group.id],
                    content,
                )
        await notifications.insert_notifications(conn, rows, now=now)
        announced = [group_id for group_id, plan in plans.items() if plan.announces]
        await alert_groups.announce_groups(conn, announced, now=now)
        written: dict[UUID, tuple[GroupState, datetime | None]] = {
            group_id: (plan.state, plan.next_at) for group_id, plan in plans.items()
        }
        await alert_groups.write_groups(conn, written, now=now)
    return PlannedBatch(groups=len(groups), messages=len(rows))


def find_steps(
    group: GroupRow,
    routes: Mapping[tuple[int, str], tuple[RouteStep, ...]],
    known: Mapping[str, ChannelRow],
) -> tuple[RouteStep, ...]:
    """Return the steps of a group's route. A name that is no route is that of a channel; without a
    name, the default channels of the tenant get the messages.
    """
    if group.route:
        steps = routes.get((group.tenant_id, group.route))
        return (RouteStep(channels=(group.route,)),) if steps is None else steps
    defaults = tuple(
        name
        for name, channel in known.items()
        if channel.is_default and channel.is_for(group.tenant_id, group.tenant)
    )
    return (RouteStep(channels=defaults),)


def build_content(
    group: GroupRow, items: Sequence[GroupItem], snapshot: GroupSnapshot
) -> dict[str, Any]:
    """Return the text of a message: the same for all its channels and all its attempts."""
    total = snapshot.firing + snapshot.ended
    facts = {}
    if len(items) == 1 and total == 1:
        title = items[0].title
        if items[0].resolution is not None:
            facts["ended"] = items[0].resolution
    elif snapshot.is_over:
        title = f"{group.expectation_name}: {total} incidents ended"
    else:
        ended = f", {snapshot.ended} ended" if snapshot.ended else ""
        title = f"{group.expectation_name}: {snapshot.firing} incidents{ended}"
    return {
        "title": title,
        "items": [_build_item(item) for item in items],
        "more": max(total - len(items), 0),
        "facts": facts,
    }


def _build_item(item: GroupItem) -> dict[str, Any]:
    facts = json.loads(item.facts)
    error = facts.get("error")
    return {
        "incident_id": item.id.hex,
        "title": item.title,
        "subject_kind": item.subject_kind,
        "subject_name": item.subject_name,
        "condition": item.condition,
        "severity": item.severity,
        "opened_at": item.opened_at.isoformat(),
        "resolved_at": None if item.resolved_at is None else item.resolved_at.isoformat(),
        "error": error if error is None else str(error),
        "count": item.bad_runs,
        "last_success_at": facts.get("last_success_at"),
        "labels": json.loads(item.labels),
    }


def _build_rows(
    context: MessageContext, plan: GroupPlan, content: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return one row per message and channel. A channel gets one message, even if two steps of the
    route name it.
    """
    group, snapshot = context.group, context.snapshot
    rows: dict[str, dict[str, Any]] = {}
    failing = {
        item["subject_name"]
        for item in content["items"]
        if group.expectation_id == CHANNEL_EXPECTATION_ID
        and item["subject_kind"] == SubjectKind.CHANNEL
    }
    incident_ids = [item["incident_id"] for item in content["items"]]
    # A plan that ends an episode has the number of the episode that ends.
    episode = plan.state.episode
    for message in plan.messages:
        for name in message.channels:
            channel = context.channels.get(name)
            if name in rows or name in failing or not _wants(channel, message, context):
                continue
            is_allowed = channel is None or channel.is_for(group.tenant_id, group.tenant)
            rows[name] = {
                "id": derive_notification_id(group.id, episode, message, name),
                "tenant_id": group.tenant_id,
                "group_id": group.id,
                "episode": episode,
                "channel": name,
                "kind": message.kind,
                "severity": snapshot.severity,
                "state": "pending" if is_allowed else "suppressed",
                "dedup_key": derive_dedup_key(group.id, episode),
                "content": content,
                "incident_ids": incident_ids,
                "incident_count": len(incident_ids) + content["more"],
                "error": None
                if is_allowed
                else f"the channel does not allow tenant {group.tenant}; add it to `tenants`",
            }
    return list(rows.values())


def _wants(channel: ChannelRow | None, message: PlannedMessage, context: MessageContext) -> bool:
    """Return whether a channel gets a message. Services that keep an alert open until they receive
    its end always get the end.
    """
    minimum = Severity.INFO if channel is None else channel.minimum_severity
    if not is_at_least(context.snapshot.severity, minimum):
        return False
    if message.kind is not MessageKind.RESOLVED:
        return True
    if channel is not None and is_recovery_required(channel.kind):
        return True
    is_wanted = channel is None or channel.recovery
    return is_wanted and context.group.recovery and context.route[message.step].recovery
