"""Stores the pace and the health of alert channels (alert_channels.py stores what they are)."""

from datetime import datetime
from typing import NamedTuple

from rota.core.alerts.finding import PLATFORM_TENANT_ID, Severity
from rota.core.alerts.pacing import FAILURES_MAX, ChannelPace
from rota.store.driver import Connection
from rota.store.statement import statement


class ChannelRow(NamedTuple):
    """A channel that a process reported. `failing_since` is None while it accepts messages."""

    name: str
    kind: str
    tenants: list[str]
    is_default: bool
    recovery: bool
    minimum_severity: Severity
    messages_per_hour: int
    pages_per_hour: int
    sent_times: list[datetime]
    page_times: list[datetime]
    digest_at: datetime | None
    last_sent_at: datetime | None
    failing_since: datetime | None
    failures: int
    last_error: str | None
    reported_at: datetime

    def is_for(self, tenant_id: int, tenant: str) -> bool:
        """Return whether a tenant may use the channel. The installation uses those of all."""
        return "*" in self.tenants or (tenant_id != PLATFORM_TENANT_ID and tenant in self.tenants)

    def read_pace(self) -> ChannelPace:
        return ChannelPace(
            sent=tuple(self.sent_times),
            pages=tuple(self.page_times),
            digest_at=self.digest_at,
            messages_per_hour=self.messages_per_hour,
            pages_per_hour=self.pages_per_hour,
        )


class ChannelName(NamedTuple):
    name: str


class ChannelFailures(NamedTuple):
    name: str
    failures: int
    failing_since: datetime | None


LOCK = statement("alert_channels/lock", ChannelRow)
LIST = statement("alert_channels/list", ChannelRow)
WRITE_PACE = statement("alert_channels/write_pace", ChannelName)
RECORD_SUCCESS = statement("alert_channels/record_success", ChannelFailures)
RECORD_FAILURE = statement("alert_channels/record_failure", ChannelFailures)


async def lock_channel(conn: Connection, name: str) -> ChannelRow | None:
    """Return a channel, locked; None if another process has it locked or none reported it."""
    return await LOCK.one(conn, name=name)


async def list_channels(conn: Connection) -> list[ChannelRow]:
    """Return the channels by name; within a tenant's scope, those that it may use."""
    return await LIST.all(conn)


async def write_pace(conn: Connection, name: str, pace: ChannelPace) -> None:
    """Record what a locked channel got."""
    await WRITE_PACE.one(
        conn,
        name=name,
        sent_times=list(pace.sent),
        page_times=list(pace.pages),
        digest_at=pace.digest_at,
    )


async def record_success(conn: Connection, name: str, *, now: datetime) -> bool:
    """Record that a channel accepted a message; return whether it had been failing."""
    row = await RECORD_SUCCESS.one(conn, name=name, now=now)
    return row is not None and row.failing_since is not None


async def record_failure(
    conn: Connection,
    name: str,
    *,
    error: str,
    is_final: bool,
    claimed_at: datetime,
    now: datetime,
) -> bool:
    """Record that a channel refused a message; return whether it counts as failing now."""
    row = await RECORD_FAILURE.one(
        conn,
        name=name,
        error=error,
        is_final=is_final,
        failures_max=FAILURES_MAX,
        claimed_at=claimed_at,
        now=now,
    )
    return row is not None and row.failing_since is not None
