"""Turns generator functions into handlers that feed maps.

Items are handed out in batches of 1,000, so that a million items cost a thousand transactions and
little memory. A slow generator hands out its batch with the first item after one second. The engine
stores the items and decides how long to wait while too many members are unfinished.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from time import monotonic
from typing import Any, Final

ITEM_BATCH_MAX: Final = 1_000
ITEM_BATCH_AGE_MAX_S: Final = 1.0


class ItemBatch:
    """Collects items until a batch is full or one second old."""

    def __init__(self) -> None:
        self.handed = 0
        self._items: list[object] = []
        self._since = monotonic()

    def add(self, item: object) -> bool:
        """Add an item; return whether the batch should be handed out."""
        self._items.append(item)
        return (
            len(self._items) >= ITEM_BATCH_MAX or monotonic() - self._since >= ITEM_BATCH_AGE_MAX_S
        )

    def take(self) -> list[object]:
        items, self._items = self._items, []
        self.handed += len(items)
        self._since = monotonic()
        return items


def is_generator(call: object) -> bool:
    """Return whether calling it returns a generator, sync or async."""
    return _matches(call, inspect.isgeneratorfunction) or is_async_generator(call)


def is_async_generator(call: object) -> bool:
    return _matches(call, inspect.isasyncgenfunction)


def wrap_generator(call: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Wrap a generator function in a handler that returns the number of items."""
    return _async_source(call) if is_async_generator(call) else _sync_source(call)


def _async_source(call: Callable[[Any, Any], AsyncIterator[object]]) -> Callable[[Any, Any], Any]:
    async def hand_out(context: Any, payload: Any) -> dict[str, int]:
        batch = ItemBatch()
        async for item in call(context, payload):
            if batch.add(item):
                await context.hand_out(batch.take())
        # Also with an empty batch: a run that is not a source fails even if it yields nothing.
        await context.hand_out(batch.take())
        return {"items": batch.handed}

    return hand_out


def _sync_source(call: Callable[[Any, Any], Iterator[object]]) -> Callable[[Any, Any], Any]:
    def hand_out(context: Any, payload: Any) -> dict[str, int]:
        batch = ItemBatch()
        for item in call(context, payload):
            if batch.add(item):
                context.hand_out(batch.take())
        context.hand_out(batch.take())
        return {"items": batch.handed}

    return hand_out


def _matches(call: object, predicate: Callable[[object], bool]) -> bool:
    # An object whose __call__ yields counts as well.
    return predicate(call) or predicate(getattr(call, "__call__", None))  # noqa: B004
