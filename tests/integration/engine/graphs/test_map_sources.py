"""Maps whose items come from a source, and reducers that read all members (D5)."""

import itertools
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from tests.support.mapping import (
    begin,
    cancel,
    comes,
    ended,
    ends_as,
    map_when,
    result,
    retry,
    the_map,
)
from tests.support.shop import Shop, open_shop, until

from rota.core.executor import AttemptContext, Fail, Retry
from rota.core.maps import UNFINISHED_MEMBERS_MAX
from rota.core.states import RunState
from rota.engine.graphs import graph_views
from rota.executors.python import BlockingContext
from rota.store import live_runs, run_views

SOURCED: dict[str, Any] = {
    "name": "each",
    "kind": "one",
    "map": {"source": {"kind": "items", "payload": {"number": {"$": "input.number"}}}},
    "payload": {"n": {"$": "item"}},
    "retries": {"max": 2, "base": "PT0.1S"},
}


@pytest.fixture
async def shop(database: str) -> AsyncIterator[Shop]:
    async with open_shop(database) as opened:
        yield opened


def counting(shop: Shop) -> list[int]:
    seen: list[int] = []

    @shop.handlers.handler("one")
    async def one(_context: AttemptContext, payload: Any) -> int:
        seen.append(payload["n"])
        return int(payload["n"])

    return seen


def yielding(shop: Shop, *, is_async: bool) -> None:
    @shop.handlers.handler("items" if is_async else "other")
    async def items(_context: AttemptContext, payload: Any) -> AsyncIterator[int]:
        for number in range(payload["number"]):
            yield number

    @shop.handlers.handler("other" if is_async else "items")
    def more_items(_context: BlockingContext, payload: Any) -> Iterator[int]:
        yield from range(payload["number"])


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
async def test_what_a_source_yields_becomes_members(shop: Shop, is_async: bool) -> None:
    seen = counting(shop)
    yielding(shop, is_async=is_async)

    async with shop.worker():
        run_id = await begin(shop, SOURCED, number=2300)
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert sorted(seen) == list(range(2300))
    found = await the_map(shop, run_id)
    assert (found.total, found.succeeded, found.is_sourcing) == (2300, 2300, False)


async def test_a_source_without_items_makes_an_empty_map(shop: Shop) -> None:
    counting(shop)
    yielding(shop, is_async=True)

    async with shop.worker():
        run_id = await begin(shop, SOURCED, number=0)
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert (await the_map(shop, run_id)).total == 0


async def test_a_source_that_failed_goes_on_behind_what_it_gave(shop: Shop) -> None:
    """The same items in the same order; those that are there already are passed over."""
    seen = counting(shop)
    given: list[int] = []

    @shop.handlers.handler("items")
    async def items(context: AttemptContext, payload: Any) -> None:
        for first in range(0, payload["number"], 500):
            await context.hand_out(list(range(first, first + 500)))
            given.append(context.attempt)
            if context.attempt == 1 and first == 1000:
                raise Retry("the connection broke")

    async with shop.worker():
        run_id = await begin(shop, SOURCED, number=3000)
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert sorted(seen) == list(range(3000))
    assert given == [1, 1, 1, 2, 2, 2, 2, 2, 2]


async def test_a_source_that_gives_up_fails_its_map_and_a_retry_goes_on(shop: Shop) -> None:
    seen = counting(shop)
    good: list[bool] = []

    @shop.handlers.handler("items")
    async def items(_context: AttemptContext, payload: Any) -> AsyncIterator[int]:
        for number in range(payload["number"]):
            if number == 1200 and not good:
                raise Fail("the list ends here")
            yield number

    async with shop.worker():
        run_id = await begin(shop, SOURCED, number=2000)
        await ends_as(shop, run_id, RunState.DEAD)
        row = await run_views.get_run(shop.conn, tenant_id=1, run_id=run_id)
        assert row is not None
        shown = await graph_views.read_run_graph(shop.conn, row, tenant_id=1, now=row.created_at)
        good.append(True)
        await retry(shop, run_id)
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert shown.steps[0].why == "its source failed: Fail: the list ends here"
    assert set(seen) == set(range(2000))
    assert await ended(shop, run_id) == {"succeeded": 2000}


