"""Takes and releases uniqueness keys.

Taking a key locks its row until the transaction ends: of several concurrent callers, each sees the
result of the one before. Core decides whether a key is still held (core/uniqueness.py).
"""

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from rota.core.uniqueness import KeyHolderState
from rota.store.driver import Connection
from rota.store.live_runs import NewRun
from rota.store.statement import statement


class UniqueKeyRequest(NamedTuple):
    """The job or run that wants a key, and for how long at least."""

    tenant_id: int
    digest: bytes
    job_id: UUID
    run_id: UUID | None
    hold: timedelta


class UniqueKeyHolder(NamedTuple):
    """The job or run that holds a key; `is_held` is whether its period is still running."""

    job_id: UUID
    run_id: UUID | None
    is_held: bool


class HolderActivity(NamedTuple):
    waits: bool
    runs: bool


class KeyTransfer(NamedTuple):
    job_id: UUID


class ReplacedRun(NamedTuple):
    id: UUID


class PrunedUniqueKey(NamedTuple):
    tenant_id: int


TAKE = statement("uniqueness_keys/take", UniqueKeyHolder)
READ_STANDING = statement("uniqueness_keys/read_standing", HolderActivity)
HAND_OVER = statement("uniqueness_keys/transfer", KeyTransfer)
REPLACE = statement("uniqueness_keys/replace", ReplacedRun)
PRUNE = statement("uniqueness_keys/prune", PrunedUniqueKey)


async def take_key(conn: Connection, request: UniqueKeyRequest) -> UniqueKeyHolder | None:
    """Take a free key, or return its holder; the key is locked for the caller either way."""
    holder = await TAKE.one(conn, **request._asdict())
    if holder is None or (holder.job_id, holder.run_id) == (request.job_id, request.run_id):
        return None
    return holder


async def read_standing(
    conn: Connection, holder: UniqueKeyHolder, *, tenant_id: int
) -> KeyHolderState:
    """Return whether the holder of a key waits, runs, or is within its period."""
    found = await READ_STANDING.one(
        conn, tenant_id=tenant_id, job_id=holder.job_id, run_id=holder.run_id
    )
    if found is None:
        return KeyHolderState(waits=False, runs=False, in_period=holder.is_held)
    return KeyHolderState(waits=found.waits, runs=found.runs, in_period=holder.is_held)


async def transfer_key(conn: Connection, request: UniqueKeyRequest) -> None:
    """Assign a key that the caller has locked to its new holder."""
    await HAND_OVER.one(conn, **request._asdict())


async def replace_run(conn: Connection, id_: UUID, run: NewRun) -> bool:
    """Replace a run that waits for its first attempt with this one, under the same id."""
    row = await REPLACE.one(
        conn,
        id=id_,
        tenant_id=run.tenant_id,
        job_id=run.job_id,
        due_at=run.due_at,
        deadline_at=run.deadline_at,
        priority=run.priority,
        job_version=run.job_version,
        policy_id=run.policy_id,
        payload=run.payload,
        gates=list(run.gates) or None,
    )
    return row is not None


async def prune_keys(conn: Connection, *, limit: int) -> int:
    """Delete at most `most` keys that are no longer held; return how many."""
    return len(await PRUNE.all(conn, most=limit))
