"""Receives the messages of an alert channel over HTTP and keeps when each arrived."""

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from aiohttp import web

from rota.core.clock import ClockSource

CHANNEL: Final = "bench"
# A channel of its own, whose limits no earlier message has used up.
STORM_CHANNEL: Final = "storm"
# Signs nothing of value: the receiver does not verify.
SECRET: Final = f"whsec_{b64encode(bytes(24)).decode()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedMessage:
    """A message: `type` is such as `alert.opened`, `incident_ids` are those that it names."""

    channel: str
    notification_id: str
    type: str
    incident_ids: tuple[UUID, ...]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertReceiver:
    """The messages so far, and the port that accepts them."""

    port: int
    messages: list[ReceivedMessage] = field(default_factory=list)

    def write_settings(self, folder: Path) -> None:
        """Write a rota.toml with channels that lead here. Pages are not limited, other messages
        have the default limits.
        """
        channels = (
            f"[channels.{name}]\n"
            f'url = "webhook+http://127.0.0.1:{self.port}/{name}"\n'
            f'secrets = ["{SECRET}"]\n'
            'tenants = ["*"]\n'
            "pages_per_hour = 3600\n"
            for name in (CHANNEL, STORM_CHANNEL)
        )
        (folder / "rota.toml").write_text("\n".join(channels), "utf-8")

    def find_arrivals(self) -> dict[UUID, datetime]:
        """Return when the first message that names each incident arrived."""
        arrivals: dict[UUID, datetime] = {}
        for message in self.messages:
            for incident_id in message.incident_ids:
                arrivals.setdefault(incident_id, message.at)
        return arrivals


@asynccontextmanager
async def open_alert_receiver(clock: ClockSource) -> AsyncIterator[AlertReceiver]:
    """Serve on a free port of this machine for the duration of the block."""
    messages: list[ReceivedMessage] = []

    async def receive(request: web.Request) -> web.Response:
        at = clock.now()
        document = await request.json()
        messages.append(
            ReceivedMessage(
                channel=request.match_info["channel"],
                notification_id=request.headers["webhook-id"],
                type=document["type"],
                incident_ids=tuple(
                    UUID(item["incident_id"]) for item in document["data"]["incidents"]
                ),
                at=at,
            )
        )
        return web.Response()

    app = web.Application()
    app.router.add_post("/{channel}", receive)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        yield AlertReceiver(port=port, messages=messages)
    finally:
        await runner.cleanup()
