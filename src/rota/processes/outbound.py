"""Builds the services that tell people and other systems what happened.

The event relay, alerts, webhooks, the outgoing heartbeat and sinks. Schedulers run them, so that
"no worker for a queue" can be reported too.
"""

import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final
from uuid import UUID

from rota.config.settings import Settings
from rota.core.outgoing_events import RelayConsumer
from rota.engine.alerting.channel_reporter import ChannelReporter
from rota.engine.relay.relay import Relay, ReleasingRelayDuty
from rota.engine.webhooks.subscriber import WebhookSubscriber
from rota.processes.alert_channels import open_alert_channels
from rota.processes.evaluation import build_evaluation
from rota.processes.heartbeat import build_heartbeat_duties, build_ping_duty
from rota.processes.incidents import build_incident_duties
from rota.processes.sinks import build_sink_duties
from rota.processes.webhooks import open_webhooks
from rota.runtime.service import Duty, Pulse, Service, ServiceContext, Tier
from rota.store.driver import Connection, ConnectionSource
from rota.store.pool import DatabaseAccess, open_pool

STOP_GRACE: Final = timedelta(seconds=5)
# Connections of the outbound services of one process.
OUTBOUND_CONNECTIONS: Final = 4
# A pass of the relay, with all consumers, ends long before this.
RELAY_PASS_MAX: Final = timedelta(minutes=2)


@asynccontextmanager
async def open_outbound(
    settings: Settings,
    access: DatabaseAccess,
    context: ServiceContext,
    *,
    api_url: str | None = None,
) -> AsyncIterator[list[Tier]]:
    """Yield the tiers of the outbound services. `api_url` is the API of the same process."""
    async with (
        open_pool(access, size=OUTBOUND_CONNECTIONS) as pool,
        open_alert_channels(settings) as channels,
        open_webhooks(settings, pool, context) as webhook_duties,
    ):
        # Each consumer gets the events of the relay in its transaction.
        evaluation = build_evaluation(settings.alerts, pool, context)
        public_url = settings.alerts.public_url or api_url
        subscriber = WebhookSubscriber(public_url=public_url)
        consumers: list[RelayConsumer[Connection]] = [evaluation.consumer, subscriber]
        duties: list[Service] = [build_relay_duty(pool, consumers, context), *webhook_duties]
        if channels:
            reporter = ChannelReporter(
                reports=[each.report for each in channels.values()],
                connections=pool,
                clock=context.database_clock,
            )
            duties.append(Duty("reporting channels", reporter.tick, Pulse(), context))
        duties += build_incident_duties(
            pool,
            channels,
            context,
            keep=settings.retention.runs,
            public_url=public_url,
        )
        duties += evaluation.duties
        duties += build_heartbeat_duties(settings.heartbeat, pool, context)
        duties.append(build_ping_duty(pool, context))
        duties += build_sink_duties(settings, pool, context)
        yield [Tier(duties, grace=STOP_GRACE)]


def build_relay_duty(
    source: ConnectionSource,
    consumers: Sequence[RelayConsumer[Connection]],
    context: ServiceContext,
) -> ReleasingRelayDuty:
    """Build the service that reads events for all consumers."""
    relay = Relay(
        source=source,
        consumers=consumers,
        clock=context.database_clock,
        emit=context.emit,
        owner=UUID(bytes=context.rng.randbytes(16), version=4),
        holder=f"{socket.gethostname()}:{os.getpid()}",
    )
    duty = Duty("relaying events", relay.tick, Pulse(), context, limit=RELAY_PASS_MAX)
    return ReleasingRelayDuty(duty=duty, relay=relay)
