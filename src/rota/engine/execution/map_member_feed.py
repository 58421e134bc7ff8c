"""Feeds the items of a map source to its map, and reads map members.

A source yields the same items in the same order in every attempt. The map knows how many it already
has, so an attempt after a crash skips those and continues. While too many members are unfinished
the source waits here; this backpressure keeps a million items from piling up.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final
from uuid import UUID

import msgspec

from rota.core.errors import InvalidInput, LeaseLost
from rota.core.executor import Fail, MapMember
from rota.core.maps import MEMBER_BATCH_MAX, MEMBERS_MAX, UNFINISHED_MEMBERS_MAX, MapIdentity
from rota.engine.execution.attempt_runner import replace_nul, wait_until
from rota.store import graph_maps, graph_views
from rota.store.driver import Connection
from rota.store.graph_maps import AttemptFence, MapSourceRow

ITEM_LENGTH_MAX: Final = 256_000
# Characters in one row of items, which is read and written as a whole.
ITEM_ROW_LENGTH_MAX: Final = 1_000_000
MEMBER_PAGE_SIZE: Final = 500
FEED_REST_MIN_S: Final = 0.02
FEED_REST_MAX_S: Final = 0.5
NOT_A_MAP_SOURCE: Final = (
    "this run is not a map source; only a map source may yield or hand out items"
)

OpenConnection = Callable[[], AbstractAsyncContextManager[Connection]]


class MapMemberFeed:
    """One attempt of a source: how many items it has yielded, and how many the map has. Calls
    `on_items` after adding items; stops waiting once it `is_stopped`.
    """

    def __init__(
        self,
        connect: OpenConnection,
        fence: AttemptFence,
        *,
        on_items: Callable[[], object],
        is_stopped: Callable[[], bool],
    ) -> None:
        self._connect = connect
        self._fence = fence
        self._handed = on_items
        self._is_stopped = is_stopped
        self._source: MapSourceRow | None = None
        self._yielded = 0

    async def add_items(self, items: Sequence[object]) -> None:
        source = self._source or await self._find_source()
        known = max(0, min(source.handed - self._yielded, len(items)))
        self._yielded += known
        for row, number in split_rows(items[known:], first=self._yielded):
            if self._yielded + number > MEMBERS_MAX:
                raise Fail(
                    f"map source yielded too many items: at most {MEMBERS_MAX:,} are allowed"
                )
            await self._store_row(row, number)
            self._yielded += number

    async def _find_source(self) -> MapSourceRow:
        async with self._connect() as conn:
            found = await graph_maps.find_source(conn, self._fence)
        if found is None:
            raise Fail(NOT_A_MAP_SOURCE)
        self._source = found
        return found

    async def _store_row(self, row: str, number: int) -> None:
        rest = FEED_REST_MIN_S
        while True:
            source = self._source or await self._find_source()
            async with self._connect() as conn:
                kept = await graph_maps.store_items(
                    conn, source, self._fence, items=row, number=number, room=UNFINISHED_MEMBERS_MAX
                )
            if kept:
                break
            if self._is_stopped():
                # A thread that waits here learns of the stop in no other way.
                raise LeaseLost(thing="run", id=self._fence.id)
            await wait_until(asyncio.get_running_loop().time() + rest)
            rest = min(2 * rest, FEED_REST_MAX_S)
        self._source = source._replace(handed=source.handed + number)
        self._handed()


def split_rows(items: Sequence[object], *, first: int) -> Iterator[tuple[str, int]]:
    """Yield items as JSON lists within the size limits, with the number of items in each."""
    texts: list[str] = []
    size = 0
    for place, item in enumerate(items, start=first):
        text = encode_item(item, place)
        if len(texts) >= MEMBER_BATCH_MAX or size + len(text) > ITEM_ROW_LENGTH_MAX:
            yield f"[{','.join(texts)}]", len(texts)
            texts, size = [], 0
        texts.append(text)
        size += len(text)
    if texts:
        yield f"[{','.join(texts)}]", len(texts)


def encode_item(item: object, index: int) -> str:
    try:
        text = replace_nul(msgspec.json.encode(item).decode())
    except Exception as error:
        raise Fail(f"item {index} cannot be encoded as JSON: {error}") from error
    if len(text) > ITEM_LENGTH_MAX:
        raise InvalidInput(
            f"item {index}", f"{len(text)} characters", f"must be at most {ITEM_LENGTH_MAX}"
        )
    return text


async def read_member_page(
    connect: OpenConnection, run_id: UUID, step: str, after: int
) -> list[MapMember]:
    """Return the next members of a map in the graph run that this run is a step of."""
    async with connect() as conn:
        which = await find_map(conn, run_id, step)
        ended = await graph_maps.read_results(conn, which, after=after, limit=MEMBER_PAGE_SIZE)
    return [
        MapMember(
            index=member.member,
            state=member.state.value,
            result=None if member.result is None else msgspec.json.decode(member.result),
        )
        for member in ended
    ]


async def find_map(conn: Connection, run_id: UUID, step: str) -> MapIdentity:
    """Return the map with this step name in the graph run of a run."""
    place = await graph_views.find_map(conn, run_id=run_id, step=step)
    if place is None:
        raise Fail(f"map {step!r} not found in the graph of this run")
    return place
