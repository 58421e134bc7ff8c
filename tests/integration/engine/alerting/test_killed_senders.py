"""A sender is killed at any point: no message is lost, and one is sent twice only where the docs
say so, with the same key.
"""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest
from tests.support.alerting import AlertDesk, violated
from tests.support.killed_sender import POINTS, UNRECORDED
from tests.support.shop import until
from tests.support.world import World

from rota.engine.alerting.notification_sender import LEASE

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("dies", POINTS)
async def test_a_killed_sender_loses_no_message(
    world: World, database: str, tmp_path: Path, dies: str
) -> None:
    desk = AlertDesk(world)
    chat = await desk.add_channel()
    await desk.find(violated(world))
    out = tmp_path / "sent"
    out.touch()
    wish = {"url": database, "now": world.now.isoformat(), "out": str(out), "dies": dies}
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.killed_sender", json.dumps(wish), cwd=ROOT
    )
    assert await child.wait() == -signal.SIGKILL

    async def is_gone() -> bool:
        return bool(
            await world.conn.fetchval(
                "select count(*) = 1 from pg_stat_activity where datname = current_database()"
            )
        )

    await until(is_gone)
    await desk.pass_time(seconds=LEASE.total_seconds() + 10)

    sent = out.read_text().split() + [str(message.notification_id) for message in chat.messages]
    assert len(set(sent)) == 1
    assert len(sent) == (2 if dies in UNRECORDED else 1)
    row = await desk.read_row("select count(*), min(state) from rota.notifications")
    assert tuple(row) == (1, "sent")
