"""Free TCP ports for servers that tests start."""

import contextlib
import socket
from random import SystemRandom

# Below the range from which the kernel takes the ports of outgoing connections: a port that is
# free now is then not taken by accident before its server listens.
PORTS = range(20_000, 32_000)


def find_free_ports(number: int) -> list[int]:
    """Find ports on which nothing listens; each is another one."""
    found: list[int] = []
    for port in SystemRandom().sample(PORTS, len(PORTS)):
        if is_free(port):
            found.append(port)
        if len(found) == number:
            return found
    raise AssertionError(f"fewer than {number} of the ports {PORTS} are free")


def is_free(port: int) -> bool:
    with contextlib.closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
