"""Counts the database connections of this process, for metrics.

Pools and dedicated connections register here. Any thread may read.
"""

from threading import Lock
from typing import Final, NamedTuple, Protocol
from weakref import WeakSet


class ConnectionTotals(NamedTuple):
    """Connections that are in use, open but not in use, and allowed."""

    busy: int = 0
    idle: int = 0
    limit: int = 0


class ConnectionHolder(Protocol):
    """A pool or a dedicated connection."""

    def count_connections(self) -> ConnectionTotals: ...


class ConnectionRegistry:
    """Knows the holders of connections without keeping them alive."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders: WeakSet[ConnectionHolder] = WeakSet()

    def add(self, holder: ConnectionHolder) -> None:
        with self._lock:
            self._holders.add(holder)

    def remove(self, holder: ConnectionHolder) -> None:
        with self._lock:
            self._holders.discard(holder)

    def count_connections(self) -> ConnectionTotals:
        """Add up the connections of all holders."""
        with self._lock:
            holders = list(self._holders)
        counts = [holder.count_connections() for holder in holders]
        return ConnectionTotals(
            busy=sum(each.busy for each in counts),
            idle=sum(each.idle for each in counts),
            limit=sum(each.limit for each in counts),
        )


CONNECTION_REGISTRY: Final = ConnectionRegistry()