async def test_a_map_that_was_cancelled_after_its_source_had_ended_is_retried_whole(
    shop: Shop,
) -> None:
    """The source's ending and the cancel may meet in any order; nothing is taken for done."""
    gate = threading.Event()
    yielding(shop, is_async=True)

    @shop.handlers.handler("one")
    def one(context: BlockingContext, payload: Any) -> int:
        while not gate.wait(0.01) and not context.cancelled:
            pass
        return int(payload["n"])

    step = {**SOURCED, "map": {**SOURCED["map"], "at_once": 4}}
    async with shop.worker():
        run_id = await begin(shop, step, number=30)
        await map_when(shop, run_id, made=4)
        await map_when(shop, run_id, handed=30)
        await cancel(shop, run_id)
        await map_when(shop, run_id, cancelled=4)
        gate.set()
        await retry(shop, run_id)
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert await ended(shop, run_id) == {"succeeded": 30}
    assert (await the_map(shop, run_id)).total == 30


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
async def test_a_source_waits_while_too_many_members_are_unfinished(
    shop: Shop, is_async: bool
) -> None:
    gate = threading.Event()
    given: list[int] = []

    @shop.handlers.handler("items" if is_async else "other")
    async def items(_context: AttemptContext, _payload: Any) -> AsyncIterator[int]:
        for number in itertools.count():
            given.append(number)
            yield number

    @shop.handlers.handler("other" if is_async else "items")
    def more_items(_context: BlockingContext, _payload: Any) -> Iterator[int]:
        for number in itertools.count():
            given.append(number)
            yield number

    @shop.handlers.handler("one")
    def one(context: BlockingContext, _payload: Any) -> None:
        while not gate.wait(0.01) and not context.cancelled:
            pass

    async with shop.worker():
        run_id = await begin(shop, SOURCED, number=0)
        full = await map_when(shop, run_id, handed=UNFINISHED_MEMBERS_MAX)
        # It has the next batch in hand, and does not get rid of it.
        await comes(lambda: len(given) == UNFINISHED_MEMBERS_MAX + 1000)
        await cancel(shop, run_id)
        await ends_as(shop, run_id, RunState.CANCELLED)
        gate.set()

        async def over() -> bool:
            return not await shop.conn.fetchval("select count(*) from rota.live_runs")

        await until(over)

    assert full.total is None
    assert (await the_map(shop, run_id)).handed == UNFINISHED_MEMBERS_MAX
    assert len(given) == UNFINISHED_MEMBERS_MAX + 1000


async def test_only_a_source_may_hand_out(shop: Shop) -> None:
    @shop.handlers.handler("items")
    async def items(_context: AttemptContext, _payload: Any) -> AsyncIterator[int]:
        yield 1

    async with shop.worker():
        run = await shop.ends(await shop.submit("items"))

    assert run.state is RunState.DEAD
    assert run.reason is not None
    assert "this run is not a map source" in run.reason


@pytest.mark.parametrize(
    ("item", "why"),
    [(object(), "cannot be encoded as JSON"), ("x" * 300_000, "must be at most 256000")],
    ids=["no JSON", "too large"],
)
async def test_an_item_that_cannot_be_kept_fails_the_source(
    shop: Shop, item: Any, why: str
) -> None:
    @shop.handlers.handler("items")
    async def items(_context: AttemptContext, _payload: Any) -> AsyncIterator[Any]:
        yield item

    async with shop.worker():
        run_id = await begin(shop, SOURCED, number=1)
        await ends_as(shop, run_id, RunState.DEAD)

    rows = await shop.conn.fetch("select reason from rota.runs where graph_run_id = $1", run_id)
    assert why in rows[0][0]


async def test_an_attempt_that_lost_its_run_hands_out_nothing(shop: Shop) -> None:
    """The fence is the run, the attempt and the session."""
    entered = threading.Event()
    gate = threading.Event()
    errors: list[str] = []

    @shop.handlers.handler("items")
    def items(context: BlockingContext, _payload: Any) -> None:
        context.hand_out([1])
        entered.set()
        gate.wait(10)
        try:
            context.hand_out([2])
        except Exception as error:
            errors.append(type(error).__name__)
            raise

    async with shop.worker():
        run_id = await begin(shop, SOURCED, number=1)
        await comes(entered.is_set)
        # Somebody ends it by force: the attempt does not hear of it, and its run is not its own.
        source = await shop.conn.fetchval(
            "select id from rota.live_runs where graph_run_id = $1 and member is null", run_id
        )
        assert await live_runs.cancel_runs_now(shop.conn, ids=[source]) == [source]
        gate.set()
        await ends_as(shop, run_id, RunState.CANCELLED)
        await comes(lambda: bool(errors))

    assert errors == ["LeaseLost"]
    assert (await the_map(shop, run_id)).handed == 1


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
async def test_a_reducer_goes_through_all_members_in_their_order(
    shop: Shop, is_async: bool
) -> None:
    counting(shop)

    @shop.handlers.handler("sum" if is_async else "other")
    async def add_up(context: AttemptContext, _payload: Any) -> Any:
        found = [each async for each in context.members("each")]
        return [len(found), sum(each.result for each in found), found[700].index]

    @shop.handlers.handler("other" if is_async else "sum")
    def add_up_sync(context: BlockingContext, _payload: Any) -> Any:
        found = list(context.members("each"))
        return [len(found), sum(each.result for each in found), found[700].index]

    numbers = {**SOURCED, "map": {"over": 1300}}
    async with shop.worker():
        run_id = await begin(shop, numbers, {"name": "sum", "kind": "sum", "needs": ["each"]})
        run = await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert result(run) == {"sum": [1300, sum(range(1300)), 700]}


async def test_a_reducer_that_names_no_map_is_told_so(shop: Shop) -> None:
    @shop.handlers.handler("sum")
    async def add_up(context: AttemptContext, _payload: Any) -> None:
        async for _ in context.members("none"):
            pass

    async with shop.worker():
        run_id = await begin(shop, {"name": "sum", "kind": "sum"})
        await ends_as(shop, run_id, RunState.DEAD)

    rows = await shop.conn.fetch("select reason from rota.runs where graph_run_id = $1", run_id)
    assert "map 'none' not found in the graph" in rows[0][0]
