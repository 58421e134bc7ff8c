"""A tenant of which nobody said anything is bounded too, and pays for it only near a bound (T1)."""

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from tests.support.standing import Standing
from tests.support.world import World

from rota.contract.quotas import read_quotas
from rota.core.errors import QuotaExceeded
from rota.core.limits import GateLimits, JobLimit
from rota.core.quotas import DEFAULT_QUOTAS, Quotas
from rota.core.submissions import JobSpec
from rota.engine.maintenance.quota_monitor import QuotaMonitor
from rota.engine.submission.job_changes import JobChanges, edit_job
from rota.engine.submission.job_submission import submit_jobs
from rota.store import gates, tenants
from rota.store.gates import NewGate

HOURLY = {"cron": "0 * * * *"}
SMALL = {"max_jobs": 4, "max_queued": 4, "max_limit_keys": 4}


async def hand_in(world: World, number: int = 1, **given: Any) -> list[Any]:
    specs = [
        JobSpec(**{"name": f"job {world.new_id()}", "kind": "noop", "schedule": HOURLY} | given)
        for _ in range(number)
    ]
    return await submit_jobs(world.conn, specs, now=world.now, new_id=world.new_id)


async def measure(world: World) -> None:
    """As upkeep does, with defaults that a test can reach."""
    monitor = QuotaMonitor(source=Standing(world.conn), defaults=SMALL, interval=timedelta(0))
    await monitor.tick()


async def held_back(world: World) -> Any:
    return await world.conn.fetchval("select default_quotas::text from rota.tenants where id = 1")


@pytest.mark.parametrize(
    ("quota", "given"),
    [("max_jobs", {"schedule": HOURLY}), ("max_queued", {"schedule": {"immediate": True}})],
)
async def test_a_tenant_near_a_default_is_counted_and_one_far_from_it_is_not(
    world: World, quota: str, given: dict[str, Any]
) -> None:
    await hand_in(world, 2, **given)
    await measure(world)
    assert await held_back(world) == "{}"

    await hand_in(world, 1, **given)
    await measure(world)
    await hand_in(world, 1, **given)
    with pytest.raises(QuotaExceeded, match=rf"{quota} exceeded \(limit 4\)"):
        await hand_in(world, 1, **given)

    await tenants.update_tenant(world.conn, 1, quotas=read_quotas({quota: None}))
    await hand_in(world, 3, **given)
    await measure(world)
    assert await held_back(world) == "{}"


async def test_a_quota_of_its_own_goes_before_the_default(world: World) -> None:
    await tenants.update_tenant(world.conn, 1, quotas=Quotas(max_jobs=6))
    await hand_in(world, 5)
    await measure(world)

    await hand_in(world, 1)
    with pytest.raises(QuotaExceeded, match=r"\(limit 6\)"):
        await hand_in(world, 1)


async def test_limit_keys_are_bounded_near_the_default(world: World) -> None:
    async def put(*keys: str) -> dict[tuple[int, str], int]:
        return await gates.put_gates(
            world.conn, [NewGate(1, key, GateLimits(max_running=1)) for key in keys]
        )

    first = await put("a", "b", "c", "d")
    await measure(world)

    assert await put("a", "d") == {key: id_ for key, id_ in first.items() if key[1] in "ad"}
    with pytest.raises(QuotaExceeded, match=r"max_limit_keys exceeded \(limit 4\)"):
        await put("a", "e")
    with pytest.raises(QuotaExceeded, match="max_limit_keys"):
        await hand_in(world, 1, limits=(JobLimit(key="f", max_running=1),))


@pytest.mark.parametrize(("quota", "field"), [("max_queues", "queue"), ("max_kinds", "kind")])
async def test_a_tenant_makes_only_so_many_names(world: World, quota: str, field: str) -> None:
    await tenants.update_tenant(world.conn, 1, quotas=read_quotas({quota: 2}))
    job = (await hand_in(world, 1, **{field: "one"}))[0].job_id
    changed = JobChanges(queue="three") if field == "queue" else JobChanges(kind="three")
    await hand_in(world, 1, **{field: "two"})

    await hand_in(world, 1, **{field: "one"})
    with pytest.raises(QuotaExceeded, match=rf"{quota} exceeded \(limit 2\)"):
        await hand_in(world, 1, **{field: "three"})
    with pytest.raises(QuotaExceeded, match=quota):
        await edit_job(world.conn, job, changed, now=world.now)
    graph = {"steps": [{"name": "a", "kind": "noop"} | {field: "new"}]}
    with pytest.raises(QuotaExceeded, match=quota):
        await hand_in(world, 1, kind="graph", schedule={"immediate": True}, graph=graph)
    # Names that others made are free.
    await tenants.create_tenant(world.conn, name="acme")
    await hand_in(world, 1, tenant="acme", **{field: "three"})
    await hand_in(world, 1, **{field: "three"})


async def test_two_at_once_do_not_make_more_names_together(world: World, database: str) -> None:
    await tenants.update_tenant(world.conn, 1, quotas=Quotas(max_queues=2))
    conns = [await asyncpg.connect(database) for _ in range(4)]

    async def one(conn: asyncpg.Connection, number: int) -> object:
        spec = JobSpec(name=f"job {number}", kind="noop", queue=f"q{number}", schedule=HOURLY)
        return await submit_jobs(conn, [spec], now=world.now, new_id=world.new_id)

    answers = await asyncio.gather(
        *(one(conn, number) for number, conn in enumerate(conns)), return_exceptions=True
    )
    for conn in conns:
        await conn.close()

    assert [isinstance(answer, QuotaExceeded) for answer in answers].count(True) == 2


def test_every_default_is_high_enough_for_an_honest_tenant() -> None:
    assert dict(DEFAULT_QUOTAS) == {
        "max_jobs": 1_000_000,
        "max_queued": 5_000_000,
        "max_queues": 10_000,
        "max_kinds": 100_000,
        "max_limit_keys": 1_000_000,
        "max_hooks": 1_000,
        "max_calendars": 100,
        "max_secrets": 200,
        "max_keys": 100,
    }
