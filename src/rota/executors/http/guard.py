"""Which targets may be reached. Room: executors/http; only the policy, enforced in connecting.py.

A worker stands inside its operator's network, and payloads come from outside of it: without a guard
a job could read the cloud's credentials or talk to the database (SSRF). What is not plainly public
is refused. Only the operator makes exceptions, in the worker's settings:

    allow_networks   these addresses may be reached
    allow_hosts      these names may be anywhere but at the addresses that clouds give credentials
                     from; `.internal.example` stands for all names below it
    allow_ports      beside 80, 443, 8080 and 8443
    deny_networks    these never, whatever is allowed: the cluster's own doors, the database
"""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rota.core.errors import InvalidSetting
from rota.executors.http.target import Address, Target

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

USUAL_PORTS = frozenset({80, 443, 8080, 8443})


def networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


# Where machines of the clouds get their credentials. One has an address that looks public.
METADATA = networks(
    "169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "fe80::/10"
) + networks("fd00:ec2::254/128", "fd20:ce::254/128")
METADATA_NAMES = frozenset({"metadata.google.internal", "metadata.goog", "instance-data"})

# Not reachable from everywhere. Written out instead of asking `is_global`, whose answer depends on
# the version of Python.
DENIED_V4 = METADATA + networks(
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12"),
    *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
    *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
)
# Global unicast is all there is of IPv6, less what leads back to IPv4 or nowhere: Teredo and other
# protocols, documentation, 6to4. IPv4 in disguise (::ffff:…, 64:ff9b::…) is not in it.
GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
DENIED_V6 = networks("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a target may not be reached, and which setting would change that."""

    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.remedy}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """See the module. Judges, and connects to nothing."""

    allow_networks: Sequence[str] = ()
    allow_hosts: Sequence[str] = ()
    allow_ports: Sequence[int] = ()
    deny_networks: Sequence[str] = ()
    _allowed: tuple[Network, ...] = field(init=False)
    _denied: tuple[Network, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_allowed", parsed("allow_networks", self.allow_networks))
        object.__setattr__(self, "_denied", parsed("deny_networks", self.deny_networks))
        for host in self.allow_hosts:
            if host != host.lower().strip() or not host.strip(".") or "*" in host:
                wanted = "a name in lower case, or one such as .example.org for all below it"
                raise InvalidSetting("executors.http_allow_hosts", host, wanted)
        for port in self.allow_ports:
            if not 1 <= port <= 65535:
                wanted = "a port from 1 to 65535"
                raise InvalidSetting("executors.http_allow_ports", port, wanted)

    def judge_target(self, target: Target) -> Refusal | None:
        """What can be said before the name is resolved."""
        if target.port not in USUAL_PORTS and target.port not in self.allow_ports:
            way = f"the operator may allow it with http_allow_ports = [{target.port}]"
            return Refusal(reason=f"port {target.port} is not open to jobs", remedy=way)
        if target.address is not None:
            return self.judge_address(target.address)
        if target.host in METADATA_NAMES:
            way = "it serves credentials of this machine and cannot be allowed by name"
            return Refusal(reason=f"{target.host} is not open to jobs", remedy=way)
        if not self.trusts(target.host) and is_local(target.host):
            way = f'the operator may allow it with allow_hosts = ["{target.host}"]'
            return Refusal(reason=f"{target.host} is a name of this machine", remedy=way)
        return None

    def judge_address(self, address: Address, host: str | None = None) -> Refusal | None:
        """Whether an address may be connected to, for the sake of `host` if that was its name."""
        if contains(self._denied, address):
            way = "deny_networks of this worker forbids it"
            return Refusal(reason=f"{address} is not open to jobs", remedy=way)
        if contains(self._allowed, address):
            return None
        if host is not None and self.trusts(host) and not contains(METADATA, address):
            return None
        if is_public(address):
            return None
        where = f"{host} is at {address}, which" if host else f"{address}"
        return Refusal(reason=f"{where} is not a public address", remedy=remedy(address, host))

    def closed(self) -> "Guard":
        """The guard of tenants for whom the operator opened nothing: what is denied stays so."""
        return Guard(deny_networks=self.deny_networks)

    def trusts(self, host: str) -> bool:
        return any(
            host == name or (name.startswith(".") and host.endswith(name))
            for name in self.allow_hosts
        )


def parsed(name: str, texts: Iterable[str]) -> tuple[Network, ...]:
    try:
        return networks(*texts)
    except ValueError:
        wanted = "networks such as 10.1.0.0/16 or fd00::/8, with no bits set after the prefix"
        raise InvalidSetting(f"executors.http_{name}", list(texts), wanted) from None


def contains(among: Iterable[Network], address: Address) -> bool:
    return any(address in network for network in among)


def is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return not contains(DENIED_V4, address)
    # A zone (`%eth0`) has a meaning only on this machine.
    return address in GLOBAL_V6 and not address.scope_id and not contains(DENIED_V6, address)


def remedy(address: Address, host: str | None) -> str:
    way = f'http_allow_networks = ["{address}/{address.max_prefixlen}"]'
    if host is not None and not contains(METADATA, address):
        way = f'http_allow_hosts = ["{host}"] or {way}'
    return f"the operator may allow it with {way}"


def is_local(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")
