"""Records a request to a ping URL: the state of the ping, and an external run that shows it.

The state is what alerts are decided by, so it is always stored. The run is for people: if the
tenant has no quota left for runs, or the run that reported the start is gone, the ping counts all
the same.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.contract.pings import read_stored_timing
from rota.core.errors import NotFound, RotaError, StoreFailed, StoreUnavailable
from rota.core.executor import Stream
from rota.core.pings import PingSignal, PingTiming, compute_digest
from rota.engine.submission.external_runs import (
    ExternalOutput,
    ExternalProcess,
    ExternalReport,
    finish_external_run,
    record_report,
    start_external_run,
)
from rota.store import pings, tenants
from rota.store.driver import Connection
from rota.store.pings import PingRow, PingRun
from rota.store.transaction import transaction

BODY_BYTES_MAX: Final = 100_000
PIECE_CHARACTERS_MAX: Final = 16_000
# The lease ends after the check that reports the overrun, so that the run shows how it ended.
LEASE_MARGIN: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PingRequest:
    """A request to a ping URL. `rid` is the run id that the sender chose, empty without one.
    `on_found` is called with the id of the ping and may raise, for example because of its rate.
    """

    token: str
    signal: PingSignal
    exit_code: int = 0
    rid: str = ""
    body: bytes = b""
    on_found: Callable[[UUID], object] = lambda _ping_id: None


async def receive_ping(
    conn: Connection, request: PingRequest, *, now: datetime, new_id: Callable[[], UUID]
) -> None:
    """Record the signal, in transactions of its own. Raise `NotFound` for an unknown token."""
    async with transaction(conn):
        ping = await pings.find_ping(conn, compute_digest(request.token))
        if ping is None:
            raise NotFound("ping URL", request.token[:8])
        request.on_found(ping.id)
        timing = read_stored_timing(json.loads(ping.schedule), grace=ping.grace)
        overdue_at = None
        if request.signal is PingSignal.SUCCESS:
            overdue_at = timing.compute_overdue(now)
        await pings.record_signal(conn, ping.id, request.signal, overdue_at=overdue_at)
    try:
        async with transaction(conn):
            await _show_run(conn, ping, timing, request, now=now, new_id=new_id)
    except (StoreUnavailable, StoreFailed):
        raise
    except RotaError:
        # The signal is stored; only the run that shows it could not be written.
        return


async def _show_run(
    conn: Connection,
    ping: PingRow,
    timing: PingTiming,
    request: PingRequest,
    *,
    now: datetime,
    new_id: Callable[[], UUID],
) -> None:
    run = await pings.find_run(conn, ping_id=ping.id, rid=request.rid)
    if request.signal is PingSignal.LOG:
        if run is not None:
            await record_report(conn, _report(run, request), now=now)
        return
    if run is None or request.signal is PingSignal.START:
        started = await start_external_run(
            conn,
            ExternalProcess(
                tenant=(await tenants.get_tenant(conn, ping.tenant_id)).name,
                tenant_id=ping.tenant_id,
                job=ping.name,
                host="ping",
                payload=None,
                labels={},
                lease=timing.grace + LEASE_MARGIN,
            ),
            now=now,
            new_id=new_id,
        )
        run = PingRun(started.run_id, started.session_id)
    if request.signal is PingSignal.START:
        await pings.open_run(
            conn, ping_id=ping.id, tenant_id=ping.tenant_id, rid=request.rid, run=run
        )
        return
    await pings.close_run(conn, ping_id=ping.id, rid=request.rid)
    await finish_external_run(
        conn,
        _report(run, request),
        exit_code=request.exit_code,
        reason=f"reported exit code {request.exit_code}",
        now=now,
    )


def _report(run: PingRun, request: PingRequest) -> ExternalReport:
    """Build the report of a run with the body of the request as its output."""
    text = request.body[:BODY_BYTES_MAX].decode("utf-8", errors="replace").replace("\x00", "\ufffd")
    pieces = [
        text[start : start + PIECE_CHARACTERS_MAX]
        for start in range(0, len(text), PIECE_CHARACTERS_MAX)
    ]
    output = [ExternalOutput(number, Stream.STDOUT, piece) for number, piece in enumerate(pieces)]
    return ExternalReport(run.run_id, run.session_id, output)
