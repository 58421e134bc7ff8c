"""A worker survives an outage of the database, with all that it has done (O15, E2, E3, E4, E12)."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest
from tests.support.database_proxy import DatabaseProxy, database_proxy
from tests.support.shop import QUICK, Shop, open_shop, until

from rota.core.executor import AttemptContext
from rota.core.log_events import ResultsDiscarded, WorkerIsolated, WorkersExpired
from rota.core.outcome import Guarantee
from rota.core.policy import Policy
from rota.core.states import RunState
from rota.store import interning
from rota.store.pool import DatabaseAccess

ONCE = Policy(guarantee=Guarantee.AT_MOST_ONCE)


@pytest.fixture
async def proxy(database: str) -> AsyncIterator[DatabaseProxy]:
    async with database_proxy(database) as opened:
        yield opened


@pytest.fixture
async def shop(database: str, proxy: DatabaseProxy) -> AsyncIterator[Shop]:
    """Its workers reach the database through the proxy, the test does so directly."""
    async with open_shop(database) as opened:
        opened.access = DatabaseAccess(url=proxy.url, connect_timeout=timedelta(seconds=1))
        yield opened


class Step:
    """A handler that waits to be let go, whichever loop it runs on."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, float]] = []
        self.left: list[tuple[int, float]] = []
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def __call__(self, context: AttemptContext, _payload: Any) -> str:
        event = asyncio.Event()
        self._waiting.append((asyncio.get_running_loop(), event))
        self.begun.append((context.attempt, time.monotonic()))
        try:
            await event.wait()
        finally:
            self.left.append((context.attempt, time.monotonic()))
        return f"attempt {context.attempt}"

    def let_go(self) -> None:
        for loop, event in self._waiting:
            loop.call_soon_threadsafe(event.set)

    async def has_begun(self, attempt: int = 1) -> bool:
        return attempt in [number for number, _ in self.begun]

    async def has_begun_once(self) -> bool:
        return bool(self.begun)

    async def has_left(self, attempt: int = 1) -> bool:
        return attempt in [number for number, _ in self.left]


def serve(shop: Shop, kind: str = "step") -> Step:
    step = Step()

    @shop.handlers.handler(kind)
    async def handle(context: AttemptContext, payload: Any) -> str:
        return await step(context, payload)

    return step


async def cut_off(shop: Shop) -> bool:
    """Whether a worker no longer trusts its lease."""
    return any(isinstance(event, WorkerIsolated) for event in shop.events)


async def recurring_job(shop: Shop, kind: str, *, overlap: str) -> UUID:
    policy = json.dumps({"timeout": "PT1M"})
    row = await shop.conn.fetchval(
        "insert into rota.jobs (id, tenant_id, name, kind_id, queue_id, policy_id, overlap,"
        " schedule) values (gen_random_uuid(), 1, 'job', $1, $2, $3, $4::text::rota.overlap,"
        ' \'{"every": "PT1H"}\') returning id',
        await interning.intern_kind(shop.conn, kind),
        await interning.intern_queue(shop.conn, "default"),
        await interning.intern_policy(shop.conn, policy),
        overlap,
    )
    assert isinstance(row, UUID)
    return row


@pytest.mark.parametrize("fault", ["refused", "silent"])
@pytest.mark.parametrize("guarantee", [Guarantee.AT_LEAST_ONCE, Guarantee.AT_MOST_ONCE])
async def test_what_ends_in_an_outage_is_recorded_when_the_database_is_back(
    shop: Shop, proxy: DatabaseProxy, fault: str, guarantee: Guarantee
) -> None:
    step = serve(shop)
    async with shop.worker() as worker:
        run_id = await shop.submit("step", policy=Policy(guarantee=guarantee))
        await until(step.has_begun)
        if fault == "refused":
            await proxy.refuse()
        else:
            proxy.fall_silent()
        await until(lambda: cut_off(shop))
        step.let_go()
        await until(step.has_left)
        await proxy.restore()

        run = await shop.ends(run_id)
        is_over = worker.node.done()

    assert not is_over
    assert (run.state, run.attempt, run.losses) == (RunState.SUCCEEDED, 1, 0)
    assert run.result == '"attempt 1"'


async def test_what_still_runs_after_an_outage_is_not_started_again(
    shop: Shop, proxy: DatabaseProxy
) -> None:
    """Two workers, so that one of them might take the other for dead."""
    step = serve(shop)
    async with AsyncExitStack() as stack:
        workers = [await stack.enter_async_context(shop.worker()) for _ in range(2)]
        runs = [await shop.submit("step", policy=policy) for policy in (Policy(), ONCE)]
        await until(lambda: two(step.begun))
        await proxy.refuse()
        await until(lambda: cut_off(shop))
        await proxy.restore()
        # Until then, whoever was dead would have been noticed.
        noticed = await shop.conn.fetchval("select rota.now()") + 3 * QUICK.lease
        await until(lambda: beaten_since(shop, noticed))
        step.let_go()
        ended = [await shop.ends(run_id) for run_id in runs]
        are_over = [worker.node.done() for worker in workers]

    assert are_over == [False, False]
    assert [(run.state, run.attempt) for run in ended] == [(RunState.SUCCEEDED, 1)] * 2
    assert not [event for event in shop.events if isinstance(event, WorkersExpired)]


