"""Cancels runs: one, or many of a filter (E11, semantics 10). Room: flow/submit.

What waits ends at once; what runs is asked to stop, and its worker hears of it by the hint CANCELS,
which the caller gives once this has committed, or else with its next heartbeat. Force ends it now:
the result of its worker is refused by the fence. Stopping an attempt is flow/execute.
"""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.bulk import RunFilter
from rota.core.errors import IllegalMove, InvalidInput
from rota.core.states import FINAL, RunEvent, RunState
from rota.core.submission import canonical, check_name
from rota.core.time import moments
from rota.flow.submit import bulk
from rota.flow.submit.bulk import Action, Counted, Done
from rota.store import live_runs, revival
from rota.store.driver import Connection
from rota.store.transaction import transaction

MOST_REASON: Final = 1_000
CANCEL: Final = Action(name="cancel", find=revival.find_alive)


class Cancelled(NamedTuple):
    """The state a run is in now: cancelled, or cancelling if somebody executes it."""

    state: RunState


async def cancel(  # noqa: PLR0913 — who, what, why, how and when
    conn: Connection,
    *,
    tenant_id: int,
    run_id: UUID,
    by: str,
    reason: str | None = None,
    force: bool = False,
    now: datetime,
) -> Cancelled:
    """Cancel one run; `IllegalMove` if it has finished, whichever came first."""
    why = _why(by, reason, now, force=force)
    async with transaction(conn):
        run = await revival.find(conn, run_id, tenant_id=tenant_id)
        if run.state not in FINAL:
            if force and await live_runs.cancel_now(conn, ids=[run_id], reason=why):
                return Cancelled(RunState.CANCELLED)
            moved = [] if force else await live_runs.cancel(conn, ids=[run_id], reason=why)
            if moved:
                return Cancelled(moved[0].state)
            # It finished between the two statements; now it says as what.
            run = await revival.find(conn, run_id, tenant_id=tenant_id)
        event = RunEvent.FORCE_CANCEL if force else RunEvent.CANCEL
        raise IllegalMove("run", run.state.value, event.value)


async def count_cancellable(
    conn: Connection, which: RunFilter, *, tenant_id: int, now: datetime
) -> Counted:
    """The dry run of `cancel_many`."""
    _refuse_error(which)
    return await bulk.count(conn, CANCEL, which, tenant_id=tenant_id, now=now)


async def cancel_many(
    conn: Connection,
    which: RunFilter,
    *,
    tenant_id: int,
    token: str,
    by: str,
    most: int = 1_000,
) -> Done:
    """Cancel at most `most` of the runs that a dry run counted, the oldest first."""
    _refuse_error(which)
    why = canonical({"code": "cancelled", "by": check_name(by, "by"), "bulk": True})
    async with transaction(conn):
        chosen = await bulk.choose(conn, CANCEL, which, tenant_id=tenant_id, token=token, most=most)
        moved = await live_runs.cancel(conn, ids=chosen.ids, reason=why)
    return chosen.done([run.id for run in moved])


def _why(by: str, reason: str | None, now: datetime, *, force: bool) -> str:
    told: dict[str, object] = {
        "code": "cancelled",
        "by": check_name(by, "by"),
        "at": moments.rfc3339(now),
    }
    if reason is not None:
        told["reason"] = check_name(reason, "reason", most=MOST_REASON)
    if force:
        told["forced"] = True
    return canonical(told)


def _refuse_error(which: RunFilter) -> None:
    if which.error is not None:
        raise InvalidInput("filter.error", which.error, "no error: these runs have not failed")
    if which.fingerprint is not None:
        wanted = "no fingerprint: these runs have not failed"
        raise InvalidInput("filter.fingerprint", which.fingerprint, wanted)
