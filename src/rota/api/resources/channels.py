"""Operations for alert channels: which ones exist, whether they work, and a test message."""

from datetime import datetime, timedelta
from typing import Final

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.resources.endpoint_steps import write_audit_entry
from rota.api.resources.incidents import build_notification_view
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.incidents import ChannelList, ChannelView, NotificationView
from rota.core.access import Permission
from rota.core.alert_channels import MessageKind
from rota.core.alerts.finding import Severity
from rota.core.errors import NotFound
from rota.store import channel_health, notifications
from rota.store.channel_health import ChannelRow

# Without a report for this long, the health of a channel is unknown.
REPORT_AGE_MAX: Final = timedelta(minutes=5)


def build_channel_view(row: ChannelRow, now: datetime) -> ChannelView:
    is_known = now - row.reported_at <= REPORT_AGE_MAX
    is_failing = row.failing_since is not None
    return ChannelView(
        name=row.name,
        kind=row.kind,
        is_default=row.is_default,
        health="failing" if is_failing else "ok" if is_known else "unknown",
        recovery=row.recovery,
        minimum_severity=row.minimum_severity.value,
        last_sent_at=format_optional_time(row.last_sent_at),
        failing_since=format_optional_time(row.failing_since),
        last_error=row.last_error,
        reported_at=format_time(row.reported_at),
    )


@operation("GET", "/v1/channels", tag="incidents", permission=Permission.READ, answer=ChannelList)
async def list_channels(call: Call) -> Reply:
    """List the alert channels that the tenant may use, without their addresses."""
    rows = await channel_health.list_channels(call.conn)
    return Reply(ChannelList(data=[build_channel_view(row, call.now) for row in rows]))


@operation(
    "POST",
    "/v1/channels/{name}/test",
    tag="incidents",
    permission=Permission.OPERATE,
    answer=NotificationView,
    status=202,
)
async def send_test_message(call: Call) -> Reply:
    """Send a test message to a channel.

    A scheduler that has the channel sends it within seconds. Get the notification for the result.
    """
    name = call.params["name"]
    if name not in {row.name for row in await channel_health.list_channels(call.conn)}:
        raise NotFound("channel", name)
    notification_id = call.service.new_id()
    row = {
        "id": notification_id,
        "tenant_id": call.tenant_id,
        "group_id": None,
        "episode": 0,
        "channel": name,
        "kind": MessageKind.TEST,
        "severity": Severity.INFO,
        "state": "pending",
        "dedup_key": f"rota-test-{notification_id.hex}",
        "content": {
            "title": f"Test message, requested by {call.actor}",
            "items": [],
            "more": 0,
            "facts": {},
        },
        "incident_ids": [],
        "incident_count": 0,
        "error": None,
    }
    await notifications.insert_notifications(call.conn, [row], now=call.now)
    await write_audit_entry(call, "channel.test", "channel", name)
    planned = await notifications.get_notification(
        call.conn, notification_id, tenant_id=call.tenant_id
    )
    if planned is None:
        raise NotFound("notification", notification_id)
    return Reply(build_notification_view(planned))
