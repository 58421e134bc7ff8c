"""Handlers that yield hand out what they yield, in batches (D5)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from tests.unit.executors.python.recording import Recording

from rota.core.executor import Fail, MapMember
from rota.core.outcome import Succeeded
from rota.executors.python import Handlers, PythonExecutor
from rota.executors.python.map_sources import ITEM_BATCH_MAX


def counting(context: Any, payload: Any) -> Iterator[int]:
    yield from range(payload)


async def counting_async(context: Any, payload: Any) -> AsyncIterator[int]:
    for number in range(payload):
        yield number


class Counting:
    async def __call__(self, _context: Any, payload: Any) -> AsyncIterator[int]:
        for number in range(payload):
            yield number


async def outcome_of(call: Callable[..., Any], payload: Any, context: Recording) -> Any:
    handlers = Handlers()
    handlers.handler("items")(call)
    executor = PythonExecutor(handlers)
    await executor.open()
    try:
        return await executor.run(executor.read("items", payload), context)
    finally:
        await executor.close()


@pytest.mark.parametrize(
    "call", [counting, counting_async, Counting()], ids=["def", "async def", "object"]
)
async def test_a_generator_is_a_source_that_hands_out_in_batches(call: Any) -> None:
    context = Recording()

    outcome = await outcome_of(call, 2 * ITEM_BATCH_MAX + 7, context)

    assert outcome == Succeeded(result={"items": 2 * ITEM_BATCH_MAX + 7})
    assert [item for batch in context.handed for item in batch] == list(
        range(2 * ITEM_BATCH_MAX + 7)
    )
    assert [len(batch) for batch in context.handed[:2]] == [ITEM_BATCH_MAX, ITEM_BATCH_MAX]


@pytest.mark.parametrize("call", [counting, counting_async], ids=["def", "async def"])
async def test_a_source_without_items_still_asks_whether_it_is_one(call: Any) -> None:
    context = Recording()

    await outcome_of(call, 0, context)

    assert context.handed == [[]]


@pytest.mark.parametrize("call", [counting, counting_async], ids=["def", "async def"])
async def test_a_source_that_may_not_hand_out_fails(call: Any) -> None:
    context = Recording()
    context.refusal = Fail("no source")

    with pytest.raises(Fail, match="no source"):
        await outcome_of(call, 3, context)


async def test_a_source_that_is_cancelled_hands_out_no_more() -> None:
    context = Recording()
    context.gate = asyncio.Event()
    running = asyncio.create_task(outcome_of(counting_async, 10 * ITEM_BATCH_MAX, context))
    await context.until(lambda: len(context.handed) == 1)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert len(context.handed) == 1


@pytest.mark.parametrize("isolation", ["none", "process"])
async def test_a_reducer_in_a_thread_or_a_process_goes_through_all_members(isolation: str) -> None:
    source = None if isolation == "none" else "tests.unit.executors.python.reducing:handlers"
    from tests.unit.executors.python.reducing import handlers, plain  # noqa: PLC0415

    executor = PythonExecutor(plain if source is None else handlers, source=source)
    context = Recording()
    context.members_of = [MapMember(n, "succeeded", {"n": n}) for n in range(5)]
    await executor.open()
    try:
        outcome = await executor.run(executor.read("sum", "each"), context)
    finally:
        await executor.close()

    assert outcome == Succeeded(result=10)
    # A page at a time, and one more to see that it was all.
    assert context.pages == [("each", -1), ("each", 1), ("each", 3), ("each", 4)]


async def test_a_source_in_a_process_hands_out_through_its_worker() -> None:
    from tests.unit.executors.python.reducing import handlers  # noqa: PLC0415

    executor = PythonExecutor(handlers, source="tests.unit.executors.python.reducing:handlers")
    context = Recording()
    await executor.open()
    try:
        outcome = await executor.run(executor.read("count", 1500), context)
    finally:
        await executor.close()

    assert outcome == Succeeded(result={"items": 1500})
    assert [len(batch) for batch in context.handed] == [1000, 500]
