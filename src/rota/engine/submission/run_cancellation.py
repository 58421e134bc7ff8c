"""Cancels one run, or the runs that match a filter (E11, semantics 10).

A waiting run ends at once. A running run is asked to stop: its worker learns of it from the hint
CANCELS, which the caller sends after the commit, or from its next heartbeat. `force` ends a running
run now; the fence then refuses the result of its worker. engine/execution stops the attempt.
"""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.bulk_operations import BulkRunFilter
from rota.core.errors import IllegalMove, InvalidInput
from rota.core.states import FINAL_STATES, RunEvent, RunState
from rota.core.submissions import check_name, encode_canonical
from rota.core.time import moments
from rota.engine.submission import bulk_actions
from rota.engine.submission.bulk_actions import BulkAction, BulkCount, BulkResult
from rota.store import live_runs, requeue
from rota.store.driver import Connection
from rota.store.transaction import transaction

REASON_CHARS_MAX: Final = 1_000
CANCEL_ACTION: Final = BulkAction(name="cancel", find=requeue.find_alive)


class CancelledRun(NamedTuple):
    """The state of the run after the call: cancelled, or cancelling if a worker executes it."""

    state: RunState


async def cancel_run(  # noqa: PLR0913 — who, what, why, how and when
    conn: Connection,
    *,
    tenant_id: int,
    run_id: UUID,
    by: str,
    reason: str | None = None,
    force: bool = False,
    now: datetime,
) -> CancelledRun:
    """Cancel one run. Raise `IllegalMove` if it has finished."""
    why = _reason_text(by, reason, now, force=force)
    async with transaction(conn):
        run = await requeue.find_run(conn, run_id, tenant_id=tenant_id)
        if run.state not in FINAL_STATES:
            if force and await live_runs.cancel_runs_now(conn, ids=[run_id], reason=why):
                return CancelledRun(RunState.CANCELLED)
            moved = [] if force else await live_runs.cancel_runs(conn, ids=[run_id], reason=why)
            if moved:
                return CancelledRun(moved[0].state)
            # The run finished between the two statements: read its final state.
            run = await requeue.find_run(conn, run_id, tenant_id=tenant_id)
        event = RunEvent.FORCE_CANCEL if force else RunEvent.CANCEL
        raise IllegalMove("run", run.state.value, event.value, ["active"])


async def count_cancellable(
    conn: Connection, filter_: BulkRunFilter, *, tenant_id: int, now: datetime
) -> BulkCount:
    """Do the dry run of `cancel_runs`."""
    _refuse_error(filter_)
    return await bulk_actions.count_runs(conn, CANCEL_ACTION, filter_, tenant_id=tenant_id, now=now)


async def cancel_runs(
    conn: Connection,
    filter_: BulkRunFilter,
    *,
    tenant_id: int,
    token: str,
    by: str,
    limit: int = 1_000,
) -> BulkResult:
    """Cancel at most `limit` of the runs that a dry run counted, oldest first."""
    _refuse_error(filter_)
    why = encode_canonical({"code": "cancelled", "by": check_name(by, "by"), "bulk": True})
    async with transaction(conn):
        chosen = await bulk_actions.choose_runs(
            conn, CANCEL_ACTION, filter_, tenant_id=tenant_id, token=token, limit=limit
        )
        moved = await live_runs.cancel_runs(conn, ids=chosen.ids, reason=why)
    return chosen.build_result([run.id for run in moved])


def _reason_text(by: str, reason: str | None, now: datetime, *, force: bool) -> str:
    details: dict[str, object] = {
        "code": "cancelled",
        "by": check_name(by, "by"),
        "at": moments.to_rfc3339(now),
    }
    if reason is not None:
        details["reason"] = check_name(reason, "reason", max_length=REASON_CHARS_MAX)
    if force:
        details["forced"] = True
    return encode_canonical(details)


def _refuse_error(which: BulkRunFilter) -> None:
    if which.error is not None:
        wanted = "active runs have no error; remove this filter"
        raise InvalidInput("filter.error", which.error, wanted)
    if which.fingerprint is not None:
        wanted = "active runs have no error fingerprint; remove this filter"
        raise InvalidInput("filter.fingerprint", which.fingerprint, wanted)
