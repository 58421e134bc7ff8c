"""A real Alertmanager opens and ends the alerts that Rota sends."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.integration.executors.http.target_server import TargetServer, target_server
from tests.support.alerting_messages import build_hostile_message, build_item, build_message
from tests.support.alertmanager import alertmanager_in, read_active_alerts

from rota.config.channels import ChannelSettings
from rota.core.alert_channels import AlertMessage, MessageKind
from rota.core.alerts.finding import Severity
from rota.processes.alert_channels import build_alert_channel
from rota.runtime.clock import SystemClock


async def send(url: str, message: AlertMessage) -> None:
    settings = ChannelSettings(url=f"alertmanager+{url}", tenants=("*",))
    channel = build_alert_channel("ops", settings, environment={}).channel
    try:
        result = await channel.send(message)
    finally:
        await channel.close()
    assert result.error is None


async def receive(server: TargetServer) -> Any:
    """The next message that Alertmanager sends."""
    while not server.requests:
        server.asked.clear()
        await asyncio.wait_for(server.asked.wait(), 30)
    return json.loads(server.requests.pop(0)["body"])


async def test_alertmanager_opens_and_ends_an_alert_of_rota(tmp_path: Path) -> None:
    opened_at = SystemClock().now() - timedelta(minutes=10)
    message = build_message(build_item(opened_at=opened_at), at=SystemClock().now())
    rest = build_item(
        incident_id=UUID(int=2), opened_at=opened_at, subject_name="weekly report", labels={}
    )
    async with target_server() as server:
        with alertmanager_in(tmp_path, webhook=f"{server.url}/echo") as url:
            await send(url, message)
            opened = await receive(server)
            (active,) = await asyncio.to_thread(read_active_alerts, url)

            # A second incident, which the last message only counts.
            await send(
                url,
                replace(
                    message,
                    notification_id=UUID(int=3),
                    kind=MessageKind.UPDATED,
                    items=[rest],
                    dedup_key=message.dedup_key,
                ),
            )
            second = await receive(server)
            now = SystemClock().now()
            worse = replace(message.items[0], severity=Severity.PAGE, resolved_at=now)
            await send(
                url,
                replace(
                    message,
                    notification_id=UUID(int=8),
                    kind=MessageKind.RESOLVED,
                    items=[worse],
                    more=1,
                    at=now,
                ),
            )
            ended = [await receive(server), await receive(server)]
            left = await asyncio.to_thread(read_active_alerts, url)

    assert opened["status"] == "firing"
    assert opened["commonLabels"] == active["labels"]
    assert opened["commonLabels"]["alertname"] == "RotaFailureStreak"
    assert opened["commonLabels"]["team"] == "billing"
    assert active["status"]["state"] == "active"
    assert second["commonLabels"]["subject"] == "weekly report"
    assert {each["status"] for each in ended} == {"resolved"}
    assert {each["commonLabels"]["subject"] for each in ended} == {
        "nightly report",
        "weekly report",
    }
    assert left == []


async def test_alertmanager_accepts_any_text_of_jobs(tmp_path: Path) -> None:
    message = replace(build_hostile_message(), at=SystemClock().now())
    async with target_server() as server:
        with alertmanager_in(tmp_path, webhook=f"{server.url}/echo") as url:
            await send(url, message)
            opened = await receive(server)

    assert "‹!channel›" in opened["commonLabels"]["subject"]
    assert "‹!channel›" in opened["commonAnnotations"]["error"]
