"""Performs the database operations that an attempt may request while it runs.

These are checkpoints, items of a map, secrets, and transactions that commit the handler's own
effects together with the completion of the run (exactly once, E2). Connections belong to one
attempt loop, so each loop has its own effects; the pool is opened on first use.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from rota.core.errors import InvalidInput, LeaseLost, SecretsUnavailable
from rota.core.executor import Fail, MapMember
from rota.core.maps import MEMBER_BATCH_MAX, MEMBERS_MAX, UNFINISHED_MEMBERS_MAX, MapIdentity
from rota.core.outcome import Failed, Succeeded
from rota.core.states import RunState
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.pipeline import encode_outcome, replace_nul, wait_until
from rota.store import checkpoints, encrypted_secrets, graph_maps, graph_views, live_runs
from rota.store.driver import Connection, Pool
from rota.store.graph_maps import AttemptFence, MapSourceRow
from rota.store.live_runs import RunEnding
from rota.store.pool import DatabaseAccess, open_pool

EFFECTS_POOL_SIZE: Final = 4
CHECKPOINT_BYTES_MAX: Final = 256_000
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


class DatabaseEffects:
    """`on_output` is called with attempts that have output or progress to store, `on_map_items`
    when a map source has added items; `get_master_key` returns the key that decrypts secrets, if
    there is one.
    """

    def __init__(
        self,
        access: DatabaseAccess,
        *,
        session_id: UUID,
        now: Callable[[], datetime],
        on_output: Callable[[Attempt], None],
        on_map_items: Callable[[], object] = lambda: None,
        get_master_key: Callable[[], bytes | None] = lambda: None,
    ) -> None:
        self.now = now
        self._on_map_items = on_map_items
        self._get_master_key = get_master_key
        self.on_output = on_output
        self._access = access
        self._session_id = session_id
        self._pool: Pool | None = None
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def close(self) -> None:
        await self._stack.aclose()

    async def secrets(self, attempt: Attempt, names: Sequence[str]) -> Mapping[str, str]:
        master = self._get_master_key()
        if master is None:
            raise SecretsUnavailable(
                reason="this worker has no master key",
                remedy="set api.master_key to the same key file as on the API server",
            )
        async with (await self._connections()).acquire() as conn:
            return await encrypted_secrets.decrypt_for_worker(
                conn, tenant_id=attempt.run.tenant_id, names=names, master=master
            )

    async def checkpoint(self, attempt: Attempt, value: object) -> None:
        if attempt.secret_mask is not None:
            attempt.secret_mask.reject_secrets(value, "checkpoint")
        encoded = msgspec.json.encode(value)
        if len(encoded) > CHECKPOINT_BYTES_MAX:
            raise InvalidInput(
                "checkpoint", len(encoded), f"must be at most {CHECKPOINT_BYTES_MAX} bytes"
            )
        async with (await self._connections()).acquire() as conn:
            await checkpoints.save_checkpoint(
                conn,
                run_id=attempt.run_id,
                attempt=attempt.attempt,
                session_id=self._session_id,
                checkpoint=encoded.decode(),
            )

    async def resume(self, attempt: Attempt) -> Any:
        if attempt.attempt == 1:
            return None
        async with (await self._connections()).acquire() as conn:
            note = (await checkpoints.get_notes(conn, [attempt.run_id])).get(attempt.run_id)
        if note is None or note.checkpoint is None:
            return None
        return msgspec.json.decode(note.checkpoint)

    @asynccontextmanager
    async def transaction(
        self, attempt: Attempt, result: object = None
    ) -> AsyncIterator[Connection]:
        """Return a connection in a transaction that also completes the run: both happen, or
        neither.

        The fence is checked last: if this worker no longer holds the attempt, or the run was
        cancelled, the transaction is rolled back and `LeaseLost` is raised.
        """
        encoded = encode_result(result)
        if attempt.secret_mask is not None:
            encoded = attempt.secret_mask.mask_json(encoded)
        async with (await self._connections()).acquire() as conn, conn.transaction():
            # Errors of the handler pass through unchanged: the store has not failed.
            yield conn
            await self._complete(conn, attempt, encoded)
        attempt.is_recorded = True

    async def add_map_items(self, attempt: Attempt, items: Sequence[object]) -> None:
        if attempt.secret_mask is not None:
            attempt.secret_mask.reject_secrets(items, "items")
        if attempt.map_feed is None:
            fence = AttemptFence(attempt.run_id, attempt.attempt, self._session_id)
            attempt.map_feed = MapMemberFeed(
                self._connect,
                fence,
                on_items=self._on_map_items,
                is_stopped=lambda: attempt.cancelled,
            )
        await attempt.map_feed.add_items(items)

    async def read_members(self, attempt: Attempt, step: str, after: int) -> list[MapMember]:
        return await read_member_page(self._connect, attempt.run_id, step, after)

    async def _complete(self, conn: Connection, attempt: Attempt, result: str | None) -> None:
        ending = RunEnding(attempt.run_id, attempt.attempt, RunState.SUCCEEDED, None, result)
        moved = await live_runs.finish_runs(conn, session_id=self._session_id, endings=[ending])
        if moved.get(attempt.run_id) is not RunState.SUCCEEDED:
            raise LeaseLost(thing="run", id=attempt.run_id)

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[Connection]:
        async with (await self._connections()).acquire() as conn:
            yield conn

    async def _connections(self) -> Pool:
        async with self._opening:
            if self._pool is None:
                self._pool = await self._stack.enter_async_context(
                    open_pool(self._access, size=EFFECTS_POOL_SIZE)
                )
        return self._pool


def encode_result(result: object) -> str | None:
    """Return the result as JSON, validated before the transaction starts."""
    outcome, text = encode_outcome(Succeeded(result=result))
    if isinstance(outcome, Failed):
        raise InvalidInput("result", result, f"must be a JSON value: {outcome.failure.message}")
    return text


class MapMemberFeed:
    """Feeds the items of a map source to its map, for one attempt of the source.

    A source yields the same items in the same order in every attempt. The map knows how many it
    already has, so an attempt after a crash skips those and continues. While too many members are
    unfinished the source waits here; this backpressure keeps a million items from piling up. Calls
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
        self._on_items = on_items
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
        self._on_items()


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
