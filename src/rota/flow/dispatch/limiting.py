"""The claims of one worker, with the limits that are in force. Room: flow/dispatch.

Puts the three sorts of claims behind one door for claiming.py: plain ones, those of queues and
tenants that are limited as a whole (guarded.py), and those of runs with gates of their own
(gated.py). What is in force is read about once a second; a pause is asked for by the claims
themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from rota.core.clock import Clock
from rota.flow.dispatch.gated import GatedClaims
from rota.flow.dispatch.guarded import InForce, claim_guarded, gates_in_force
from rota.flow.dispatch.served import TenantScope
from rota.store.driver import Connection
from rota.store.live_runs import Claimed, Walk

REFRESH_EVERY: Final = 1.0


@dataclass(slots=True, kw_only=True)
class Limiting:
    session_id: UUID
    queue_ids: tuple[int, ...]
    kind_ids: tuple[int, ...]
    clock: Clock
    # What becomes ready within this time is claimed already. Not behind gates: a place there is
    # taken from somebody who is ready.
    ahead: timedelta = timedelta(0)
    scope: TenantScope = field(default_factory=TenantScope)
    _gated: GatedClaims = field(default_factory=GatedClaims)
    _in_force: InForce = field(default_factory=InForce)
    _read: float = float("-inf")

    @property
    def weights(self) -> Mapping[int, int]:
        return self._in_force.weights

    async def refresh(self, conn: Connection) -> None:
        """Read what is in force, unless that was done a moment ago."""
        now = self.clock.monotonic()
        if now - self._read >= REFRESH_EVERY:
            self._in_force = await gates_in_force(conn, self.queue_ids)
            await self.scope.refresh(conn, now=now)
            self._read = now

    def tenant_ids(self, queue_id: int) -> Sequence[int] | None:
        """The tenants whose runs are claimed from a queue; None is all of them."""
        return self.scope.tenant_ids(queue_id)

    async def claim_open(
        self, conn: Connection, *, queue_id: int, walks: Sequence[Walk], room: int
    ) -> list[Claimed]:
        return await claim_guarded(
            conn,
            session_id=self.session_id,
            queue_id=queue_id,
            kind_ids=self.kind_ids,
            walks=walks,
            room=room,
            ahead=self.ahead,
            in_force=self._in_force,
        )

    async def claim_gated(self, conn: Connection, *, queue_id: int, room: int) -> list[Claimed]:
        tenant_ids = self.tenant_ids(queue_id)
        if tenant_ids is not None and not tenant_ids:
            return []
        return await self._gated.claim(
            conn,
            session_id=self.session_id,
            queue_id=queue_id,
            kind_ids=self.kind_ids,
            room=room,
            tenant_ids=tenant_ids,
        )