async def two(things: list[Any]) -> bool:
    return len(things) == 2


async def beaten_since(shop: Shop, moment: datetime) -> bool:
    """Whether all workers have beaten after that moment of the database's clock."""
    return bool(await shop.conn.fetchval("select min(beat_at) > $1 from rota.sessions", moment))


async def test_a_worker_that_is_cut_off_alone_loses_its_run_and_its_result(
    shop: Shop, proxy: DatabaseProxy, database: str
) -> None:
    """The overlap that at-least-once allows: the other attempt began beside it, and it alone
    counts. The worker that comes back finds its session expired and ends.
    """
    step = serve(shop)
    run_id = await shop.submit("step")
    async with shop.worker() as alone:
        await until(step.has_begun)
        proxy.fall_silent()
        shop.access = DatabaseAccess(url=database)
        async with shop.worker():
            await until(lambda: step.has_begun(2))
            still_runs = not await step.has_left(1)
            step.let_go()
            run = await shop.ends(run_id)
            await proxy.restore()
            ending = await alone.node

    assert still_runs
    assert (run.state, run.attempt, run.result) == (RunState.SUCCEEDED, 2, '"attempt 2"')
    assert ending.exit_code == 1


@pytest.mark.parametrize("why", ["overlap", "limit", "setting"])
async def test_an_attempt_that_forbids_overlap_has_stopped_before_its_successor_starts(
    shop: Shop, proxy: DatabaseProxy, database: str, why: str
) -> None:
    step = serve(shop)
    settings = QUICK
    given: dict[str, Any] = {}
    if why == "overlap":
        given["job_id"] = await recurring_job(shop, "step", overlap="skip")
    elif why == "limit":
        given["gates"] = (await gate(shop),)
    else:
        settings = msgspec.structs.replace(QUICK, on_database_outage="stop")
    run_id = await shop.submit("step", **given)
    async with shop.worker(settings) as alone:
        await until(step.has_begun)
        proxy.fall_silent()
        shop.access = DatabaseAccess(url=database)
        async with shop.worker():
            await until(lambda: step.has_begun(2))
            step.let_go()
            run = await shop.ends(run_id)
            await proxy.restore()
            await alone.node

    left, begun = dict(step.left), dict(step.begun)
    assert left[1] < begun[2]
    assert (run.state, run.attempt) == (RunState.SUCCEEDED, 2)


async def gate(shop: Shop) -> int:
    return int(
        await shop.conn.fetchval(
            "insert into rota.gates (tenant_id, key, most) values (1, 'one', 1) returning id"
        )
    )


async def test_an_attempt_that_forbids_overlap_goes_on_while_the_database_itself_is_down(
    shop: Shop, proxy: DatabaseProxy
) -> None:
    """A refused connection says that nobody else can take its run either."""
    patient = msgspec.structs.replace(
        QUICK, lease=timedelta(seconds=6), stop_after=timedelta(seconds=4)
    )
    step = serve(shop)
    job_id = await recurring_job(shop, "step", overlap="skip")
    async with shop.worker(patient):
        run_id = await shop.submit("step", job_id=job_id)
        await until(step.has_begun)
        await proxy.refuse()
        began = time.monotonic()
        await until(lambda: passed(began, seconds=9))
        still_runs = not step.left
        await proxy.restore()
        step.let_go()
        run = await shop.ends(run_id)

    assert still_runs
    assert (run.state, run.attempt) == (RunState.SUCCEEDED, 1)


async def passed(since: float, *, seconds: float) -> bool:
    return time.monotonic() - since > seconds


async def test_a_worker_that_drains_in_an_outage_records_what_it_has_when_the_database_is_back(
    shop: Shop, proxy: DatabaseProxy
) -> None:
    step = serve(shop)
    async with shop.worker() as worker:
        run_id = await shop.submit("step", policy=ONCE)
        await until(step.has_begun)
        await proxy.refuse()
        worker.stop.request()
        step.let_go()
        await until(step.has_left)
        await proxy.restore()
        ending = await worker.node

    run = await shop.look(run_id)
    assert (run.state, ending.exit_code) == (RunState.SUCCEEDED, 0)
    assert not [event for event in shop.events if isinstance(event, ResultsDiscarded)]


async def test_a_run_whose_job_cannot_be_read_was_never_started_and_is_not_lost(
    shop: Shop, database: str
) -> None:
    """It is handed back, at most once or not, and runs when its job can be read (E2)."""
    step = serve(shop)
    step.let_go()
    shop.access = DatabaseAccess(url=database, lock_timeout=timedelta(milliseconds=100))
    run_id = await shop.submit("step", policy=ONCE)
    async with shop.worker():
        async with shop.conn.transaction():
            await shop.conn.execute("lock table rota.policies in access exclusive mode")
            await until(lambda: handed_back(shop, run_id))
        await until(step.has_begun_once)
        step.let_go()
        run = await shop.ends(run_id)

    outcomes = {outcome for _, outcome in await shop.attempts(run_id)}
    assert (run.state, run.losses, outcomes) == (RunState.SUCCEEDED, 0, {"released"})
    assert len(step.begun) == 1


async def handed_back(shop: Shop, run_id: UUID) -> bool:
    return len(await shop.attempts(run_id)) >= 1
