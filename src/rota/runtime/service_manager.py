"""Tells the service manager (systemd) that the process is ready, stops, or is alive.

The protocol is one datagram per message to the socket in `NOTIFY_SOCKET` (sd_notify(3)). Without
the variable, nothing is sent. A message that cannot be sent is lost: the manager's own timeouts
decide then.
"""

import contextlib
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

SOCKET_VARIABLE: Final = "NOTIFY_SOCKET"
WATCHDOG_VARIABLE: Final = "WATCHDOG_USEC"
READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
ALIVE: Final = "WATCHDOG=1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceManager:
    """The manager that started this process. `address` is None if it wants no messages."""

    address: str | None = None
    wants_heartbeat: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        address = environment.get(SOCKET_VARIABLE)
        # A leading @ stands for the zero byte of an abstract socket.
        path = None if not address else address.replace("@", "\0", 1)
        return cls(address=path, wants_heartbeat=WATCHDOG_VARIABLE in environment)

    def notify(self, message: str) -> None:
        if self.address is None:
            return
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sending,
        ):
            sending.sendto(message.encode(), self.address)

    def send_heartbeat(self) -> None:
        """Report that the event loop turns, if the manager watches it."""
        if self.wants_heartbeat:
            self.notify(ALIVE)
