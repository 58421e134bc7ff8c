"""Handlers that yield: the sources of maps. Room: executors/python.

What a generator yields is handed out in batches, so that a million items cost a thousand
transactions and no memory to speak of. A slow generator does not keep its items back for long:
after a second the next item takes along what has gathered. How items are stored, and how long to
wait while too many members are unfinished, is the engine's.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from time import monotonic
from typing import Any, Final

BATCH: Final = 1_000
LONGEST_WAIT: Final = 1.0


class Gathering:
    """Items on their way."""

    def __init__(self) -> None:
        self.handed = 0
        self._items: list[object] = []
        self._since = monotonic()

    def add(self, item: object) -> bool:
        """Whether it is time to hand out."""
        self._items.append(item)
        return len(self._items) >= BATCH or monotonic() - self._since >= LONGEST_WAIT

    def take(self) -> list[object]:
        items, self._items = self._items, []
        self.handed += len(items)
        self._since = monotonic()
        return items


def yields(call: object) -> bool:
    """Whether calling it gives a generator, of either sort."""
    return _is(call, inspect.isgeneratorfunction) or yields_async(call)


def yields_async(call: object) -> bool:
    return _is(call, inspect.isasyncgenfunction)


def handing_out(call: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The generator function as a handler that returns how many items it gave."""
    return _async_source(call) if yields_async(call) else _sync_source(call)


def _async_source(call: Callable[[Any, Any], AsyncIterator[object]]) -> Callable[[Any, Any], Any]:
    async def hand_out(context: Any, payload: Any) -> dict[str, int]:
        gathering = Gathering()
        async for item in call(context, payload):
            if gathering.add(item):
                await context.hand_out(gathering.take())
        # Also when nothing is left: a run that is no source is told so even if it yields nothing.
        await context.hand_out(gathering.take())
        return {"items": gathering.handed}

    return hand_out


def _sync_source(call: Callable[[Any, Any], Iterator[object]]) -> Callable[[Any, Any], Any]:
    def hand_out(context: Any, payload: Any) -> dict[str, int]:
        gathering = Gathering()
        for item in call(context, payload):
            if gathering.add(item):
                context.hand_out(gathering.take())
        context.hand_out(gathering.take())
        return {"items": gathering.handed}

    return hand_out


def _is(call: object, question: Callable[[object], bool]) -> bool:
    # An object whose __call__ yields is as good as a function.
    return question(call) or question(getattr(call, "__call__", None))  # noqa: B004 — its own method
