"""A target that does not answer is left alone, and its runs lose nothing by it (E8, F38)."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from aiohttp import web
from tests.support.shop import CLOCK, QUICK, Shop, until

from rota.config.settings import WorkerSettings
from rota.core.executor import AttemptContext, Fail
from rota.core.log_events import AttemptsEnded, TargetDown, TargetUp
from rota.core.outcome import Guarantee
from rota.core.policy import DelayGrowth, Policy, RetryJitter, RetryPolicy
from rota.core.states import RunState
from rota.engine.observability.explanations import Explanation, explain_run
from rota.executors.http import HttpExecutor, TargetGuard
from rota.store import live_runs

S = RunState
NOWHERE = "http://127.0.0.1:1/"
WARY: WorkerSettings = msgspec.structs.replace(
    QUICK,
    slots=8,
    breaker_after=5,
    breaker_pause=timedelta(milliseconds=200),
    breaker_longest=timedelta(milliseconds=400),
)
# Nobody looks again within the test.
PATIENT: WorkerSettings = msgspec.structs.replace(
    WARY, breaker_pause=timedelta(minutes=10), breaker_longest=timedelta(minutes=10)
)
AT_ONCE = RetryPolicy(
    max_retries=3, growth=DelayGrowth.CONSTANT, base_delay=timedelta(0), jitter=RetryJitter.NONE
)


@dataclass
class Service:
    """A server that can be told to be out of order."""

    url: str = ""
    is_down: bool = False
    asked: int = 0
    refused: int = 0

    async def handle(self, _request: web.BaseRequest) -> web.StreamResponse:
        self.asked += 1
        self.refused += self.is_down
        return web.Response(status=503 if self.is_down else 200)


@asynccontextmanager
async def service(shop: Shop, *, is_down: bool = False) -> AsyncIterator[Service]:
    """A server, and workers of the shop that may call it."""
    served = Service(is_down=is_down)
    runner = web.ServerRunner(web.Server(served.handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = int(runner.addresses[0][1])
    served.url = f"http://127.0.0.1:{port}/"
    guard = TargetGuard(allow_networks=("127.0.0.1/32",), allow_ports=(port, 1))
    shop.others = (lambda: HttpExecutor(guard=guard),)
    try:
        yield served
    finally:
        await runner.cleanup()


def told(shop: Shop, event: type[Any]) -> list[Any]:
    return [each for each in shop.events if isinstance(each, event)]


async def down(shop: Shop, times: int = 1) -> list[TargetDown]:
    """Wait until so many times a target was found down."""

    async def found() -> list[TargetDown] | None:
        events = told(shop, TargetDown)
        return events if len(events) >= times else None

    return await until(found)


async def why(shop: Shop, run_id: UUID) -> Explanation:
    return await explain_run(shop.conn, tenant_id=1, run_id=run_id)


async def turned_away(shop: Shop, run_id: UUID) -> Explanation:
    """Wait until a run waits because of its target; return what is said about it."""

    async def waits() -> Explanation | None:
        said = await why(shop, run_id)
        return said if said.code == "target_down" else None

    return await until(waits)


async def break_down(shop: Shop, url: str) -> None:
    """Use runs up on a target until it is known to be down."""
    for _ in range(WARY.breaker_after):
        await shop.submit("http", {"url": url}, policy=Policy(retries=RetryPolicy(max_retries=0)))
    await down(shop)


async def test_an_outage_costs_no_run_its_life_and_the_target_few_requests(shop: Shop) -> None:
    async with service(shop, is_down=True) as served:
        policy = Policy(retries=AT_ONCE)
        runs = [await shop.submit("http", {"url": served.url}, policy=policy) for _ in range(50)]
        async with shop.worker(WARY):
            await down(shop, times=3)
            served.is_down = False
            ended = [await shop.ends(run_id) for run_id in runs]

    assert {run.state for run in ended} == {S.SUCCEEDED}
    # Without a breaker each would have asked four times, in vain.
    assert served.refused < len(runs)
    assert served.asked == served.refused + len(runs)
    assert [each.down for each in told(shop, TargetUp)] == [0]
    counted = Counter[str]()
    for each in told(shop, AttemptsEnded):
        counted.update(each.outcomes)
    assert counted["failed"] == served.refused
    assert counted["turned_away"] > 0


async def test_a_target_that_is_down_does_not_disturb_another(shop: Shop) -> None:
    async with service(shop) as served, shop.worker(PATIENT):
        await break_down(shop, NOWHERE)
        waits = await shop.submit("http", {"url": NOWHERE})
        await turned_away(shop, waits)

        works = [await shop.submit("http", {"url": served.url}) for _ in range(10)]
        ended = [await shop.ends(run_id) for run_id in works]

        assert [(run.state, run.attempt) for run in ended] == [(S.SUCCEEDED, 1)] * 10
        assert (await shop.look(waits)).state is S.QUEUED


async def test_why_tells_which_target_does_not_answer_and_when_it_is_asked_again(
    shop: Shop,
) -> None:
    async with service(shop), shop.worker(PATIENT):
        await break_down(shop, NOWHERE)

        run_id = await shop.submit("http", {"url": NOWHERE})
        said = await turned_away(shop, run_id)

    assert said.sentence.startswith(
        "Target 127.0.0.1:1 is not responding: 5 failures in a row; the run "
    )
    assert (said.details["target"], said.details["failures"]) == ("127.0.0.1:1", 5)
    ready_at = "select ready_at from rota.live_runs where id = $1"
    assert said.details["until"] == await shop.conn.fetchval(ready_at, run_id)


async def test_being_turned_away_costs_no_retry_and_is_on_record(shop: Shop) -> None:
    async with service(shop), shop.worker(PATIENT):
        await break_down(shop, NOWHERE)
        run_id = await shop.submit("http", {"url": NOWHERE})
        await turned_away(shop, run_id)

    run = await shop.look(run_id)
    assert (run.state, run.failures, run.losses) == (S.QUEUED, 0, 0)
    assert await shop.attempts(run_id) == [(1, "snoozed")]


async def test_a_run_that_waits_for_its_target_can_be_cancelled(shop: Shop) -> None:
    async with service(shop), shop.worker(PATIENT):
        await break_down(shop, NOWHERE)
        run_id = await shop.submit("http", {"url": NOWHERE})
        await turned_away(shop, run_id)

        await live_runs.cancel_runs(shop.conn, ids=[run_id], reason='{"code": "cancelled"}')

        assert (await shop.ends(run_id)).state is S.CANCELLED


async def test_a_deadline_holds_while_the_target_is_down(shop: Shop) -> None:
    async with service(shop), shop.worker(PATIENT):
        await break_down(shop, NOWHERE)
        soon = CLOCK.now() + timedelta(seconds=5)
        run_id = await shop.submit("http", {"url": NOWHERE}, deadline_at=soon)

        run = await shop.ends(run_id)

    assert run.state is S.EXPIRED
    assert (await why(shop, run_id)).sentence.endswith("because its target did not respond.")


async def test_a_run_of_at_most_once_that_is_turned_away_has_not_started(shop: Shop) -> None:
    once = Policy(guarantee=Guarantee.AT_MOST_ONCE)
    async with service(shop, is_down=True) as served, shop.worker(PATIENT):
        await break_down(shop, served.url)
        asked = served.asked

        run_id = await shop.submit("http", {"url": served.url}, policy=once)
        await turned_away(shop, run_id)

        assert ((await shop.look(run_id)).state, served.asked) == (S.QUEUED, asked)


async def test_jobs_that_name_the_same_target_are_spared_by_each_others_failures(
    shop: Shop,
) -> None:
    called = 0

    @shop.handlers.handler("charge")
    async def charge(_context: AttemptContext, _payload: Any) -> None:
        raise ConnectionError("no answer")

    @shop.handlers.handler("refund")
    async def refund(_context: AttemptContext, _payload: Any) -> None:
        nonlocal called
        called += 1

    named = Policy(target="payments", retries=RetryPolicy(max_retries=0))
    async with shop.worker(PATIENT):
        for _ in range(5):
            await shop.submit("charge", policy=named)
        await down(shop)
        run_id = await shop.submit("refund", policy=named)
        said = await turned_away(shop, run_id)
        other = await shop.submit("refund")
        await shop.ends(other)

    assert (said.details["target"], called) == ("payments", 1)


async def test_a_failure_for_good_is_none_of_the_target(shop: Shop) -> None:
    @shop.handlers.handler("charge")
    async def charge(_context: AttemptContext, _payload: Any) -> None:
        raise Fail("the card is stolen")

    named = Policy(target="payments")
    async with shop.worker(PATIENT):
        runs = [await shop.submit("charge", policy=named) for _ in range(10)]
        ended = [await shop.ends(run_id) for run_id in runs]

    assert [(run.state, run.attempt) for run in ended] == [(S.DEAD, 1)] * 10
    assert told(shop, TargetDown) == []


async def test_a_worker_without_breakers_tries_every_run(shop: Shop) -> None:
    without = msgspec.structs.replace(WARY, breaker_after=0)
    async with service(shop, is_down=True) as served, shop.worker(without):
        policy = Policy(retries=AT_ONCE)
        runs = [await shop.submit("http", {"url": served.url}, policy=policy) for _ in range(5)]
        ended = [await shop.ends(run_id) for run_id in runs]

    assert [(run.state, run.failures) for run in ended] == [(S.DEAD, 4)] * 5
    assert served.refused == 20
