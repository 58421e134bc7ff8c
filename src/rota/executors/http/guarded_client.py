"""Enforces the guard's decisions on every connection.

The resolver resolves a name once, checks each of its addresses and connects to exactly those
addresses, so that a second DNS answer cannot differ (DNS rebinding). As a second line of defence
the connector opens sockets through `open_socket`, which refuses every address that the guard does
not allow.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from aiohttp import AddrInfoType, ClientSession, DummyCookieJar, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from rota.executors.http.guard import TargetGuard, TargetRefusal
from rota.executors.http.target import Address

# Lookups run in threads of their own, so that a slow DNS server does not delay other work.
DNS_THREADS_MAX = 8
ADDRESSES_MAX = 64

Lookup = Callable[[str], Awaitable[Sequence[str]]]


class TargetRefused(Exception):
    """The guard refused a target. Not an OSError, so that it is not taken for a network error."""

    def __init__(self, refusal: TargetRefusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


@dataclass(slots=True, kw_only=True)
class GuardedResolver(AbstractResolver):
    """Resolves a name only if the guard allows every one of its addresses."""

    guard: TargetGuard
    lookup: Lookup
    # Addresses of trusted names, which `open_socket` must allow as well.
    trusted: set[Address] = field(default_factory=set)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        del family  # resolve every family, so that every address is checked
        texts = await self.lookup(host)
        addresses = [ipaddress.ip_address(text) for text in texts[:ADDRESSES_MAX]]
        name = host.lower().removesuffix(".")
        for address in addresses:
            if refusal := self.guard.check_address(address, name):
                raise TargetRefused(refusal)
        if self.guard.is_trusted_host(name):
            self.trusted.update(addresses)
        return [build_resolve_result(host, address, port) for address in addresses]

    async def close(self) -> None:
        pass

    def open_socket(self, info: AddrInfoType) -> socket.socket:
        family, type_, proto, _, where = info
        address = ipaddress.ip_address(where[0])
        refusal = self.guard.check_address(address)
        if refusal is not None and address not in self.trusted:
            # aiohttp expects an OSError here, as for a failed connection.
            raise PermissionError(str(refusal))
        return socket.socket(family=family, type=type_, proto=proto)


def build_resolve_result(host: str, address: Address, port: int) -> ResolveResult:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(
        hostname=host, host=str(address), port=port, family=family, proto=0, flags=flags
    )


class SystemLookup:
    """Resolves names with the resolver of this machine."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(DNS_THREADS_MAX, thread_name_prefix="rota-dns")

    async def __call__(self, host: str) -> list[str]:
        found = await asyncio.get_running_loop().run_in_executor(
            self._threads, resolve_addresses, host
        )
        return list(dict.fromkeys(found))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def resolve_addresses(host: str) -> list[str]:
    return [str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


def open_session(guard: TargetGuard, lookup: Lookup) -> ClientSession:
    """Return a client that keeps no state between attempts."""
    resolver = GuardedResolver(guard=guard, lookup=lookup)
    connector = TCPConnector(
        resolver=resolver,
        socket_factory=resolver.open_socket,
        use_dns_cache=False,
        # Attempts never share a connection: it may be authenticated as another tenant, and one
        # that the target closed meanwhile would cost a retry. The price is a handshake.
        force_close=True,
        # The worker's slots already limit concurrency.
        limit=0,
    )
    session = ClientSession(
        connector=connector,
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        raise_for_status=False,
    )
    # One attempt is one request. aiohttp would resend an interrupted PUT or DELETE, which breaks
    # at-most-once jobs; it has no public option to turn that off.
    session._retry_connection = False  # noqa: SLF001
    return session
