"""Pauses, resumes and cancels backfills (S13).

Each call is one transaction that locks the row of the backfill. A paused backfill starts nothing:
its gate is shut by a rate that is used up until the year 9000, so that claims skip its waiting runs
and no run has to be changed. Cancelling ends waiting runs; the duty in advancer.py does the rest.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from rota.core.backfills import BackfillEvent, BackfillState, advance_backfill
from rota.core.limits import RATE_PERIOD_MAX, GateLimits, RateLimit
from rota.core.submissions import check_name, encode_canonical
from rota.core.time import moments
from rota.engine.submission.backfills.requests import backfill_gate_key
from rota.store import backfills, gates, live_runs
from rota.store.backfills import Backfill
from rota.store.driver import Connection
from rota.store.transaction import transaction

REASON_CHARS_MAX: Final = 1_000
SHUT_RATE: Final = RateLimit(count=1, per=RATE_PERIOD_MAX)
# Far in the future, but early enough that a year later is still a valid date.
SHUT_UNTIL: Final = datetime(9000, 1, 1, tzinfo=UTC)


class RunningRunsAction(StrEnum):
    """What happens to running runs when their backfill is cancelled."""

    FINISH = "finish"
    CANCEL = "cancel"


async def pause_backfill(
    conn: Connection, *, tenant_id: int, backfill_id: UUID, by: str, now: datetime
) -> BackfillState:
    """Start no more runs of a backfill. Running runs continue."""
    async with transaction(conn):
        found = await backfills.lock_backfill(conn, backfill_id, tenant_id=tenant_id)
        state = advance_backfill(found.state, BackfillEvent.PAUSE)
        await backfills.change_state(conn, found, state, reason=_reason_text("paused", by, now))
        await _set_limits(conn, found, GateLimits(max_running=found.at_once, rate=SHUT_RATE))
        await gates.store_paid_until(conn, {found.gate_id: SHUT_UNTIL})
    return state


async def resume_backfill(conn: Connection, *, tenant_id: int, backfill_id: UUID) -> BackfillState:
    async with transaction(conn):
        found = await backfills.lock_backfill(conn, backfill_id, tenant_id=tenant_id)
        state = advance_backfill(found.state, BackfillEvent.RESUME)
        await backfills.change_state(conn, found, state)
        await _set_limits(conn, found, GateLimits(max_running=found.at_once))
    return state


async def cancel_backfill(  # noqa: PLR0913 — who, what, why, how and when
    conn: Connection,
    *,
    tenant_id: int,
    backfill_id: UUID,
    by: str,
    now: datetime,
    running: RunningRunsAction = RunningRunsAction.FINISH,
    reason: str | None = None,
) -> BackfillState:
    """Create no more runs and cancel waiting ones. With `Running.CANCEL`, stop running ones too."""
    why = _reason_text("cancelled", by, now, reason)
    async with transaction(conn):
        found = await backfills.lock_backfill(conn, backfill_id, tenant_id=tenant_id)
        state = advance_backfill(found.state, BackfillEvent.CANCEL)
        await backfills.change_state(conn, found, state, reason=why)
        if found.state is BackfillState.PAUSED:
            # One of its runs may be retried later.
            await _set_limits(conn, found, GateLimits(max_running=found.at_once))
        if running is RunningRunsAction.CANCEL:
            ids = await backfills.read_unfinished_runs(conn, found.id)
        else:
            ids = await backfills.lock_waiting_runs(conn, found.id)
        if ids:
            await live_runs.cancel_runs(conn, ids=ids, reason=why)
    return state


async def _set_limits(conn: Connection, found: Backfill, limits: GateLimits) -> None:
    await gates.put_gate(conn, found.tenant_id, backfill_gate_key(found.id), limits)


def _reason_text(code: str, by: str, now: datetime, reason: str | None = None) -> str:
    details: dict[str, object] = {
        "code": code,
        "by": check_name(by, "by"),
        "at": moments.to_rfc3339(now),
    }
    if reason is not None:
        details["reason"] = check_name(reason, "reason", max_length=REASON_CHARS_MAX)
    return encode_canonical(details)
