"""Limits client connections before authentication.

Each accepted connection has an entry from `accept` on, so that TLS handshakes count too. An entry
is in one phase:

    lingering   refused; the response is being sent, further input is discarded
    head        the request's line and headers, or the TLS handshake, are incomplete
    idle        between two requests
    body        the head is complete, the body is not
    busy        the request is complete and is being answered

When an address or the process has reached its limit, a new connection replaces the one that has
been longest in the first of these phases that is not empty. A busy connection is never evicted. So
a flood of incomplete requests evicts its own older connections, and a client that sends its request
at once is served.
"""

import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Protocol

from rota.api.addresses import TrustedProxies, group_address

# Bodies that may arrive at the same time: fewer than the concurrent requests, so that slow bodies
# cannot block other requests.
BODIES_ARRIVING_MAX: Final = 1_000
BODY_TIMEOUT_S: Final = 30.0
BODY_PACE_GRACE_S: Final = 5.0
BODY_PACE_MIN_BYTES_PER_S: Final = 1_000
LINGER_S: Final = 1.0
# A client that reads nothing of its response for this long counts as gone.
UNREAD_RESPONSE_TIMEOUT_S: Final = 30.0
UNREAD_BYTES_MAX: Final = 128 * 1024 * 1024
# After this many accepted connections the event loop serves others first.
ACCEPTS_PER_TURN_MAX: Final = 64
SWEEP_INTERVAL_S: Final = 0.5


class ConnectionPhase(IntEnum):
    LINGERING = 0
    HEAD = 1
    IDLE = 2
    BODY = 3
    BUSY = 4


EVICTABLE: Final = (
    ConnectionPhase.LINGERING,
    ConnectionPhase.HEAD,
    ConnectionPhase.IDLE,
    ConnectionPhase.BODY,
)


class GuardedTransport(Protocol):
    """What the guard needs of a connection that has a protocol."""

    def abort(self) -> None:
        """Close at once."""

    def end_head(self) -> None:
        """Close because the head took too long."""

    def end_body(self) -> None:
        """Close because the body took too long."""

    @property
    def body_bytes(self) -> int:
        """Bytes of the body that have arrived."""

    @property
    def is_body_awaited(self) -> bool:
        """Whether the server is reading and the client may send the body."""


class ClientAddress:
    """The connections of one address."""

    __slots__ = ("count", "group", "is_exempt", "phases")

    def __init__(self, group: str, *, is_exempt: bool) -> None:
        self.group = group
        self.is_exempt = is_exempt
        self.count = 0
        # An ordered set for each phase that can be evicted: the oldest comes first.
        self.phases: tuple[dict[ConnectionEntry, None], ...] = ({}, {}, {}, {})


class ConnectionEntry:
    """One accepted connection. `since` is when its phase began."""

    __slots__ = ("address", "is_open", "phase", "protocol", "since", "socket")

    def __init__(self, address: ClientAddress, accepted: socket.socket, since: float) -> None:
        self.address = address
        self.socket = accepted
        self.protocol: GuardedTransport | None = None
        self.phase = ConnectionPhase.HEAD
        self.since = since
        self.is_open = True

    def abort(self) -> None:
        if self.protocol is not None:
            self.protocol.abort()
            return
        # The TLS handshake is under way: its transport sees the end and closes.
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    total: int
    per_address: int
    head_timeout_s: float


