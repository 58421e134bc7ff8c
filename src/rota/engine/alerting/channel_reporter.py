"""Reports the channels of a process while it runs, so that any process can plan messages for them.

The names are also what the API accepts in routes and alerts, and what `GET /v1/channels` lists.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rota.core.clock import ClockSource
from rota.store.alert_channels import ChannelReport, forget_channels, report_channels
from rota.store.driver import ConnectionSource

# Twice as often as an unchanged report is written.
REPORT_PASS_INTERVAL_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelReporter:
    """Stores the channels of this process, and deletes those that no process has any more."""

    reports: Sequence[ChannelReport]
    connections: ConnectionSource
    clock: ClockSource

    async def tick(self) -> float:
        async with self.connections.acquire() as conn:
            await report_channels(conn, self.reports, now=self.clock.now())
            await forget_channels(conn, now=self.clock.now())
        return REPORT_PASS_INTERVAL_S
