"""Decides which targets HTTP jobs may reach; `connecting.py` enforces the decision.

A worker runs inside its operator's network, and payloads come from outside it. Without a guard a
job could read cloud credentials or talk to the database (SSRF). The guard refuses every target
that is not public. Only the operator can make exceptions, in the worker's settings:

    allow_networks   addresses that may be reached
    allow_hosts      names that may resolve to any address except the cloud metadata services;
                     `.internal.example` matches all names below it
    allow_ports      ports in addition to 80, 443, 8080 and 8443
    deny_networks    addresses that are always refused: the cluster's own endpoints, the database
"""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rota.core.errors import InvalidSetting
from rota.executors.http.target import Address, HttpTarget

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

DEFAULT_PORTS = frozenset({80, 443, 8080, 8443})


def parse_networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


# Metadata services of the clouds, which serve credentials. One has an address that looks public.
METADATA_NETWORKS = parse_networks(
    "169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "fe80::/10"
) + parse_networks("fd00:ec2::254/128", "fd20:ce::254/128")
METADATA_NAMES = frozenset({"metadata.google.internal", "metadata.goog", "instance-data"})

# Networks that are not public. Listed instead of using `is_global`, whose result depends on the
# version of Python.
DENIED_V4 = METADATA_NETWORKS + parse_networks(
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12"),
    *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
    *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
)
# Public IPv6 is global unicast without the ranges that lead to IPv4 or nowhere: Teredo and other
# protocols, documentation, 6to4. Mapped IPv4 (::ffff:…, 64:ff9b::…) is outside global unicast.
GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
DENIED_V6 = parse_networks("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRefusal:
    """Why a target may not be reached, and which setting would allow it."""

    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.remedy}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetGuard:
    """Decides whether a target or an address may be reached. Opens no connections."""

    allow_networks: Sequence[str] = ()
    allow_hosts: Sequence[str] = ()
    allow_ports: Sequence[int] = ()
    deny_networks: Sequence[str] = ()
    _allowed: tuple[Network, ...] = field(init=False)
    _denied: tuple[Network, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "_allowed", parse_network_setting("allow_networks", self.allow_networks)
        )
        object.__setattr__(
            self, "_denied", parse_network_setting("deny_networks", self.deny_networks)
        )
        for host in self.allow_hosts:
            if host != host.lower().strip() or not host.strip(".") or "*" in host:
                wanted = "expected a lower-case name, or .example.org for all names below it"
                raise InvalidSetting("executors.http_allow_hosts", host, wanted)
        for port in self.allow_ports:
            if not 1 <= port <= 65535:
                wanted = "expected a port from 1 to 65535"
                raise InvalidSetting("executors.http_allow_ports", port, wanted)

    def check_target(self, target: HttpTarget) -> TargetRefusal | None:
        """Check what is known before the name is resolved."""
        if target.port not in DEFAULT_PORTS and target.port not in self.allow_ports:
            way = f"the operator may allow it with http_allow_ports = [{target.port}]"
            return TargetRefusal(reason=f"port {target.port} is not open to jobs", remedy=way)
        if target.address is not None:
            return self.check_address(target.address)
        if target.host in METADATA_NAMES:
            way = "it serves this machine's credentials and cannot be allowed by name"
            return TargetRefusal(reason=f"{target.host} is not open to jobs", remedy=way)
        if not self.is_trusted_host(target.host) and is_local(target.host):
            way = f'the operator may allow it with http_allow_hosts = ["{target.host}"]'
            return TargetRefusal(reason=f"{target.host} is a name of this machine", remedy=way)
        return None

    def check_address(self, address: Address, host: str | None = None) -> TargetRefusal | None:
        """Check an address; `host` is the name that resolved to it, if any."""
        if contains(self._denied, address):
            way = "this worker denies it with http_deny_networks"
            return TargetRefusal(reason=f"{address} is not open to jobs", remedy=way)
        if contains(self._allowed, address):
            return None
        if (
            host is not None
            and self.is_trusted_host(host)
            and not contains(METADATA_NETWORKS, address)
        ):
            return None
        if is_public(address):
            return None
        where = f"{host} is at {address}, which" if host else f"{address}"
        return TargetRefusal(
            reason=f"{where} is not a public address", remedy=describe_remedy(address, host)
        )

    def without_exceptions(self) -> "TargetGuard":
        """Return a guard without the operator's exceptions; denied networks stay denied."""
        return TargetGuard(deny_networks=self.deny_networks)

    def is_trusted_host(self, host: str) -> bool:
        return any(
            host == name or (name.startswith(".") and host.endswith(name))
            for name in self.allow_hosts
        )


def parse_network_setting(name: str, texts: Iterable[str]) -> tuple[Network, ...]:
    try:
        return parse_networks(*texts)
    except ValueError:
        wanted = "expected networks such as 10.1.0.0/16 or fd00::/8, without host bits"
        raise InvalidSetting(f"executors.http_{name}", list(texts), wanted) from None


def contains(networks: Iterable[Network], address: Address) -> bool:
    return any(address in network for network in networks)


def is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return not contains(DENIED_V4, address)
    # A zone (`%eth0`) is meaningful only on this machine.
    return address in GLOBAL_V6 and not address.scope_id and not contains(DENIED_V6, address)


def describe_remedy(address: Address, host: str | None) -> str:
    way = f'http_allow_networks = ["{address}/{address.max_prefixlen}"]'
    if host is not None and not contains(METADATA_NETWORKS, address):
        way = f'http_allow_hosts = ["{host}"] or {way}'
    return f"the operator may allow it with {way}"


def is_local(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")
