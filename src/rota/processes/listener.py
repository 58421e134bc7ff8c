"""Opens the guarded socket of the API, and reads which clients it trusts."""

import contextlib
import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import Final

from rota.api.addresses import Network, TrustedProxies
from rota.api.connections import ConnectionGuard, ConnectionLimits, GuardedSocket
from rota.api.hosts import ANY_HOST, AllowedHosts
from rota.config.observe import is_loopback
from rota.config.settings import ApiSettings
from rota.core.errors import InvalidSetting
from rota.runtime.descriptors import ensure_descriptors

# File descriptors for everything except client connections: database, attempts, files, probes.
DESCRIPTORS_RESERVED: Final = 512
CLIENT_CONNECTIONS_MIN: Final = 16
LISTEN_BACKLOG: Final = 1_024


def create_guard(
    api: ApiSettings, proxies: TrustedProxies, *, monotonic: Callable[[], float]
) -> ConnectionGuard:
    """Create the connection guard of the API, within the process's limit of open files."""
    allowed = ensure_descriptors(api.client_connections + DESCRIPTORS_RESERVED)
    room = max(CLIENT_CONNECTIONS_MIN, allowed - DESCRIPTORS_RESERVED)
    limits = ConnectionLimits(
        total=min(api.client_connections, room),
        per_address=api.client_connections_per_address,
        head_timeout_s=api.head_timeout.total_seconds(),
    )
    return ConnectionGuard(limits, monotonic=monotonic, proxies=proxies)


def read_proxies(api: ApiSettings) -> TrustedProxies:
    return TrustedProxies(map(read_network, api.trusted_proxies), header=api.proxy_header)


def read_network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        wanted = f"expected an address or network such as 10.0.0.0/8 ({error})"
        raise InvalidSetting("api.trusted_proxies", text, wanted) from None


def read_hosts(api: ApiSettings) -> AllowedHosts:
    """Return the allowed host names. Without a list, an API on loopback allows only its own host,
    so that no web page can reach it through DNS rebinding.
    """
    if api.allowed_hosts:
        return AllowedHosts(api.allowed_hosts)
    return AllowedHosts([api.host] if is_loopback(api.host) else [ANY_HOST])


@contextlib.contextmanager
def listen(api: ApiSettings, guard: ConnectionGuard) -> Iterator[socket.socket]:
    """Open the socket of the API, before it is announced as ready."""
    family = socket.AF_INET6 if ":" in api.host else socket.AF_INET
    # An explicit protocol: asyncio sets TCP_NODELAY only then, and without it every response waits
    # 40 ms for the client's delayed acknowledgement.
    with GuardedSocket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as made:
        made.guard = guard
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((api.host, api.port))
            made.listen(LISTEN_BACKLOG)
        except OSError as error:
            wanted = (
                f"cannot listen on it ({error.strerror or error}); choose another address or port"
            )
            raise InvalidSetting("api.port", f"{api.host}:{api.port}", wanted) from error
        yield made
