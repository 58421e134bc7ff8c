"""Performs the database operations that an attempt may request while it runs.

These are checkpoints, items of a map, secrets, and transactions that commit the handler's own
effects together with the completion of the run (exactly once, E2). Connections belong to one
attempt loop, so each loop has its own effects; the pool is opened on first use.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from rota.core.errors import InvalidInput, LeaseLost, SecretsUnavailable
from rota.core.executor import MapMember
from rota.core.outcome import Failed, Succeeded
from rota.core.states import RunState
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.attempt_runner import encode_outcome
from rota.engine.execution.map_member_feed import MapMemberFeed, read_member_page
from rota.store import checkpoints, encrypted_secrets, live_runs
from rota.store.driver import Connection, Pool
from rota.store.graph_maps import AttemptFence
from rota.store.live_runs import RunEnding
from rota.store.pool import DatabaseAccess, open_pool

EFFECTS_POOL_SIZE: Final = 4
CHECKPOINT_BYTES_MAX: Final = 256_000


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
        self._handed_out = on_map_items
        self._master = get_master_key
        self.on_output = on_output
        self._access = access
        self._session_id = session_id
        self._pool: Pool | None = None
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def close(self) -> None:
        await self._stack.aclose()

    async def secrets(self, attempt: Attempt, names: Sequence[str]) -> Mapping[str, str]:
        master = self._master()
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
                on_items=self._handed_out,
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
