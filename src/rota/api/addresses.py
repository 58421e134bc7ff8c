"""Client addresses: which of them count as one, and who may name another. Room: api.

A proxy appends the address it was called from to a header. Only the entries that trusted proxies
appended are true, so the list is read from its end: the first entry that is no trusted proxy is the
client. One header is read, the configured one: a proxy that writes the other one passes this one on
as the client sent it.
"""

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Literal

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
ProxyHeader = Literal["x-forwarded-for", "forwarded"]

# Remembered answers about peers; there are few proxies, and strangers must not fill the memory.
PEERS_REMEMBERED_MAX: Final = 10_000
IPV6_CLIENT_PREFIX_BITS: Final = 64
_FOR: Final = re.compile(r'(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^;\s]*))', re.IGNORECASE)
_WITH_PORT: Final = re.compile(r"\[([^\]]+)\](?::\d+)?|([0-9.]+):\d+")


def group_address(host: str) -> str:
    """Return what a client is counted by: its IPv4 address, or its IPv6 network of 64 bits, since
    one host can have all addresses of such a network.
    """
    if ":" not in host:
        return host
    address = parse_address(host)
    if not isinstance(address, IPv6Address):
        return host if address is None else str(address)
    return str(ip_network((int(address), IPV6_CLIENT_PREFIX_BITS), strict=False))


def parse_address(text: str) -> Address | None:
    """Read an address with or without a port; an IPv4 address written as IPv6 becomes IPv4."""
    found = _WITH_PORT.fullmatch(text)
    try:
        address = ip_address((found[1] or found[2]) if found else text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


class TrustedProxies:
    """Tells the client's address behind proxies. `networks` are those of the proxies."""

    def __init__(
        self, networks: Iterable[Network] = (), *, header: ProxyHeader = "x-forwarded-for"
    ) -> None:
        self._networks = tuple(networks)
        self._header = header.encode()
        self._peers: dict[str, bool] = {}

    def trusts(self, host: str) -> bool:
        """Tell whether the peer at this address is a trusted proxy."""
        if not self._networks:
            return False
        known = self._peers.get(host)
        if known is None:
            address = parse_address(host)
            known = address is not None and self._includes(address)
            if len(self._peers) >= PEERS_REMEMBERED_MAX:
                self._peers.clear()
            self._peers[host] = known
        return known

    def find_client(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the address of the client that a request of `peer` comes from."""
        if not self.trusts(peer):
            return peer
        client = peer
        for entry in reversed(self._entries(headers)):
            address = parse_address(entry)
            if address is None:
                break
            client = str(address)
            if not self._includes(address):
                break
        return client

    def _includes(self, address: Address) -> bool:
        return any(address in network for network in self._networks)

    def _entries(self, headers: Iterable[tuple[bytes, bytes]]) -> Sequence[str]:
        lines = (value.decode("latin-1") for name, value in headers if name == self._header)
        parts = [part.strip() for part in ",".join(lines).split(",")]
        if self._header == b"x-forwarded-for":
            return parts
        found = (_FOR.search(part) for part in parts)
        return ["" if each is None else each[1] or each[2] or "" for each in found]
