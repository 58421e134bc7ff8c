"""Submits runs with unique keys: the first becomes a run, the others return that run (E16).

In the caller's transaction, each key is taken and locked first, then its previous holder is
checked, then a run is created or not. Keys are taken in the order of their hashes, so that two
batches with the same keys wait for each other and do not deadlock. core/uniqueness.py decides
whether a key is still held; job_submission.py writes jobs, run_triggers.py writes runs.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import Conflict, InvalidInput
from rota.core.submissions import fill_key
from rota.core.uniqueness import KeyHolderState, OnConflict, UniqueRule, digest_key, is_held
from rota.store import live_runs, uniqueness_keys
from rota.store.driver import Connection
from rota.store.live_runs import NewRun
from rota.store.uniqueness_keys import UniqueKeyHolder, UniqueKeyRequest

NO_HOLD: Final = timedelta(0)


class UniqueResult(NamedTuple):
    """The result of a submission: a new run, or the run that holds the key. The latter may have
    been replaced with the data of the submission.
    """

    job_id: UUID
    run_id: UUID
    is_new: bool
    is_replaced: bool = False


class RunWithKey(NamedTuple):
    """A run to create, and its unique rule and key if it has one."""

    run: NewRun
    rule: UniqueRule | None = None
    key: str = ""


class NewKeyHolder(NamedTuple):
    """A job to create. `run_id` is its run if both are created together."""

    tenant_id: int
    job_id: UUID
    run_id: UUID | None
    rule: UniqueRule
    key: str


def build_key(rule: UniqueRule | None, payload: object) -> str:
    """Return the unique key of a submission with this payload; empty without a rule."""
    return "" if rule is None else fill_key(rule.key, payload, "unique.key")


def build_job_key(rule: UniqueRule | None, payload: object) -> str:
    """Return the unique key of a job. `replace` applies to runs only: an edit changes a job."""
    if rule is not None and rule.on_conflict is OnConflict.REPLACE:
        wanted = "expected return or reject; only the runs of a job can replace each other"
        raise InvalidInput("unique.on_conflict", rule.on_conflict.value, wanted)
    return build_key(rule, payload)


async def create_unique_runs(conn: Connection, runs: Sequence[RunWithKey]) -> list[UniqueResult]:
    """Create the runs whose keys are free; return one result per run, in the same order."""
    plain = [item.run for item in runs if item.rule is None]
    created = set(await live_runs.insert_runs(conn, plain) if plain else [])
    answers = [UniqueResult(run.job_id, run.id, run.id in created) for run, _, _ in runs]
    hashed = [(digest_key(item.key), place) for place, item in enumerate(runs) if item.rule]
    for hash_, place in sorted(hashed):
        answers[place] = await _submit_with_key(conn, runs[place], hash_)
    return answers


async def take_job_keys(
    conn: Connection, wanted: Sequence[NewKeyHolder]
) -> dict[UUID, UniqueKeyHolder]:
    """Take the unique keys of new jobs. Return the holders of keys that are taken, by the id that
    the new job would have had.
    """
    found: dict[UUID, UniqueKeyHolder] = {}
    hashed = [(item.tenant_id, digest_key(item.key), place) for place, item in enumerate(wanted)]
    for tenant_id, hash_, place in sorted(hashed):
        item = wanted[place]
        hold = item.rule.within or NO_HOLD
        wish = UniqueKeyRequest(tenant_id, hash_, item.job_id, item.run_id, hold)
        holder = await _take_key(conn, wish, item.rule)
        if holder is not None and item.rule.on_conflict is OnConflict.REJECT:
            raise _conflict(holder[0], item.key)
        if holder is not None:
            found[item.job_id] = holder[0]
    return found


async def _submit_with_key(conn: Connection, item: RunWithKey, hash_: bytes) -> UniqueResult:
    run, rule, key = item
    if rule is None:
        raise TypeError("a run without a unique rule has no key")
    wish = UniqueKeyRequest(run.tenant_id, hash_, run.job_id, run.id, rule.within or NO_HOLD)
    taken = await _take_key(conn, wish, rule)
    if taken is None:
        return UniqueResult(run.job_id, run.id, run.id in await live_runs.insert_runs(conn, [run]))
    holder, standing = taken
    if rule.on_conflict is OnConflict.REPLACE:
        return await _replace_run(conn, run, holder, key)
    if rule.on_conflict is OnConflict.REJECT or holder.run_id is None:
        # A job that waits for its first tick has no run to return.
        raise _conflict(holder, key, standing)
    return UniqueResult(holder.job_id, holder.run_id, is_new=False)


async def _take_key(
    conn: Connection, wish: UniqueKeyRequest, rule: UniqueRule
) -> tuple[UniqueKeyHolder, KeyHolderState] | None:
    """Take a key. Return None on success, otherwise the holder and its standing."""
    holder = await uniqueness_keys.take_key(conn, wish)
    if holder is None:
        return None
    standing = await uniqueness_keys.read_standing(conn, holder, tenant_id=wish.tenant_id)
    if is_held(standing, rule.held_while):
        return holder, standing
    await uniqueness_keys.transfer_key(conn, wish)
    return None


async def _replace_run(
    conn: Connection, run: NewRun, holder: UniqueKeyHolder, key: str
) -> UniqueResult:
    """Replace the data of the run that holds the key. Only a run that waits for its first attempt
    can be replaced; otherwise raise `Conflict`, so that the submission is not lost silently.
    """
    id_ = holder.run_id
    if id_ is None or not await uniqueness_keys.replace_run(conn, id_, run):
        raise _conflict(holder, key)
    return UniqueResult(run.job_id, id_, is_new=False, is_replaced=True)


def _conflict(
    holder: UniqueKeyHolder, key: str, standing: KeyHolderState | None = None
) -> Conflict:
    thing = f"job {holder.job_id}" if holder.run_id is None else f"run {holder.run_id}"
    is_running = standing is not None and standing.runs
    return Conflict(
        thing, f"holds the unique key {key!r}" + (" and is running" if is_running else "")
    )
