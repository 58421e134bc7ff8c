"""Pauses, resumes and cancels backfills (S13). Room: flow/submit.

Each is one transaction that holds the row of the backfill. A paused one starts nothing: its gate is
shut, by a rate that is paid for until long after everybody is gone, so that a claim passes over the
runs that wait at it and no run has to be touched. Cancelling ends what waits; the duty sees to the
rest (making.py).
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from rota.core.backfills import BackfillEvent, BackfillState, advance
from rota.core.limits import LONGEST_PERIOD, Limits, Rate
from rota.core.submission import canonical, check_name
from rota.core.time import moments
from rota.flow.submit.backfills.asking import gate_key
from rota.store import backfills, gates, live_runs
from rota.store.backfills import Backfill
from rota.store.driver import Connection
from rota.store.transaction import transaction

MOST_REASON: Final = 1_000
SHUT: Final = Rate(count=1, per=LONGEST_PERIOD)
# Far enough, and not so far that a year more is no date.
FOR_EVER: Final = datetime(9000, 1, 1, tzinfo=UTC)


class Running(StrEnum):
    """What becomes of the runs that somebody executes when their backfill is cancelled."""

    FINISH = "finish"
    CANCEL = "cancel"


async def pause(
    conn: Connection, *, tenant_id: int, backfill_id: UUID, by: str, now: datetime
) -> BackfillState:
    """Start no more of its runs; those that run may end."""
    async with transaction(conn):
        found = await backfills.lock(conn, backfill_id, tenant_id=tenant_id)
        state = advance(found.state, BackfillEvent.PAUSE)
        await backfills.change(conn, found, state, reason=_why("paused", by, now))
        await _limit(conn, found, Limits(most=found.at_once, rate=SHUT))
        await gates.pay(conn, {found.gate_id: FOR_EVER})
    return state


async def resume(conn: Connection, *, tenant_id: int, backfill_id: UUID) -> BackfillState:
    async with transaction(conn):
        found = await backfills.lock(conn, backfill_id, tenant_id=tenant_id)
        state = advance(found.state, BackfillEvent.RESUME)
        await backfills.change(conn, found, state)
        await _limit(conn, found, Limits(most=found.at_once))
    return state


async def cancel(  # noqa: PLR0913 — who, what, why, how and when
    conn: Connection,
    *,
    tenant_id: int,
    backfill_id: UUID,
    by: str,
    now: datetime,
    running: Running = Running.FINISH,
    reason: str | None = None,
) -> BackfillState:
    """Make no more runs, end those that wait, and ask those that run to stop if so wanted."""
    why = _why("cancelled", by, now, reason)
    async with transaction(conn):
        found = await backfills.lock(conn, backfill_id, tenant_id=tenant_id)
        state = advance(found.state, BackfillEvent.CANCEL)
        await backfills.change(conn, found, state, reason=why)
        if found.state is BackfillState.PAUSED:
            # One of its runs may be tried again one day.
            await _limit(conn, found, Limits(most=found.at_once))
        if running is Running.CANCEL:
            ids = await backfills.alive(conn, found.id)
        else:
            ids = await backfills.waiting(conn, found.id)
        if ids:
            await live_runs.cancel(conn, ids=ids, reason=why)
    return state


async def _limit(conn: Connection, found: Backfill, limits: Limits) -> None:
    await gates.put(conn, found.tenant_id, gate_key(found.id), limits)


def _why(code: str, by: str, now: datetime, reason: str | None = None) -> str:
    told: dict[str, object] = {
        "code": code,
        "by": check_name(by, "by"),
        "at": moments.rfc3339(now),
    }
    if reason is not None:
        told["reason"] = check_name(reason, "reason", most=MOST_REASON)
    return canonical(told)
