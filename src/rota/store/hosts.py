"""Parses the hosts of a database URL and orders them by which to try first.

A URL may name several hosts: the nodes of one cluster, of which one accepts writes. All connections
of a process share the order, in whichever thread they are opened: the host that answered last comes
first, a host that failed or stayed silent comes last.

A failure also expires open connections: a connection remembers how often its host had failed when
it was opened, and is not used again once that count has changed.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from rota.core.errors import StoreRefused

URL_REMEDY: Final = (
    "write ROTA_DATABASE_URL or database.url as postgresql://user@host1:5432,host2:5432/name"
)


class Host(NamedTuple):
    """One server's address. Without a name, the driver uses its defaults: PGHOST, local sockets."""

    name: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        if self.name is None:
            return "the default host"
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"


class HostList:
    """The hosts of one URL, in the order to try them. Thread-safe."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._lock = threading.Lock()
        self._order = tuple(hosts)
        self._failures = dict.fromkeys(hosts, 0)

    def __len__(self) -> int:
        return len(self._failures)

    def __iter__(self) -> Iterator[Host]:
        """Yield each host once, in the current order."""
        return iter(self._order)

    def failure_count(self, host: Host) -> int:
        """Return how often this host has failed since the process started."""
        return self._failures[host]

    def prefer(self, host: Host) -> None:
        """Try this host first from now on: it answered and accepts writes."""
        if self._order[0] == host:
            return
        with self._lock:
            self._order = (host, *(other for other in self._order if other != host))

    def demote(self, host: Host) -> None:
        """Try this host last from now on: it made a caller wait."""
        with self._lock:
            self._order = (*(other for other in self._order if other != host), host)

    def record_failure(self, host: Host, *, seen: int) -> None:
        """Expire all open connections to this host and try the other hosts first.

        `seen` is how often the host had failed when the reporting connection was opened. If it has
        failed again since, the report is outdated, and newer connections stay open.
        """
        with self._lock:
            is_new = self._failures[host] == seen
            if is_new:
                self._failures[host] = seen + 1
        if is_new:
            self.demote(host)


def parse_hosts(url: str) -> tuple[Host, ...]:
    """Return the hosts of a URL, following the driver's rules.

    Hosts are given before the path, or in the parameter `host` with their ports in `port`. A name
    that begins with a slash is the folder of a unix socket.
    """
    parts = urlsplit(url)
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    quoted = parts.netloc.rpartition("@")[2]
    listed = quoted or options.get("host", "")
    if not listed:
        return (Host(),)
    hosts = [_address(text, quoted=bool(quoted)) for text in listed.split(",")]
    # A host that is listed twice counts once.
    return tuple(dict.fromkeys(_with_ports(hosts, options.get("port", ""))))


def _with_ports(hosts: Sequence[Host], listed: str) -> list[Host]:
    """Add ports to the hosts without one: the same for all, or one per host."""
    if not listed:
        return list(hosts)
    ports = [_port(text) for text in listed.split(",")]
    if len(ports) == 1:
        ports *= len(hosts)
    if len(ports) != len(hosts):
        reason = f"its URL has {len(ports)} ports for {len(hosts)} hosts"
        raise StoreRefused(reason=reason, remedy="give one port for all hosts, or one per host")
    return [Host(host.name, host.port or port) for host, port in zip(hosts, ports, strict=True)]


def _address(text: str, *, quoted: bool) -> Host:
    if text.startswith("/"):
        return Host(text)
    if text.startswith("["):
        name, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    else:
        name, _, port = text.partition(":")
    if quoted:
        name, port = unquote(name), unquote(port)
    if not name:
        raise StoreRefused(reason="its URL contains an empty host", remedy=URL_REMEDY)
    return Host(name, _port(port) if port else None)


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) < 1 << 16:
        return int(text)
    reason = f"the port {text!r} in its URL is invalid: must be a number from 1 to 65535"
    raise StoreRefused(reason=reason, remedy=URL_REMEDY)
