"""The API's sockets: the guarded one for clients, and the one for probes. Room: node."""

import contextlib
import ipaddress
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rota.api.addresses import Network, TrustedProxies
from rota.api.call import Service
from rota.api.connections import ConnectionGuard, ConnectionLimits, GuardedSocket
from rota.api.hosts import EVERY_HOST, AllowedHosts
from rota.api.resources.service import unreadiness_of
from rota.config.settings import Api
from rota.core.errors import InvalidSetting
from rota.runtime.descriptors import ensure_descriptors
from rota.runtime.health import (
    Check,
    HealthListener,
    LoopHeartbeat,
    ProbeAnswer,
    bind_probe_socket,
)

# Open files beside the connections of clients: the database, attempts, files, probes.
DESCRIPTORS_RESERVED: Final = 512
CLIENT_CONNECTIONS_MIN: Final = 16
BACKLOG: Final = 1_024
# The watchdog ends a process whose loop stands still for 30 s; a supervisor may be quicker.
LIVENESS_SILENCE_MAX_S: Final = 20.0
READINESS_SILENCE_MAX_S: Final = 5.0


def make_guard(
    api: Api, proxies: TrustedProxies, *, monotonic: Callable[[], float]
) -> ConnectionGuard:
    """Make the guard of the API's connections, within the process's limit of open files."""
    allowed = ensure_descriptors(api.client_connections + DESCRIPTORS_RESERVED)
    room = max(CLIENT_CONNECTIONS_MIN, allowed - DESCRIPTORS_RESERVED)
    limits = ConnectionLimits(
        total=min(api.client_connections, room),
        per_address=api.client_connections_per_address,
        head_timeout_s=api.head_timeout.total_seconds(),
    )
    return ConnectionGuard(limits, monotonic=monotonic, proxies=proxies)


def read_proxies(api: Api) -> TrustedProxies:
    return TrustedProxies(map(read_network, api.trusted_proxies), header=api.proxy_header)


def read_network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        wanted = f"addresses and networks such as 10.0.0.0/8 ({error})"
        raise InvalidSetting("api.trusted_proxies", text, wanted) from None


def read_hosts(api: Api) -> AllowedHosts:
    """Read which host names are served. Without a list, one that listens on loopback serves no name
    that a web page could have resolve to it.
    """
    if api.allowed_hosts:
        return AllowedHosts(api.allowed_hosts)
    return AllowedHosts([api.host] if is_loopback(api.host) else [EVERY_HOST])


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextlib.contextmanager
def listen(api: Api, guard: ConnectionGuard) -> Iterator[socket.socket]:
    """The socket, opened before anything says that the API is up."""
    family = socket.AF_INET6 if ":" in api.host else socket.AF_INET
    # The protocol said in so many words: asyncio sets TCP_NODELAY only then, and without that
    # every answer waits 40 ms for the client's delayed acknowledgement.
    with GuardedSocket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as made:
        made.guard = guard
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((api.host, api.port))
            made.listen(BACKLOG)
        except OSError as error:
            wanted = f"an address and port that can be listened on ({error.strerror or error})"
            raise InvalidSetting("api.port", f"{api.host}:{api.port}", wanted) from error
        yield made


@contextlib.contextmanager
def serve_probes(api: Api, checks: Mapping[str, Check]) -> Iterator[str | None]:
    """Answer probes on their own listener, and yield its URL; None if it is off."""
    if api.health_listen == "off":
        yield None
        return
    address = None if api.health_listen == "auto" else read_probe_address(api.health_listen)
    with contextlib.ExitStack() as stack:
        try:
            listening = stack.enter_context(bind_probe_socket(address))
        except OSError as error:
            wanted = (
                f"an address and port that can be listened on ({error.strerror or error}); choose "
                'another one, or "auto"'
            )
            raise InvalidSetting("api.health_listen", api.health_listen, wanted) from error
        stack.enter_context(HealthListener(listening, checks))
        host, port = listening.getsockname()[:2]
        yield f"http://{f'[{host}]' if ':' in host else host}:{port}"


def make_checks(
    service: Service, heartbeat: LoopHeartbeat, *, is_stopping: Callable[[], bool]
) -> dict[str, Check]:
    """Make the checks behind the probes. They run in the listener's thread and only read."""

    def check_liveness() -> ProbeAnswer:
        return check_loop(heartbeat, LIVENESS_SILENCE_MAX_S)

    def check_readiness() -> ProbeAnswer:
        if is_stopping():
            return ProbeAnswer("this process is stopping")
        problem = unreadiness_of(service)
        if problem is not None:
            return ProbeAnswer(problem)
        return check_loop(heartbeat, READINESS_SILENCE_MAX_S)

    return {"/livez": check_liveness, "/healthz": check_liveness, "/readyz": check_readiness}


def check_loop(heartbeat: LoopHeartbeat, silence_max_s: float) -> ProbeAnswer:
    silent_s = heartbeat.silent_s
    if silent_s < silence_max_s:
        return ProbeAnswer()
    return ProbeAnswer(f"the event loop has not turned for {silent_s:.0f} s")


def read_probe_address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        wanted = '"auto", "off", or an address and port such as 0.0.0.0:7071'
        raise InvalidSetting("api.health_listen", text, wanted)
    return host, int(port)
