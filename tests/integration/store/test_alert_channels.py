"""Channels that processes report: written once, kept while they are reported, then forgotten."""

from dataclasses import replace
from datetime import timedelta

from tests.support.world import NOON, World

from rota.core.alerts.finding import Severity
from rota.store.alert_channels import ChannelReport, forget_channels, report_channels

OPS = ChannelReport(name="ops", kind="email", tenants=("acme", "globex"), is_default=True)
PAGER = ChannelReport(
    name="pager",
    kind="pagerduty",
    tenants=("*",),
    minimum_severity=Severity.PAGE,
    messages_per_hour=3,
    pages_per_hour=9,
)


async def stored(world: World) -> list[tuple[object, ...]]:
    rows = await world.conn.fetch(
        "select name, kind, tenants, is_default, recovery, minimum_severity, messages_per_hour,"
        " pages_per_hour from rota.alert_channels order by name"
    )
    return [tuple(row) for row in rows]


async def test_a_report_is_stored_and_an_equal_one_is_not_written_again(world: World) -> None:
    first = await report_channels(world.conn, [OPS, PAGER], now=NOON)
    again = await report_channels(world.conn, [OPS, PAGER], now=NOON + timedelta(seconds=30))

    assert first == ["ops", "pager"]
    assert again == []
    assert await stored(world) == [
        ("ops", "email", ["acme", "globex"], True, True, "info", 30, 10),
        ("pager", "pagerduty", ["*"], False, True, "page", 3, 9),
    ]


async def test_a_changed_or_old_report_is_written_and_keeps_the_health(world: World) -> None:
    await report_channels(world.conn, [OPS, PAGER], now=NOON)
    await world.conn.execute("update rota.alert_channels set failures = 4")

    changed = replace(OPS, tenants=("acme",))
    soon = await report_channels(world.conn, [changed, PAGER], now=NOON + timedelta(seconds=1))
    later = await report_channels(world.conn, [changed, PAGER], now=NOON + timedelta(minutes=2))

    assert soon == ["ops"]
    assert later == ["ops", "pager"]
    assert await world.conn.fetchval("select sum(failures) from rota.alert_channels") == 8


async def test_a_process_without_channels_reports_nothing(world: World) -> None:
    assert await report_channels(world.conn, [], now=NOON) == []


async def test_a_channel_that_no_process_reports_is_forgotten_after_a_week(world: World) -> None:
    await report_channels(world.conn, [OPS, PAGER], now=NOON)
    await report_channels(world.conn, [PAGER], now=NOON + timedelta(days=2))

    assert await forget_channels(world.conn, now=NOON + timedelta(days=6)) == []
    assert await forget_channels(world.conn, now=NOON + timedelta(days=8)) == ["ops"]
