"""Builds the outgoing heartbeat and the checks of pings."""

import os
import socket

from rota.config.heartbeat import HeartbeatSettings
from rota.core.ids import build_id
from rota.engine.alerting.heartbeat_sender import HeartbeatSender
from rota.engine.alerting.ping_checker import PingChecker
from rota.executors.http.heartbeat_sender import send_heartbeat
from rota.runtime.service import Duty, Pulse, ServiceContext
from rota.store.driver import Pool


def build_heartbeat_duties(
    settings: HeartbeatSettings, pool: Pool, context: ServiceContext
) -> list[Duty]:
    """Build the duty that sends the heartbeat; none without a URL."""
    if settings.url is None:
        return []
    sender = HeartbeatSender(
        source=pool,
        url=settings.url,
        every=settings.every,
        send=send_heartbeat,
        owner=build_id(context.clock.now(), context.rng.randbytes(10)),
        holder=f"{socket.gethostname()}:{os.getpid()}",
        emit=context.emit,
    )
    return [Duty("sending heartbeats", sender.tick, Pulse(), context)]


def build_ping_duty(pool: Pool, context: ServiceContext) -> Duty:
    """Build the duty that checks pings."""
    return Duty("checking pings", PingChecker(source=pool).tick, Pulse(), context)
