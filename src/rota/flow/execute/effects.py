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
from rota.flow.execute.attempt import Attempt
from rota.flow.execute.handing import Handing, page_of
from rota.flow.execute.performing import result_of
from rota.store import checkpoints, encrypted_secrets, live_runs
from rota.store.driver import Connection, Pool
from rota.store.graph_maps import AttemptFence
from rota.store.live_runs import RunEnding
from rota.store.pool import DatabaseAccess, open_pool

POOL_SIZE: Final = 4
MOST_CHECKPOINT: Final = 256_000


class StageEffects:
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
        noted: Callable[[Attempt], None],
        handed_out: Callable[[], object] = lambda: None,
        master: Callable[[], bytes | None] = lambda: None,
    ) -> None:
        self.now = now
        self._handed_out = handed_out
        self._master = master
        self.noted = noted
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
        if attempt.veil is not None:
            attempt.veil.refuse(value, "checkpoint")
        encoded = msgspec.json.encode(value)
        if len(encoded) > MOST_CHECKPOINT:
            raise InvalidInput(
                "checkpoint", len(encoded), f"must be at most {MOST_CHECKPOINT} bytes"
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
        encoded = encoded_result(result)
        if attempt.veil is not None:
            encoded = attempt.veil.over_json(encoded)
        async with (await self._connections()).acquire() as conn, conn.transaction():
            # Errors of the handler pass through unchanged: the store has not failed.
            yield conn
            await self._complete(conn, attempt, encoded)
        attempt.is_recorded = True

    async def hand_out(self, attempt: Attempt, items: Sequence[object]) -> None:
        if attempt.veil is not None:
            attempt.veil.refuse(items, "items")
        if attempt.handing is None:
            fence = AttemptFence(attempt.run_id, attempt.attempt, self._session_id)
            attempt.handing = Handing(
                self._connect,
                fence,
                handed=self._handed_out,
                is_stopped=lambda: attempt.cancelled,
            )
        await attempt.handing.hand_out(items)

    async def members(self, attempt: Attempt, step: str, after: int) -> list[MapMember]:
        return await page_of(self._connect, attempt.run_id, step, after)

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
                    open_pool(self._access, size=POOL_SIZE)
                )
        return self._pool


def encoded_result(result: object) -> str | None:
    """Return the result as JSON, validated before the transaction starts."""
    outcome, text = result_of(Succeeded(result=result))
    if isinstance(outcome, Failed):
        raise InvalidInput("result", result, f"must be a JSON value: {outcome.failure.message}")
    return text
