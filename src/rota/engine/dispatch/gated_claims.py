"""Claims runs that must pass gates of their own: per job, per key (E4, E7).

These runs wait in their own lanes, one for each first gate and priority, so that runs waiting at a
closed gate, however many, do not slow down the others. A claim visits lanes in turn, reads the runs
at their heads, locks all gates of those runs, counts the holders, and takes the runs that core lets
pass. It reads before it locks: with no run waiting it costs one statement.

core/gates.py decides which runs pass; the store has the statements.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.gates import Candidate, choose_candidates, compute_payments
from rota.store import gates
from rota.store.driver import Connection
from rota.store.gates import GatedRun, GateEntry, GateLane
from rota.store.live_runs import ClaimedRun
from rota.store.transaction import transaction

# A hop costs about 5 µs. A claim skips lanes that are closed or not ready for a few rounds, then
# gives up; the next claim continues from there.
SURVEYED_LANES_MAX: Final = 128
SURVEY_ROUNDS_MAX: Final = 4
# Lanes, and runs per lane, that one claim examines and locks. With many lanes it takes fewer runs
# of each: about twice the free slots in total, because some runs will not pass.
OPEN_LANES_MAX: Final = 64
LANE_SHARE_MAX: Final = 128

LanePosition = tuple[int, int]
_START: Final[LanePosition] = (0, 0)


class LaneSurvey(NamedTuple):
    """The lanes of one survey, and whether it covered all lanes."""

    lanes: list[GateLane]
    is_complete: bool


class GatedClaims:
    """Claims gated runs of all queues for one claimer; remembers each queue's next lane."""

    def __init__(self) -> None:
        self._turns: dict[int, LanePosition] = {}

    async def claim(
        self,
        conn: Connection,
        *,
        session_id: UUID,
        queue_id: int,
        kind_ids: Sequence[int],
        room: int,
        tenant_ids: Sequence[int] | None = None,
    ) -> list[ClaimedRun]:
        """Take at most `room` runs whose gates let them pass now. Default: of all tenants."""
        ready: list[GatedRun] = []
        for _ in range(SURVEY_ROUNDS_MAX if room > 0 else 0):
            seen = await self._survey(conn, queue_id, tenant_ids)
            if seen.lanes:
                ready = await gates.read_candidates(
                    conn,
                    queue_id=queue_id,
                    kind_ids=kind_ids,
                    lanes=seen.lanes,
                    share=min(room, LANE_SHARE_MAX, 1 + 2 * room // len(seen.lanes)),
                    tenant_ids=tenant_ids,
                )
            if ready or seen.is_complete:
                break
        if not ready:
            return []
        return await _claim_passing(
            conn, ready, session_id=session_id, queue_id=queue_id, room=room
        )

    async def _survey(
        self, conn: Connection, queue_id: int, tenant_ids: Sequence[int] | None
    ) -> LaneSurvey:
        after = self._turns.get(queue_id, _START)
        lanes = await gates.survey_gate_lanes(
            conn, queue_id=queue_id, after=after, limit=SURVEYED_LANES_MAX, tenant_ids=tenant_ids
        )
        wanted = [lane for lane in lanes if lane.is_open][:OPEN_LANES_MAX]
        all_round = len(lanes) < SURVEYED_LANES_MAX and len(wanted) < OPEN_LANES_MAX
        if lanes:
            last = wanted[-1] if len(wanted) == OPEN_LANES_MAX else lanes[-1]
            self._turns[queue_id] = (last.gate_id, last.priority)
        return LaneSurvey(wanted, all_round)


async def _claim_passing(
    conn: Connection, ready: Sequence[GatedRun], *, session_id: UUID, queue_id: int, room: int
) -> list[ClaimedRun]:
    """Lock, count, choose, take and pay, in one transaction."""
    candidates = [_candidate(run) for run in ready]
    queue_gate = ready[0].queue_gate
    entry = GateEntry(
        gates=frozenset(gate for run in ready for gate in run.gates),
        queues={} if queue_gate is None else {queue_id: queue_gate},
        tenants={run.tenant_id: run.tenant_gate for run in ready if run.tenant_gate is not None},
        tenant_queues={
            (run.tenant_id, queue_id): run.tenant_queue_gate
            for run in ready
            if run.tenant_queue_gate is not None
        },
    )
    async with transaction(conn):
        entered = await gates.enter_gates(conn, entry)
        chosen = choose_candidates(candidates, entered.standings, room=room, now=entered.now)
        if not chosen:
            return []
        claimed = await gates.claim_gated(
            conn, session_id=session_id, ids=[candidate.id for candidate in chosen]
        )
        taken = {run.id for run in claimed}
        passed = [candidate.gates for candidate in chosen if candidate.id in taken]
        await gates.store_paid_until(
            conn, compute_payments(passed, entered.standings, now=entered.now)
        )
    return claimed


def _candidate(run: GatedRun) -> Candidate:
    wide = (run.tenant_gate, run.tenant_queue_gate, run.queue_gate)
    return Candidate(
        id=run.id,
        tenant=run.tenant_id,
        priority=run.priority,
        ready_at=run.ready_at,
        gates=(*run.gates, *(gate for gate in wide if gate is not None)),
    )
