"""Processes report their channels, and warn of the older table of settings."""

from random import Random

import pytest
from tests.support.shop import CLOCK

from rota.config.channels import ChannelSettings
from rota.config.executors import ExecutorSettings, NotifyChannelSettings
from rota.config.settings import Settings
from rota.core.log_events import SettingDeprecated, TenantsUnknown
from rota.engine.alerting.channel_reporter import ChannelReporter
from rota.processes.alert_channels import open_alert_channels
from rota.processes.worker_session import register_worker
from rota.runtime.service import ServiceContext
from rota.runtime.watchdog import Watchdog
from rota.store.driver import Connection
from rota.store.pool import DatabaseAccess, open_pool

# apprise imports a module of the standard library that a later Python removes.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
SECRET_URL = "mailto://rota:hunter2@example.org"


async def test_a_process_reports_its_channels_without_their_addresses(
    database: str, conn: Connection
) -> None:
    settings = Settings(
        channels={"ops": ChannelSettings(url=SECRET_URL, tenants=("acme",), default=True)}
    )
    async with (
        open_alert_channels(settings, {}) as channels,
        open_pool(DatabaseAccess(url=database), size=1) as pool,
    ):
        reporter = ChannelReporter(
            reports=[each.report for each in channels.values()], connections=pool, clock=CLOCK
        )
        rest = await reporter.tick()
        await reporter.tick()

    (row,) = await conn.fetch("select name, kind, tenants, is_default from rota.alert_channels")
    assert tuple(row) == ("ops", "email", ["acme"], True)
    assert "hunter2" not in await conn.fetchval("select c::text from rota.alert_channels as c")
    assert rest == 30


async def test_a_worker_warns_of_the_older_table_and_of_tenants_that_do_not_exist(
    database: str,
) -> None:
    settings = Settings(
        executors=ExecutorSettings(channels={"old": NotifyChannelSettings(url=SECRET_URL)}),
        channels={"new": ChannelSettings(url=SECRET_URL, tenants=("nowhere",))},
    )
    events: list[object] = []
    with Watchdog() as watchdog:
        context = ServiceContext(clock=CLOCK, emit=events.append, rng=Random(7), watchdog=watchdog)
        await register_worker(settings, DatabaseAccess(url=database), context, ())

    (warning,) = [event for event in events if isinstance(event, SettingDeprecated)]
    assert warning.setting == "executors.channels"
    assert "move each table to [channels.NAME]" in warning.remedy
    assert TenantsUnknown(tenants=("nowhere",)) in events
