"""Resolves the tenants that a worker serves to ids, by queue.

The settings of a worker name tenants, and the lanes of a queue carry their ids. A tenant may be
created after the worker has started: an unknown name is looked up about once a second, and known
names now and then, because a tenant may be deleted and created again under the same name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rota.core.tenancy import EVERY_TENANT, SERVES_EVERY_TENANT, ServedTenants
from rota.store import interning
from rota.store.driver import Connection

# How long the names are trusted once all of them were found.
LOOK_UP_INTERVAL_S: Final = 30.0


@dataclass(slots=True, kw_only=True)
class ServedTenantIds:
    """`queues` maps the ids of the worker's queues to their names."""

    served: ServedTenants = SERVES_EVERY_TENANT
    queues: Mapping[int, str] = field(default_factory=dict)
    _names: Sequence[str] = ()
    _ids: Mapping[str, int] = field(default_factory=dict)
    _looked_up: float = float("-inf")

    def __post_init__(self) -> None:
        self._names = self.served.list_names()

    async def refresh(self, conn: Connection, *, now: float) -> None:
        """Look up the names, unless all were found recently."""
        is_complete = len(self._ids) == len(self._names)
        if is_complete and now - self._looked_up < LOOK_UP_INTERVAL_S:
            return
        self._ids = await interning.find_known_tenant_ids(conn, self._names) if self._names else {}
        self._looked_up = now

    def tenant_ids(self, queue_id: int) -> Sequence[int] | None:
        """Return the tenants that the worker serves in a queue; None means every tenant."""
        wanted = self.served.find_by_queue(self.queues.get(queue_id, ""))
        if EVERY_TENANT in wanted:
            return None
        return sorted(self._ids[name] for name in wanted if name in self._ids)
