"""Opens the sockets of the API: the guarded one for clients, and the one for health probes."""

import contextlib
import ipaddress
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rota.api.addresses import Network, TrustedProxies
from rota.api.call import ApiService
from rota.api.connections import ConnectionGuard, ConnectionLimits, GuardedSocket
from rota.api.hosts import ANY_HOST, AllowedHosts
from rota.api.resources.service import explain_unready
from rota.config.settings import ApiSettings
from rota.core.errors import InvalidSetting
from rota.runtime.descriptors import ensure_descriptors
from rota.runtime.health import (
    HealthListener,
    LoopHeartbeat,
    ProbeAnswer,
    ProbeCheck,
    bind_probe_socket,
)

# File descriptors for everything except client connections: database, attempts, files, probes.
DESCRIPTORS_RESERVED: Final = 512
CLIENT_CONNECTIONS_MIN: Final = 16
LISTEN_BACKLOG: Final = 1_024
# The watchdog ends a process whose loop is blocked for 30 s; a supervisor may act earlier.
LIVENESS_SILENCE_MAX_S: Final = 20.0
READINESS_SILENCE_MAX_S: Final = 5.0


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


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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


@contextlib.contextmanager
def serve_probes(api: ApiSettings, checks: Mapping[str, ProbeCheck]) -> Iterator[str | None]:
    """Answer health probes on a separate listener, and yield its URL; None if it is off."""
    if api.health_listen == "off":
        yield None
        return
    address = None if api.health_listen == "auto" else read_probe_address(api.health_listen)
    with contextlib.ExitStack() as stack:
        try:
            listening = stack.enter_context(bind_probe_socket(address))
        except OSError as error:
            wanted = (
                f"cannot listen on it ({error.strerror or error}); choose another address and "
                'port, or "auto"'
            )
            raise InvalidSetting("api.health_listen", api.health_listen, wanted) from error
        stack.enter_context(HealthListener(listening, checks))
        host, port = listening.getsockname()[:2]
        yield f"http://{f'[{host}]' if ':' in host else host}:{port}"


def create_checks(
    service: ApiService, heartbeat: LoopHeartbeat, *, is_stopping: Callable[[], bool]
) -> dict[str, ProbeCheck]:
    """Create the checks of the probes. They run in the listener's thread and only read."""

    def check_liveness() -> ProbeAnswer:
        return check_loop(heartbeat, LIVENESS_SILENCE_MAX_S)

    def check_readiness() -> ProbeAnswer:
        if is_stopping():
            return ProbeAnswer("the process is stopping")
        problem = explain_unready(service)
        if problem is not None:
            return ProbeAnswer(problem)
        return check_loop(heartbeat, READINESS_SILENCE_MAX_S)

    return {"/livez": check_liveness, "/healthz": check_liveness, "/readyz": check_readiness}


def check_loop(heartbeat: LoopHeartbeat, silence_max_s: float) -> ProbeAnswer:
    silent_s = heartbeat.silent_s
    if silent_s < silence_max_s:
        return ProbeAnswer()
    return ProbeAnswer(f"the event loop has been blocked for {silent_s:.0f} s")


def read_probe_address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        wanted = 'expected "auto", "off", or an address and port such as 0.0.0.0:7071'
        raise InvalidSetting("api.health_listen", text, wanted)
    return host, int(port)