class ConnectionGuard:
    """Counts, times and evicts connections. `tick` is a duty."""

    def __init__(
        self,
        limits: ConnectionLimits,
        *,
        monotonic: Callable[[], float],
        proxies: TrustedProxies | None = None,
    ) -> None:
        self.limits = limits
        self.count = 0
        self._monotonic = monotonic
        self._proxies = proxies or TrustedProxies()
        self._addresses: dict[str, ClientAddress] = {}
        self._entries: dict[int, ConnectionEntry] = {}
        self._phases: tuple[dict[ConnectionEntry, None], ...] = ({}, {}, {}, {})
        self._unread: dict[ConnectionEntry, tuple[float, int]] = {}
        self._unread_bytes = 0

    def admit(self, accepted: "AcceptedSocket", host: str) -> bool:
        """Count a new connection; return False if it exceeds a limit."""
        group = group_address(host)
        address = self._addresses.get(group)
        if address is None:
            address = ClientAddress(group, is_exempt=self._proxies.trusts(host))
        if not address.is_exempt and address.count >= self.limits.per_address:
            if not self._evict_oldest(address.phases):
                return False
        elif self.count >= self.limits.total and not self._evict_oldest(self._phases):
            return False
        entry = ConnectionEntry(address, accepted, self._monotonic())
        accepted.on_close = lambda: self._release(entry)
        self._addresses[group] = address
        self._entries[accepted.fileno()] = entry
        address.phases[ConnectionPhase.HEAD][entry] = self._phases[ConnectionPhase.HEAD][entry] = (
            None
        )
        address.count += 1
        self.count += 1
        return True

    def attach(self, descriptor: int, protocol: GuardedTransport) -> ConnectionEntry | None:
        """Attach the protocol of a connection; return None if it has been evicted."""
        entry = self._entries.get(descriptor)
        if entry is not None:
            entry.protocol = protocol
        return entry

    def enter(self, entry: ConnectionEntry, phase: ConnectionPhase) -> None:
        """Record the current phase of a connection."""
        if phase is entry.phase or not entry.is_open:
            return
        old = entry.phase
        if old is not ConnectionPhase.BUSY:
            del self._phases[old][entry]
            del entry.address.phases[old][entry]
        entry.phase, entry.since = phase, self._monotonic()
        if phase is not ConnectionPhase.BUSY:
            entry.address.phases[phase][entry] = self._phases[phase][entry] = None
        if phase is ConnectionPhase.BODY and len(self._phases[phase]) > BODIES_ARRIVING_MAX:
            self._evict(next(iter(self._phases[phase])))

    def note_unread(self, entry: ConnectionEntry, size: int) -> None:
        """Record that `size` bytes of a response are unread by the client; 0 clears it."""
        _, before = self._unread.pop(entry, (0.0, 0))
        self._unread_bytes -= before
        if size == 0 or not entry.is_open:
            return
        self._unread[entry] = (self._monotonic(), size)
        self._unread_bytes += size
        while self._unread_bytes > UNREAD_BYTES_MAX and len(self._unread) > 1:
            self._evict(next(iter(self._unread)))

    async def tick(self) -> float:
        self.sweep()
        return min(SWEEP_INTERVAL_S, self.limits.head_timeout_s / 4)

    def sweep(self) -> None:
        """Close connections that have been in their phase for too long."""
        now = self._monotonic()
        for entry in self._older(ConnectionPhase.LINGERING, now - LINGER_S):
            self._evict(entry)
        for entry in self._older(ConnectionPhase.HEAD, now - self.limits.head_timeout_s):
            if entry.protocol is None:
                self._evict(entry)
            else:
                entry.protocol.end_head()
        for entry in list(self._phases[ConnectionPhase.BODY]):
            if entry.protocol is not None and is_body_too_slow(entry.protocol, now - entry.since):
                entry.protocol.end_body()
        for entry, (since, _) in list(self._unread.items()):
            if now - since >= UNREAD_RESPONSE_TIMEOUT_S:
                self._evict(entry)

    def _older(self, phase: ConnectionPhase, since: float) -> list[ConnectionEntry]:
        found: list[ConnectionEntry] = []
        for entry in self._phases[phase]:
            if entry.since > since:
                break
            found.append(entry)
        return found

    def _evict_oldest(self, phases: tuple[dict[ConnectionEntry, None], ...]) -> bool:
        for phase in EVICTABLE:
            if phases[phase]:
                self._evict(next(iter(phases[phase])))
                return True
        return False

    def _evict(self, entry: ConnectionEntry) -> None:
        self._release(entry)
        entry.abort()

    def _release(self, entry: ConnectionEntry) -> None:
        if not entry.is_open:
            return
        self.note_unread(entry, 0)
        entry.is_open = False
        if entry.phase is not ConnectionPhase.BUSY:
            del self._phases[entry.phase][entry]
            del entry.address.phases[entry.phase][entry]
        # After an eviction, its descriptor may belong to another connection.
        if self._entries.get(entry.socket.fileno()) is entry:
            del self._entries[entry.socket.fileno()]
        self.count -= 1
        entry.address.count -= 1
        if entry.address.count == 0:
            self._addresses.pop(entry.address.group, None)


def is_body_too_slow(connection: GuardedTransport, age: float) -> bool:
    if not connection.is_body_awaited:
        return False
    if age >= BODY_TIMEOUT_S:
        return True
    return age >= BODY_PACE_GRACE_S and connection.body_bytes < age * BODY_PACE_MIN_BYTES_PER_S


class AcceptedSocket(socket.socket):
    """A connection's socket that calls `on_close` whenever it is closed."""

    __slots__ = ("on_close",)

    on_close: Callable[[], object] | None

    def close(self) -> None:
        on_close = getattr(self, "on_close", None)
        if on_close is not None:
            self.on_close = None
            on_close()
        super().close()


class GuardedSocket(socket.socket):
    """A listening socket whose `accept` returns only connections that the guard admits.

    The event loop calls `accept` until no connection is pending. This socket also reports "none
    pending" after a number of connections, so that a flood does not block the loop; the loop
    accepts the others in its next turn.
    """

    __slots__ = ("_accepted_in_turn", "guard")

    guard: ConnectionGuard | None

    def accept(self) -> tuple[socket.socket, Any]:
        turn = getattr(self, "_accepted_in_turn", 0)
        while turn < ACCEPTS_PER_TURN_MAX:
            try:
                descriptor, address = self._accept()  # type: ignore[attr-defined] # as socket.accept
            except BlockingIOError:
                self._accepted_in_turn = 0
                raise
            turn += 1
            accepted = AcceptedSocket(self.family, self.type, self.proto, fileno=descriptor)
            guard = self.guard
            if guard is None or guard.admit(accepted, address[0]):
                self._accepted_in_turn = turn
                return accepted, address
            accepted.close()
        self._accepted_in_turn = 0
        raise BlockingIOError
