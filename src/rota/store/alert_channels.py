"""Stores which channels processes can send alerts to: names and rules, never addresses.

Every process with channels reports them while it runs, so that the API knows their names and any
process can plan messages for them.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from rota.core.alerts.finding import Severity
from rota.store.driver import Connection
from rota.store.statement import statement

# How old a report may become before the same one is written again.
REPORT_INTERVAL: Final = timedelta(minutes=1)
# How long a channel is known after its last report.
FORGET_AFTER: Final = timedelta(days=7)


class ReportedChannelName(NamedTuple):
    name: str


REPORT = statement("alert_channels/report", ReportedChannelName)
FORGET = statement("alert_channels/forget", ReportedChannelName)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelReport:
    """What a process tells about a channel. `tenants` are names, or `*` for all."""

    name: str
    kind: str
    tenants: tuple[str, ...]
    is_default: bool = False
    recovery: bool = True
    minimum_severity: Severity = Severity.INFO
    messages_per_hour: int = 30
    pages_per_hour: int = 10


async def report_channels(
    conn: Connection, channels: Sequence[ChannelReport], *, now: datetime
) -> list[str]:
    """Store the channels of a process; return the names of those that were written.

    If processes define the same name differently, the last report counts.
    """
    if not channels:
        return []
    rows = await REPORT.all(
        conn,
        channels=json.dumps([asdict(channel) for channel in channels]),
        now=now,
        fresh_after=now - REPORT_INTERVAL,
    )
    return [row.name for row in rows]


async def forget_channels(conn: Connection, *, now: datetime) -> list[str]:
    """Delete channels that no process has reported for days; return their names."""
    rows = await FORGET.all(conn, reported_before=now - FORGET_AFTER)
    return [row.name for row in rows]
