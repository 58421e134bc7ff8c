"""Finds the address of a client and groups addresses for rate limits.

A proxy appends the address of its caller to a header. Only entries that trusted proxies appended
are reliable, so the list is read from its end: the first entry that is not a trusted proxy is the
client. Only the configured header is read: a proxy that writes the other one passes this one on as
the client sent it.
"""

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Literal

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
ProxyHeader = Literal["x-forwarded-for", "forwarded"]

# Cached decisions about peers. There are few proxies; the cap keeps strangers from filling memory.
PEERS_REMEMBERED_MAX: Final = 10_000
IPV6_CLIENT_PREFIX_BITS: Final = 64
_FOR: Final = re.compile(r'(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^;\s]*))', re.IGNORECASE)
_WITH_PORT: Final = re.compile(r"\[([^\]]+)\](?::\d+)?|([0-9.]+):\d+")


def group_address(host: str) -> str:
    """Return the key for counting a client: its IPv4 address, or its IPv6 /64 network, since one
    host can own all addresses of such a network.
    """
    if ":" not in host:
        return host
    address = parse_address(host)
    if not isinstance(address, IPv6Address):
        return host if address is None else str(address)
    return str(ip_network((int(address), IPV6_CLIENT_PREFIX_BITS), strict=False))


def parse_address(text: str) -> Address | None:
    """Read an address with or without a port; an IPv4 address written as IPv6 becomes IPv4."""
    match = _WITH_PORT.fullmatch(text)
    try:
        address = ip_address((match[1] or match[2]) if match else text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


class TrustedProxies:
    """Finds the client's address behind proxies. `networks` are the proxies' networks."""

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
        is_trusted = self._peers.get(host)
        if is_trusted is None:
            address = parse_address(host)
            is_trusted = address is not None and self._includes(address)
            if len(self._peers) >= PEERS_REMEMBERED_MAX:
                self._peers.clear()
            self._peers[host] = is_trusted
        return is_trusted

    def find_client(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the address of the client that sent a request through `peer`."""
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
        matches = (_FOR.search(part) for part in parts)
        return ["" if match is None else match[1] or match[2] or "" for match in matches]
