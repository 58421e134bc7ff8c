"""What an attempt does with maps: hands out items as a source, reads members. Room: flow/execute.

A source gives the same items in the same order in every attempt. The map knows how many it has
already, so an attempt after a crash passes those over and goes on. While too many members are
unfinished the source waits here, which is what keeps a million items from piling up.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final
from uuid import UUID

import msgspec

from rota.core.errors import InvalidInput, LeaseLost
from rota.core.executor import Fail, Member
from rota.core.maps import BATCH, MOST_MEMBERS, WINDOW, Which
from rota.flow.execute.performing import reach, without_nul
from rota.store import graph_maps, graph_views
from rota.store.driver import Connection
from rota.store.graph_maps import Fence, Source

MOST_ITEM: Final = 256_000
# A row of items is read and written as a whole.
MOST_ROW: Final = 1_000_000
PAGE: Final = 500
SHORTEST_REST: Final = 0.02
LONGEST_REST: Final = 0.5
NO_SOURCE: Final = "this run is not the source of a map: only such a handler may yield or hand out"

Connect = Callable[[], AbstractAsyncContextManager[Connection]]


class Handing:
    """One attempt of a source: how many items it has given, and how many the map has. `handed` is
    called when it gave some; once it `is_stopped`, it waits no longer.
    """

    def __init__(
        self,
        connect: Connect,
        fence: Fence,
        *,
        handed: Callable[[], object],
        is_stopped: Callable[[], bool],
    ) -> None:
        self._connect = connect
        self._fence = fence
        self._handed = handed
        self._is_stopped = is_stopped
        self._source: Source | None = None
        self._given = 0

    async def hand_out(self, items: Sequence[object]) -> None:
        source = self._source or await self._find()
        known = max(0, min(source.handed - self._given, len(items)))
        self._given += known
        for row, number in rows(items[known:], first=self._given):
            if self._given + number > MOST_MEMBERS:
                raise Fail(f"a map has at most {MOST_MEMBERS:,} members")
            await self._keep(row, number)
            self._given += number

    async def _find(self) -> Source:
        async with self._connect() as conn:
            found = await graph_maps.source(conn, self._fence)
        if found is None:
            raise Fail(NO_SOURCE)
        self._source = found
        return found

    async def _keep(self, row: str, number: int) -> None:
        rest = SHORTEST_REST
        while True:
            source = self._source or await self._find()
            async with self._connect() as conn:
                kept = await graph_maps.hand_out(
                    conn, source, self._fence, items=row, number=number, room=WINDOW
                )
            if kept:
                break
            if self._is_stopped():
                # A thread that waits here hears of it in no other way.
                raise LeaseLost(thing="run", id=self._fence.id)
            await reach(asyncio.get_running_loop().time() + rest)
            rest = min(2 * rest, LONGEST_REST)
        self._source = source._replace(handed=source.handed + number)
        self._handed()


def rows(items: Sequence[object], *, first: int) -> Iterator[tuple[str, int]]:
    """Items as JSON lists that are neither too long nor too large, and how many are in each."""
    texts: list[str] = []
    size = 0
    for place, item in enumerate(items, start=first):
        text = item_text(item, place)
        if len(texts) >= BATCH or size + len(text) > MOST_ROW:
            yield f"[{','.join(texts)}]", len(texts)
            texts, size = [], 0
        texts.append(text)
        size += len(text)
    if texts:
        yield f"[{','.join(texts)}]", len(texts)


def item_text(item: object, place: int) -> str:
    try:
        text = without_nul(msgspec.json.encode(item).decode())
    except Exception as error:
        raise Fail(f"item {place} cannot be written as JSON: {error}") from error
    if len(text) > MOST_ITEM:
        raise InvalidInput(f"item {place}", f"{len(text)} characters", f"at most {MOST_ITEM}")
    return text


async def page_of(connect: Connect, run_id: UUID, step: str, after: int) -> list[Member]:
    """The next members of a map of the graph run that a run is a step of."""
    async with connect() as conn:
        which = await find_map(conn, run_id, step)
        ended = await graph_maps.results(conn, which, after=after, most=PAGE)
    return [
        Member(
            index=each.member,
            state=each.state.value,
            result=None if each.result is None else msgspec.json.decode(each.result),
        )
        for each in ended
    ]


async def find_map(conn: Connection, run_id: UUID, step: str) -> Which:
    """The map that a step's run means by a name."""
    place = await graph_views.place_of(conn, run_id=run_id, step=step)
    if place is None:
        raise Fail(f"there is no map {step!r} in the graph of this run")
    return place
