"""What `rota bench watched` writes, reads and receives (O8)."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from tests.support.alerting import AlertDesk, violated
from tests.support.alerting_messages import build_item, build_message
from tests.support.watching import WatchDesk
from tests.support.world import NOON, World

from rota.config.loader import load_settings
from rota.core.states import RunState
from rota.processes.alert_channels import build_alert_channels
from rota.runtime.clock import SystemClock
from rota.store import live_runs
from rota.store.live_runs import RunEnding
from rota_bench import database
from rota_bench.alert_receiver import CHANNEL, open_alert_receiver
from rota_bench.database import AlertCause

EXPECT = '{"start_within": "PT5S", "failures": {"streak": 2}}'


async def test_all_jobs_of_a_kind_get_expectations_and_lose_them(world: World) -> None:
    desk = WatchDesk(world)
    schedule = '{"every": {"interval": "PT1H", "anchor": "2026-01-01T00:00:00Z"}}'
    for _ in range(3):
        await world.job(schedule=schedule)

    changed = await database.set_expectations(
        world.conn, kind_id=world.kind_id, expect=EXPECT, alert=None
    )
    await desk.sync()
    watched = await database.count_watches(world.conn)
    await world.advance(seconds=1)
    await database.set_expectations(world.conn, kind_id=world.kind_id, expect=None, alert=None)
    await desk.sync()

    assert (changed, watched, await database.count_watches(world.conn)) == (3, 3, 0)


async def test_the_cause_of_an_alert_is_the_end_of_its_run(world: World) -> None:
    desk = AlertDesk(world)
    session = await world.session()
    run_id = await world.run(scheduled_at=NOON)
    is_unfinished = await database.has_unfinished_runs(
        world.conn, kind_id=world.kind_id, before=NOON
    )
    (taken,) = await world.claim(session)
    ending = RunEnding(taken.id, taken.attempt, RunState.DEAD)
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])
    await desk.find(replace(violated(world), run_id=run_id))

    (cause,) = await database.read_alert_causes(world.conn, kind_id=world.kind_id, since=NOON)

    (incident,) = await desk.read_incidents()
    assert cause == AlertCause(incident["id"], world.now)
    assert is_unfinished
    assert not await database.has_unfinished_runs(world.conn, kind_id=world.kind_id, before=NOON)
    later = NOON + timedelta(hours=1)
    assert await database.count_incidents(world.conn, since=NOON) == 1
    assert await database.count_incidents(world.conn, since=later) == 0


async def test_the_receiver_keeps_when_a_message_named_an_incident_first(tmp_path: Path) -> None:
    item = build_item()
    async with open_alert_receiver(SystemClock()) as receiver:
        receiver.write_settings(tmp_path)
        settings = load_settings(file=tmp_path / "rota.toml", environment={})
        channel = build_alert_channels(settings, {})[CHANNEL].channel
        for _ in range(2):
            assert (await channel.send(build_message(item))).is_sent
        await channel.close()

    first, second = receiver.messages
    assert first.type == "alert.opened"
    assert first.notification_id == second.notification_id
    assert receiver.find_arrivals() == {item.incident_id: first.at}
