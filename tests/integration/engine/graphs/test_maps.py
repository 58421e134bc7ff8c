"""Maps: steps with many members, made a window at a time (D5)."""

import threading
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.support.mapping import (
    alive,
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
from tests.support.shop import CLOCK, Shop, open_shop, until

from rota.core.errors import NotFound
from rota.core.executor import AttemptContext, Fail
from rota.core.maps import UNFINISHED_MEMBERS_MAX
from rota.core.outcome import Guarantee
from rota.core.states import RunState
from rota.engine.graphs import control, graph_views
from rota.engine.graphs.graph_views import GraphStepView
from rota.engine.submission import requeue
from rota.executors.python import BlockingContext, Handlers
from rota.store import graph_maps, run_views
from rota.store.graph_maps import MemberBatch
from rota.store.graphs import NewStep

EACH: dict[str, Any] = {
    "name": "each",
    "kind": "one",
    "map": {"over": "input.files"},
    "payload": {"file": {"$": "item"}, "n": {"$": "index"}},
    "retries": 0,
}
NUMBERS: dict[str, Any] = {
    "name": "each",
    "kind": "one",
    "map": {"over": "input.number"},
    "payload": {"n": {"$": "index"}},
    "retries": 0,
}


@pytest.fixture
async def shop(database: str) -> AsyncIterator[Shop]:
    async with open_shop(database) as opened:
        yield opened


def over(step: dict[str, Any], **said: Any) -> dict[str, Any]:
    """The same step with more said about its map."""
    return {**step, "map": {**step["map"], **said}}


def counting(shop: Shop, *, bad: set[int] | None = None) -> list[int]:
    """A handler that keeps which members it saw, and fails for the bad ones as long as they are."""
    seen: list[int] = []

    @shop.handlers.handler("one")
    async def one(_context: AttemptContext, payload: Any) -> int:
        seen.append(payload["n"])
        if payload["n"] in (bad or ()):
            raise Fail(f"no {payload['n']}")
        return int(payload["n"]) * 10

    return seen


async def test_a_map_has_a_member_for_each_item_and_a_later_step_reads_them(shop: Shop) -> None:
    @shop.handlers.handler("one")
    async def one(_context: AttemptContext, payload: Any) -> Any:
        return f"{payload['file'].upper()}{payload['n']}"

    @shop.handlers.handler("sum")
    async def add_up(_context: AttemptContext, payload: Any) -> Any:
        return payload

    last = {
        "name": "sum",
        "kind": "sum",
        "needs": ["each"],
        "when": "steps.each.result.failed < 1",
        "payload": {"all": {"$": "steps.each.results"}, "of": {"$": "steps.each.result"}},
    }
    async with shop.worker():
        run_id = await begin(shop, EACH, last, files=["a", "b", "c"])
        run = await ends_as(shop, run_id, RunState.SUCCEEDED)

    told = result(run)["sum"]
    assert told["all"] == ["A0", "B1", "C2"]
    assert (told["of"]["total"], told["of"]["succeeded"], told["of"]["failed"]) == (3, 3, 0)


async def test_a_map_over_a_number_counts_from_zero(shop: Shop) -> None:
    seen = counting(shop)

    async with shop.worker():
        run_id = await begin(shop, NUMBERS, number=2500)
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert sorted(seen) == list(range(2500))
    assert await ended(shop, run_id) == {"succeeded": 2500}
    # Nothing is left of the items.
    assert await shop.conn.fetchval("select count(*) from rota.graph_items") == 0


async def test_a_map_without_items_succeeds_at_once(shop: Shop) -> None:
    counting(shop)
    last = {"name": "last", "kind": "one", "needs": ["each"], "payload": {"n": 7}}

    async with shop.worker():
        begun = [await begin(shop, step, last, files=[], number=0) for step in (EACH, NUMBERS)]
        runs = [await ends_as(shop, run_id, RunState.SUCCEEDED) for run_id in begun]

    assert [result(run) for run in runs] == [{"last": 70}, {"last": 70}]


class Gate:
    """A `def` handler that keeps its members until it is opened, and counts those inside."""

    def __init__(self, shop: Shop) -> None:
        self._open = threading.Event()
        self._lock = threading.Lock()
        self.inside = 0
        self.most = 0
        shop.handlers.handler("one")(self._pass)

    def _pass(self, context: BlockingContext, _payload: Any) -> None:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        while not self._open.wait(0.01) and not context.cancelled:
            pass
        with self._lock:
            self.inside -= 1

    def open(self) -> None:
        self._open.set()

    async def holds(self, number: int) -> None:
        await comes(lambda: self.inside == number)


async def test_no_more_members_are_alive_than_may_be_at_once(shop: Shop) -> None:
    gate = Gate(shop)

    async with shop.worker():
        step = {**over(NUMBERS, at_once=3), "deadline": "1h"}
        run_id = await begin(shop, step, number=20)
        await gate.holds(3)
        waiting = await alive(shop, run_id)
        deadlines = await shop.conn.fetchval(
            "select array_agg(distinct deadline_at - due_at) from rota.live_runs"
            " where graph_run_id = $1",
            run_id,
        )
        gate.open()
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert (waiting, gate.most) == (3, 3)
    assert deadlines == [timedelta(hours=1)]
    assert (await the_map(shop, run_id)).succeeded == 20


async def test_a_large_map_has_a_window_of_its_members_in_the_hot_table(shop: Shop) -> None:
    seen = counting(shop)
    number = UNFINISHED_MEMBERS_MAX + 1500

    # Nobody serves the kind at first, so nothing ends.
    handlers, shop.handlers = shop.handlers, Handlers()
    async with shop.worker():
        run_id = await begin(shop, NUMBERS, number=number)
        full = await map_when(shop, run_id, made=UNFINISHED_MEMBERS_MAX)
        waiting = await alive(shop, run_id)
    shop.handlers = handlers
    async with shop.worker():
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert (waiting, full.total) == (UNFINISHED_MEMBERS_MAX, number)
    assert sorted(seen) == list(range(number))


async def test_a_map_bears_as_many_failures_as_it_says(shop: Shop) -> None:
    counting(shop, bad={1, 5, 7})
    tolerances = {0: "dead", 2: "dead", 3: "succeeded", "29%": "dead", "30%": "succeeded"}

    async with shop.worker():
        begun = {
            tolerate: await begin(shop, over(NUMBERS, tolerate=tolerate), number=10)
            for tolerate in tolerances
        }
        states = {each: (await shop.ends(run_id)).state for each, run_id in begun.items()}

    assert states == tolerances
    assert (await the_map(shop, begun["30%"])).failed == 3


async def test_a_map_that_failed_makes_no_more_and_cancels_the_rest(shop: Shop) -> None:
    seen = counting(shop, bad={0})

    async with shop.worker():
        run_id = await begin(shop, over(NUMBERS, at_once=10), number=1000)
        run = await ends_as(shop, run_id, RunState.DEAD)

    found = await the_map(shop, run_id)
    shown = await shown_steps(shop, run_id)
    assert run.reason is not None
    assert "each" in run.reason
    assert len(seen) <= 30
    assert found.made < 1000
    assert found.made == found.succeeded + found.failed + found.cancelled
    assert await alive(shop, run_id) == 0
    assert shown[0].why == "1 of 1,000 members failed; first error: Fail: no 0"


async def test_a_failed_map_may_be_read_by_whoever_comes_after_it(shop: Shop) -> None:
    counting(shop, bad={1})
    alarm = {
        "name": "alarm",
        "kind": "one",
        "needs": ["each"],
        "when": "failure",
        "payload": {"n": {"$": "steps.each.result.failed"}, "why": {"$": "steps.each.error"}},
    }

    async with shop.worker():
        run_id = await begin(shop, {**NUMBERS, "may_fail": True}, alarm, number=3)
        run = await ends_as(shop, run_id, RunState.DEAD)

    # The alarm got the number of failures, which is 1, and there is no 1.
    assert run.reason is not None
    assert "alarm" in run.reason


async def test_a_cancelled_graph_run_cancels_its_members_and_makes_no_more(shop: Shop) -> None:
    gate = Gate(shop)

    async with shop.worker():
        run_id = await begin(shop, over(NUMBERS, at_once=5), number=100)
        await gate.holds(5)
        await cancel(shop, run_id)
        await ends_as(shop, run_id, RunState.CANCELLED)

        async def empty() -> bool:
            return await alive(shop, run_id) == 0

        await until(empty)
        await map_when(shop, run_id, cancelled=5)

    assert await ended(shop, run_id) == {"cancelled": 5}


async def test_a_retry_lets_only_the_members_go_again_that_failed(shop: Shop) -> None:
    bad = {3, 700, 1400}
    seen = counting(shop, bad=bad)

    async with shop.worker():
        run_id = await begin(shop, over(NUMBERS, tolerate=2), number=1500)
        await ends_as(shop, run_id, RunState.DEAD)
        good = await listed(shop, run_id, RunState.SUCCEEDED)
        bad.clear()
        seen.clear()
        await retry(shop, run_id)
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert sorted([*good, *seen]) == list(range(1500))
    assert {3, 700, 1400} <= set(seen)
    assert await ended(shop, run_id) == {"succeeded": 1500}
    assert (await the_map(shop, run_id)).succeeded == 1500


async def test_a_retry_after_a_cancel_makes_the_rest(shop: Shop) -> None:
    gate = Gate(shop)

    async with shop.worker():
        run_id = await begin(shop, over(NUMBERS, at_once=5), number=50)
        await gate.holds(5)
        await cancel(shop, run_id)
        await map_when(shop, run_id, cancelled=5)
        gate.open()
        await retry(shop, run_id)
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert await ended(shop, run_id) == {"succeeded": 50}


async def test_a_map_whose_parent_goes_again_begins_anew(shop: Shop) -> None:
    numbers = [4, 2]
    seen = counting(shop)

    @shop.handlers.handler("count")
    async def count(_context: AttemptContext, _payload: Any) -> int:
        return numbers.pop(0)

    @shop.handlers.handler("last")
    async def last(_context: AttemptContext, _payload: Any) -> None:
        if numbers:
            raise Fail("not yet")

    steps = (
        {"name": "count", "kind": "count"},
        {**NUMBERS, "needs": ["count"], "map": {"over": "steps.count.result"}},
        {"name": "last", "kind": "last", "needs": ["each"], "retries": 0},
    )
    async with shop.worker():
        run_id = await begin(shop, *steps)
        await ends_as(shop, run_id, RunState.DEAD)
        await requeue.retry_run(shop.conn, tenant_id=1, run_id=run_id, by="a test")
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert sorted(seen) == [0, 0, 1, 1, 2, 3]
    found = await the_map(shop, run_id, 1)
    assert (found.total, found.made, found.succeeded) == (2, 2, 2)


async def test_a_paused_graph_run_makes_no_more_members(shop: Shop) -> None:
    gate = Gate(shop)

    async with shop.worker():
        run_id = await begin(shop, over(NUMBERS, at_once=2), number=6)
        await gate.holds(2)
        await control.pause_graph_run(
            shop.conn, tenant_id=1, run_id=run_id, by="a test", now=CLOCK.now()
        )
        gate.open()
        await gate.holds(0)

        async def stored() -> bool:
            return await ended(shop, run_id) == {"succeeded": 2}

        await until(stored)
        made = (await the_map(shop, run_id)).made
        await control.resume_graph_run(
            shop.conn, tenant_id=1, run_id=run_id, by="a test", now=CLOCK.now()
        )
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert made == 2
    assert await ended(shop, run_id) == {"succeeded": 6}


async def test_a_member_that_has_no_payload_fails_the_map_with_its_reason(shop: Shop) -> None:
    counting(shop)
    step = {**EACH, "payload": {"n": {"$": "item + 1"}}}

    async with shop.worker():
        run_id = await begin(shop, step, files=[1, 2, "three"])
        await ends_as(shop, run_id, RunState.DEAD)

    (shown,) = await shown_steps(shop, run_id)
    assert shown.state == "failed"
    assert shown.why is not None
    assert "item + 1" in shown.why


async def test_what_is_neither_a_list_nor_a_number_fails_the_map(shop: Shop) -> None:
    wrong = {
        "abc": "expected a list or a whole number",
        -1: "expected a list or a whole number",
        2_000_000: "the limit is 1,000,000",
    }

    async with shop.worker():
        begun = {why: await begin(shop, EACH, files=files) for files, why in wrong.items()}
        for why, run_id in begun.items():
            await ends_as(shop, run_id, RunState.DEAD)
            (shown,) = await shown_steps(shop, run_id)
            assert shown.why is not None
            assert why in shown.why


async def test_a_batch_that_is_made_twice_makes_nothing_twice(shop: Shop) -> None:
    shop.handlers.handler("other")(Gate)
    async with shop.worker():
        run_id = await begin(shop, over(NUMBERS, at_once=2), number=100)
        found = await map_when(shop, run_id, made=2)
    member = await run_views.get_run(
        shop.conn, tenant_id=1, run_id=found.map_id.derive_member_id(0)
    )
    assert member is not None
    ids = await shop.conn.fetch(
        "select kind_id, policy_id from rota.live_runs where id = $1", member.id
    )
    kind, policy = ids[0]
    mould = NewStep(
        member.id, run_id, 0, None, None, kind, policy, None, Guarantee.AT_LEAST_ONCE, None
    )

    batch = MemberBatch(10, payload="{}")
    made = [
        await graph_maps.insert_members(shop.conn, found.map_id, mould, made=2, batch=batch)
        for _ in range(3)
    ]

    assert made == [10, 0, 0]
    assert await alive(shop, run_id) == 12


async def test_members_are_listed_in_their_order_page_by_page(shop: Shop) -> None:
    bad = set(range(0, 130, 10))
    counting(shop, bad=bad)

    async with shop.worker():
        run_id = await begin(shop, over(NUMBERS, tolerate=20), number=130)
        await ends_as(shop, run_id, RunState.SUCCEEDED)

    assert await listed(shop, run_id) == list(range(130))
    assert await listed(shop, run_id, RunState.DEAD) == sorted(bad)
    assert await listed(shop, run_id, RunState.SUCCEEDED) == sorted(set(range(130)) - bad)
    assert await listed(shop, run_id, RunState.QUEUED) == []
    with pytest.raises(NotFound):
        await graph_views.read_members(
            shop.conn, run_id, "none", tenant_id=1, states=frozenset(), after=-1, limit=5
        )


async def listed(shop: Shop, run_id: UUID, *states: RunState) -> list[int]:
    found: list[int] = []
    after: int | None = -1
    while after is not None:
        page = await graph_views.read_members(
            shop.conn,
            run_id,
            "each",
            tenant_id=1,
            states=frozenset(states),
            after=after,
            limit=50,
        )
        found += [row.member for row in page.rows if row.member is not None]
        after = page.after
    return found


async def shown_steps(shop: Shop, run_id: UUID) -> tuple[GraphStepView, ...]:
    row = await run_views.get_run(shop.conn, tenant_id=1, run_id=run_id)
    assert row is not None
    return (await graph_views.read_run_graph(shop.conn, row, tenant_id=1, now=CLOCK.now())).steps
