"""A process that plans, claims, sends and records messages, and ends with SIGKILL at one point.

What it sends is a line in a file: the id of the message.
"""

import asyncio
import json
import os
import signal
import sys
from datetime import datetime
from pathlib import Path

import asyncpg

from rota.core.alert_channels import ChannelResult
from rota.engine.alerting.notification_planner import plan_due_groups
from rota.engine.alerting.notification_sender import claim_messages, record_result

POINTS = ("planning", "planned", "claiming", "claimed", "sent", "recording", "recorded")
# At these points the message is out and the database does not know it.
UNRECORDED = ("sent", "recording")


async def send(url: str, now: datetime, out: Path, dies: str) -> None:
    def die_at(point: str) -> None:
        if dies == point:
            os.kill(os.getpid(), signal.SIGKILL)

    conn = await asyncpg.connect(url)
    async with conn.transaction():
        await plan_due_groups(conn, now=now)
        die_at("planning")
    die_at("planned")
    async with conn.transaction():
        claimed = await claim_messages(conn, "chat", now=now)
        die_at("claiming")
    die_at("claimed")
    for message in claimed.messages:
        with out.open("a") as file:
            file.write(f"{message.notification.id}\n")
        die_at("sent")
        async with conn.transaction():
            await record_result(conn, message, ChannelResult(), now=now)
            die_at("recording")
    die_at("recorded")


if __name__ == "__main__":
    wish = json.loads(sys.argv[1])
    asyncio.run(
        send(wish["url"], datetime.fromisoformat(wish["now"]), Path(wish["out"]), wish["dies"])
    )
