"""The hosts of a database URL, and which of them to try first. Room: store.

A URL may name several hosts: the nodes of one cluster, of which one takes writes. The order in
which they are tried is shared by all connections of a process, in whatever thread they are opened:
the host that answered last comes first, one that failed or kept silent comes last.

A failure also expires what is open: a connection remembers how often its host had failed when it
was opened, and is not used again once that number has changed.
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
    """One server's address. Without a name, the driver's defaults: PGHOST, then local sockets."""

    name: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        if self.name is None:
            return "the default host"
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"


class HostList:
    """The hosts of one URL in the order to try them. Any thread may call it."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._lock = threading.Lock()
        self._order = tuple(hosts)
        self._failures = dict.fromkeys(hosts, 0)

    def __len__(self) -> int:
        return len(self._failures)

    def __iter__(self) -> Iterator[Host]:
        """Yield each host once, in the order of this moment."""
        return iter(self._order)

    def failures(self, host: Host) -> int:
        """Return how often this host has failed since the process began."""
        return self._failures[host]

    def prefer(self, host: Host) -> None:
        """Try this host first from now on: it answered and takes writes."""
        if self._order[0] == host:
            return
        with self._lock:
            self._order = (host, *(each for each in self._order if each != host))

    def demote(self, host: Host) -> None:
        """Try this host last from now on: it kept a caller waiting."""
        with self._lock:
            self._order = (*(each for each in self._order if each != host), host)

    def record_failure(self, host: Host, *, seen: int) -> None:
        """Expire every connection to this host that is open, and try the others first.

        `seen` is how often it had failed when the connection that reports was opened. If it failed
        again since, this is old news: what was opened after that stays.
        """
        with self._lock:
            is_new = self._failures[host] == seen
            if is_new:
                self._failures[host] = seen + 1
        if is_new:
            self.demote(host)


def parse_hosts(url: str) -> tuple[Host, ...]:
    """Return the hosts of a URL, by the rules of the driver.

    Hosts stand before the path, or in the parameter `host` with their ports in `port`. A name that
    begins with a slash is the folder of a unix socket.
    """
    parts = urlsplit(url)
    given = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    quoted = parts.netloc.rpartition("@")[2]
    listed = quoted or given.get("host", "")
    if not listed:
        return (Host(),)
    named = [_address(each, quoted=bool(quoted)) for each in listed.split(",")]
    # A host that is named twice is one host.
    return tuple(dict.fromkeys(_with_ports(named, given.get("port", ""))))


def _with_ports(named: Sequence[Host], listed: str) -> list[Host]:
    """Give the hosts without a port one: the same for all of them, or one for each host."""
    if not listed:
        return list(named)
    ports = [_port(each) for each in listed.split(",")]
    if len(ports) == 1:
        ports *= len(named)
    if len(ports) != len(named):
        reason = f"its URL has {len(ports)} ports for {len(named)} hosts"
        raise StoreRefused(reason=reason, remedy="give one port for all hosts, or one for each")
    return [Host(host.name, host.port or port) for host, port in zip(named, ports, strict=True)]


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
        raise StoreRefused(reason="a host in its URL is empty", remedy=URL_REMEDY)
    return Host(name, _port(port) if port else None)


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) < 1 << 16:
        return int(text)
    reason = f"the port {text!r} in its URL is no number from 1 to 65535"
    raise StoreRefused(reason=reason, remedy=URL_REMEDY)
