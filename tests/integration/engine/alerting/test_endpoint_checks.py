"""A webhook endpoint that fails for an hour, or that Rota disables, is an incident."""

from datetime import timedelta

import pytest
from tests.integration.engine.alerting.test_state_checks import own_shards, pass_minutes
from tests.support.watching import Incident, WatchDesk
from tests.support.webhooks import create_endpoint
from tests.support.world import World

from rota.core.webhook_deliveries import DisabledReason, EndpointHealth
from rota.store import webhooks


@pytest.fixture
async def desk(world: World) -> WatchDesk:
    desk = await WatchDesk(world).begin()
    await own_shards(desk)
    return desk


async def test_an_endpoint_that_fails_for_an_hour_is_an_incident_until_it_recovers(
    desk: WatchDesk,
) -> None:
    world = desk.world
    endpoint = await create_endpoint(world, name="billing")
    health = EndpointHealth(failures=5, failing_since=world.now)
    await webhooks.record_health(world.conn, endpoint.id, health, error="answered 503")
    await pass_minutes(desk, 59)
    assert await desk.incidents() == []

    await pass_minutes(desk, 2)
    assert await desk.incidents() == [Incident("endpoint_failing", "billing", "open", 1)]
    assert await desk.titles() == ["webhook endpoint billing fails: answered 503"]

    await webhooks.record_health(world.conn, endpoint.id, EndpointHealth(), error=None)
    await pass_minutes(desk, 1)
    assert await desk.open_conditions() == []


async def test_an_endpoint_that_rota_disabled_is_an_incident_until_it_is_enabled(
    desk: WatchDesk,
) -> None:
    world = desk.world
    gone = await create_endpoint(world, name="gone")
    await create_endpoint(world, name="paused")
    health = EndpointHealth(
        failures=1,
        failing_since=world.now - timedelta(minutes=1),
        disabled_reason=DisabledReason.GONE,
    )
    await webhooks.record_health(world.conn, gone.id, health, error="answered 410")
    paused = await webhooks.list_endpoints(world.conn, tenant_id=1, after="gone")
    await webhooks.disable_endpoint(world.conn, paused[0].id, tenant_id=1)

    await pass_minutes(desk, 120)
    assert await desk.incidents() == [Incident("endpoint_disabled", "gone", "open", 1)]

    await webhooks.enable_endpoint(world.conn, gone.id, tenant_id=1)
    await pass_minutes(desk, 1)
    assert await desk.open_conditions() == []
