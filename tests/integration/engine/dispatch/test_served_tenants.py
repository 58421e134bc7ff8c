"""A worker claims runs of the tenants that it serves, and of no others (T1)."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest
from tests.support.shop import CLOCK, QUICK, Shop, open_shop

from rota.config.settings import WorkerSettings
from rota.core.limits import GateLimits
from rota.core.states import RunState
from rota.engine.observability.explanations import explain_run
from rota.store import gates, interning, tenant_queues, tenants


@dataclass
class Two:
    """Two tenants and a handler."""

    shop: Shop
    acme: int
    globex: int

    async def submit(self, tenant_id: int, **given: Any) -> UUID:
        return await self.shop.submit("echo", {}, tenant_id=tenant_id, **given)

    async def why(self, tenant_id: int, run_id: UUID) -> tuple[str, str]:
        told = await explain_run(self.shop.conn, tenant_id=tenant_id, run_id=run_id)
        return told.code, told.sentence


@pytest.fixture
async def two(database: str) -> AsyncIterator[Two]:
    async with open_shop(database) as shop:

        @shop.handlers.handler("echo")
        async def echo(_context: object, payload: object) -> object:
            return payload

        acme = (await tenants.create_tenant(shop.conn, name="acme")).id
        globex = (await tenants.create_tenant(shop.conn, name="globex")).id
        yield Two(shop, acme, globex)


def serving(*served: str, **given: Any) -> WorkerSettings:
    return msgspec.structs.replace(QUICK, tenants=served, **given)


async def test_a_run_of_another_tenant_is_not_claimed_though_it_came_first(two: Two) -> None:
    early = CLOCK.now() - timedelta(minutes=1)
    theirs = await two.submit(two.globex, due_at=early, priority=0)
    async with two.shop.worker(serving("acme")):
        for _ in range(3):
            await two.shop.ends(await two.submit(two.acme))
        waiting = await two.shop.look(theirs)
        why = await two.why(two.globex, theirs)
        async with two.shop.worker(serving("globex")):
            done = await two.shop.ends(theirs)

    assert (waiting.state, waiting.attempt) == (RunState.QUEUED, 0)
    assert why[0] == "no_worker_for_tenant"
    assert "accepts runs of tenant globex; set worker.tenants" in why[1]
    assert done.state is RunState.SUCCEEDED


async def test_a_gated_run_of_another_tenant_is_not_claimed(two: Two) -> None:
    gate = {
        tenant: await gates.put_gate(two.shop.conn, tenant, "key:k", GateLimits(max_running=5))
        for tenant in (two.acme, two.globex)
    }
    early = CLOCK.now() - timedelta(minutes=1)
    theirs = await two.submit(two.globex, due_at=early, gates=(gate[two.globex],))
    async with two.shop.worker(serving("acme")):
        for _ in range(3):
            await two.shop.ends(await two.submit(two.acme, gates=(gate[two.acme],)))
        waiting = await two.shop.look(theirs)
        async with two.shop.worker(serving("*")):
            done = await two.shop.ends(theirs)

    assert (waiting.state, waiting.attempt) == (RunState.QUEUED, 0)
    assert done.state is RunState.SUCCEEDED


async def test_without_a_word_a_worker_serves_the_default_tenant(two: Two) -> None:
    theirs = await two.submit(two.globex, due_at=CLOCK.now() - timedelta(minutes=1))
    async with two.shop.worker(msgspec.structs.replace(QUICK, tenants=WorkerSettings().tenants)):
        await two.shop.ends(await two.submit(1))
        waiting = await two.shop.look(theirs)

    assert waiting.state is RunState.QUEUED


async def test_a_queue_may_have_other_tenants_than_its_worker(two: Two) -> None:
    settings = serving("acme", queues=("default", "gpu"), queue_tenants={"gpu": ("globex",)})
    early = CLOCK.now() - timedelta(minutes=1)
    async with two.shop.worker(settings):
        kept = [
            await two.submit(two.globex, due_at=early),
            await two.submit(two.acme, queue="gpu", due_at=early),
        ]
        for tenant, queue in ((two.acme, "default"), (two.globex, "gpu")):
            await two.shop.ends(await two.submit(tenant, queue=queue))
        states = [(await two.shop.look(run_id)).state for run_id in kept]

    assert states == [RunState.QUEUED, RunState.QUEUED]


async def test_a_tenant_that_is_created_later_is_served_and_named_at_the_start(two: Two) -> None:
    async with two.shop.worker(serving("initech")):
        warned = [each for each in two.shop.events if type(each).__name__ == "TenantsUnknown"]
        initech = (await tenants.create_tenant(two.shop.conn, name="initech")).id
        done = await two.shop.ends(await two.submit(initech))

    assert [each.tenants for each in warned] == [("initech",)]  # type: ignore[attr-defined]
    assert done.state is RunState.SUCCEEDED


async def test_a_pause_of_a_tenants_queue_holds_its_runs_only(two: Two) -> None:
    """Also those with gates; the queue of the same name of another tenant goes on."""
    conn = two.shop.conn
    queue_id = await interning.intern_queue(conn, "default")
    gate = await gates.put_gate(conn, two.globex, "key:k", GateLimits(max_running=5))
    await tenant_queues.pause_queue(conn, tenant_id=two.globex, queue_id=queue_id, by="ada")
    early = CLOCK.now() - timedelta(minutes=1)
    held = [
        await two.submit(two.globex, due_at=early),
        await two.submit(two.globex, due_at=early, gates=(gate,)),
    ]
    async with two.shop.worker():
        for _ in range(3):
            await two.shop.ends(await two.submit(two.acme))
        states = [(await two.shop.look(run_id)).state for run_id in held]
        why = await two.why(two.globex, held[0])
        await tenant_queues.pause_queue(conn, tenant_id=two.globex, queue_id=queue_id, paused=False)
        done = [(await two.shop.ends(run_id)).state for run_id in held]

    assert states == [RunState.QUEUED, RunState.QUEUED]
    assert why[0] == "tenant_queue_paused"
    assert "Queue default was paused for tenant globex by ada" in why[1]
    assert done == [RunState.SUCCEEDED, RunState.SUCCEEDED]


async def test_a_limit_of_a_tenants_queue_holds_its_runs_only(two: Two) -> None:
    """One at a time, of runs with gates and of others together."""
    conn = two.shop.conn
    queue_id = await interning.intern_queue(conn, "default")
    gate = await gates.put_gate(conn, two.globex, "key:k", GateLimits(max_running=5))
    await tenant_queues.limit_queue(
        conn, tenant_id=two.globex, queue_id=queue_id, limits=GateLimits(max_running=1)
    )
    running: dict[int, int] = {}
    most: dict[int, int] = {}

    @two.shop.handlers.handler("hold")
    async def hold(_context: object, payload: dict[str, int]) -> None:
        tenant = payload["tenant"]
        running[tenant] = running.get(tenant, 0) + 1
        most[tenant] = max(most.get(tenant, 0), running[tenant])
        for _ in range(3):
            await CLOCK.sleep(0.01)
        running[tenant] -= 1

    async def hold_runs(tenant: int, **given: Any) -> list[UUID]:
        submit, payload = two.shop.submit, {"tenant": tenant}
        return [await submit("hold", payload, tenant_id=tenant, **given) for _ in range(5)]

    runs = [*await hold_runs(two.globex), *await hold_runs(two.globex, gates=(gate,))]
    runs += await hold_runs(two.acme)
    async with two.shop.worker():
        for run_id in runs:
            await two.shop.ends(run_id)

    assert most[two.globex] == 1
    assert most[two.acme] > 1


async def test_the_session_says_whom_a_worker_serves(two: Two) -> None:
    settings = serving("acme", queues=("default", "gpu"), queue_tenants={"gpu": ("*",)})
    async with two.shop.worker(settings):
        serves = await two.shop.conn.fetchval("select serves from rota.sessions")
    gpu = await interning.intern_queue(two.shop.conn, "gpu")

    assert json.loads(serves) == {"tenants": ["acme"], "queues": {str(gpu): ["*"]}}
