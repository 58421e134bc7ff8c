"""Tenants: made, changed, paused, deleted when empty; quotas on running become a gate (T1)."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest
from tests.support.world import World

from rota.core import api_keys
from rota.core.access import Role
from rota.core.errors import Conflict, InvalidInput, NotFound
from rota.core.limits import GateLimits, RateLimit
from rota.core.quotas import Quotas
from rota.store import calendars, gates, keys, tenants
from rota.store.gates import GateEntry
from rota.store.keys import NewKey

QUOTAS = Quotas(max_jobs=5, max_running=3, runs_per_s=2, min_period=timedelta(seconds=10))


async def limits_of(world: World, tenant_id: int) -> GateLimits | None:
    gate = await world.conn.fetchval("select gate_id from rota.tenants where id = $1", tenant_id)
    if gate is None:
        return None
    entered = await gates.enter_gates(world.conn, GateEntry(gates=frozenset({gate})))
    return entered.standings[gate].limits


async def test_a_tenant_is_read_back_as_it_was_made(world: World) -> None:
    made = await tenants.create_tenant(world.conn, name="acme", weight=7, quotas=QUOTAS)

    assert await tenants.get_tenant(world.conn, made.id) == made
    assert (made.name, made.weight, made.quotas, made.paused_at) == ("acme", 7, QUOTAS, None)
    assert made.created_at == world.now


async def test_quotas_on_running_are_the_gate_of_the_tenant(world: World) -> None:
    made = await tenants.create_tenant(world.conn, name="acme", quotas=QUOTAS)
    rate = RateLimit(count=2, per=timedelta(seconds=1), burst=2)

    first = await limits_of(world, made.id)
    await tenants.update_tenant(world.conn, made.id, quotas=Quotas(max_running=9))
    second = await limits_of(world, made.id)
    await tenants.update_tenant(world.conn, made.id, weight=2)
    third = await limits_of(world, made.id)
    await tenants.update_tenant(world.conn, made.id, quotas=Quotas(max_jobs=1))

    assert first == GateLimits(max_running=3, rate=rate)
    assert second == third == GateLimits(max_running=9)
    assert await limits_of(world, made.id) is None


async def test_an_update_changes_only_what_is_given(world: World) -> None:
    made = await tenants.create_tenant(world.conn, name="acme", weight=7, quotas=QUOTAS)

    heavier = await tenants.update_tenant(world.conn, made.id, weight=8)
    freer = await tenants.update_tenant(world.conn, made.id, quotas=Quotas())

    assert (heavier.weight, heavier.quotas) == (8, QUOTAS)
    assert (freer.weight, freer.quotas) == (8, Quotas())


@pytest.mark.parametrize("weight", [0, -1, 1001])
async def test_a_weight_out_of_range_is_refused(world: World, weight: int) -> None:
    with pytest.raises(InvalidInput, match="1 to 1000"):
        await tenants.update_tenant(world.conn, 1, weight=weight)
    with pytest.raises(InvalidInput, match="1 to 1000"):
        await tenants.create_tenant(world.conn, name="acme", weight=weight)


@pytest.mark.parametrize("name", ["", "  ", "a\tb", "x" * 201, "default"])
async def test_a_name_that_is_bad_or_taken_is_refused(world: World, name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await tenants.create_tenant(world.conn, name=name)

    assert caught.value.field == "name"


async def test_pausing_keeps_the_first_time_and_resuming_forgets_it(world: World) -> None:
    first = await tenants.pause_tenant(world.conn, 1)
    await world.advance(minutes=1)
    second = await tenants.pause_tenant(world.conn, 1)

    assert first.paused_at == second.paused_at is not None
    assert (await tenants.resume_tenant(world.conn, 1)).paused_at is None


async def test_a_list_comes_in_pages(world: World) -> None:
    for number in range(4):
        await tenants.create_tenant(world.conn, name=f"t{number}")

    first = await tenants.list_tenants(world.conn, limit=3)
    second = await tenants.list_tenants(world.conn, after=first[-1].id, limit=3)

    assert [each.name for each in [*first, *second]] == ["default", "t0", "t1", "t2", "t3"]


async def test_a_tenant_that_does_not_exist_is_not_found(world: World) -> None:
    for asking in (
        tenants.get_tenant(world.conn, 99),
        tenants.update_tenant(world.conn, 99, weight=2),
        tenants.pause_tenant(world.conn, 99),
        tenants.delete_tenant(world.conn, 99),
    ):
        with pytest.raises(NotFound):
            await asking


async def test_an_empty_tenant_goes_with_its_keys_and_calendars(world: World) -> None:
    made = await tenants.create_tenant(world.conn, name="acme", quotas=QUOTAS)
    new = NewKey(
        id=world.new_id(),
        tenant_id=made.id,
        name="key",
        role=Role.ADMIN,
        key=api_keys.create_key(bytes(32)),
    )
    await keys.create_key(world.conn, new)
    plain = {"name": "holidays", "yearly": ["12-25"]}
    await calendars.create_calendar(world.conn, tenant_id=made.id, plain=plain)

    await tenants.delete_tenant(world.conn, made.id)

    assert await keys.find_principal(world.conn, digest=new.key.digest) is None
    assert await world.count("calendars") == 0
    with pytest.raises(NotFound):
        await tenants.get_tenant(world.conn, made.id)


async def test_a_tenant_with_jobs_or_runs_or_the_platforms_key_stays(world: World) -> None:
    with_job = await tenants.create_tenant(world.conn, name="with job")
    job = await world.job(tenant_id=with_job.id)
    with_run = await tenants.create_tenant(world.conn, name="with run")
    await world.run(tenant_id=with_run.id)
    await keys.ensure_admin_key(world.conn, key_id=world.new_id(), bits=bytes(32))

    for tenant_id, reason in ((with_job.id, "jobs"), (with_run.id, "runs"), (1, "platform")):
        with pytest.raises(Conflict, match=reason):
            await tenants.delete_tenant(world.conn, tenant_id)
    await world.conn.execute("update rota.jobs set state = 'deleted' where id = $1", job)
    await tenants.delete_tenant(world.conn, with_job.id)

    assert [each.id for each in await tenants.list_tenants(world.conn)] == [1, with_run.id]


async def test_a_key_that_is_made_while_its_tenant_is_deleted_does_not_survive_it(
    world: World, database: str
) -> None:
    made = await tenants.create_tenant(world.conn, name="acme")
    other = await asyncpg.connect(database)
    new = NewKey(
        id=world.new_id(),
        tenant_id=made.id,
        name="key",
        role=Role.ADMIN,
        key=api_keys.create_key(bytes(32)),
    )

    await asyncio.gather(
        tenants.delete_tenant(world.conn, made.id),
        keys.create_key(other, new),
        return_exceptions=True,
    )

    assert await keys.find_principal(world.conn, digest=new.key.digest) is None
    await other.close()
