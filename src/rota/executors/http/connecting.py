"""Where the guard's judgement is enforced. Room: executors/http.

A name is resolved once, each of its addresses is judged, and those very addresses are connected to:
a second answer of the DNS is never asked for. The connector opens sockets through `open_socket`, a
second wall: an address that was not judged does not get one, whatever way it came.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from aiohttp import AddrInfoType, ClientSession, DummyCookieJar, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from rota.executors.http.guard import Guard, Refusal
from rota.executors.http.target import Address

# Names are looked up in threads; these are of their own, so that a slow DNS holds up nobody else.
LOOKUPS_AT_ONCE = 8
MOST_ADDRESSES = 64

Lookup = Callable[[str], Awaitable[Sequence[str]]]


class TargetRefused(Exception):
    """The guard refused; no OSError, so that nobody takes it for a broken connection."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


@dataclass(slots=True, kw_only=True)
class JudgedResolver(AbstractResolver):
    """Resolves names to addresses that the guard has let pass, all of them or none."""

    guard: Guard
    lookup: Lookup
    # What trusted names resolved to: the second wall must not refuse what the first let pass.
    trusted: set[Address] = field(default_factory=set)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        del family  # all of them, so that all of them are judged
        texts = await self.lookup(host)
        addresses = [ipaddress.ip_address(text) for text in texts[:MOST_ADDRESSES]]
        name = host.lower().removesuffix(".")
        for address in addresses:
            if refusal := self.guard.judge_address(address, name):
                raise TargetRefused(refusal)
        if self.guard.trusts(name):
            self.trusted.update(addresses)
        return [result(host, address, port) for address in addresses]

    async def close(self) -> None:
        pass

    def open_socket(self, info: AddrInfoType) -> socket.socket:
        family, type_, proto, _, where = info
        address = ipaddress.ip_address(where[0])
        refusal = self.guard.judge_address(address)
        if refusal is not None and address not in self.trusted:
            # Of the kind that a failed connection is: nothing else is expected here.
            raise PermissionError(str(refusal))
        return socket.socket(family=family, type=type_, proto=proto)


def result(host: str, address: Address, port: int) -> ResolveResult:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(
        hostname=host, host=str(address), port=port, family=family, proto=0, flags=flags
    )


class SystemLookup:
    """The names as this machine knows them."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(LOOKUPS_AT_ONCE, thread_name_prefix="rota-dns")

    async def __call__(self, host: str) -> list[str]:
        found = await asyncio.get_running_loop().run_in_executor(self._threads, addresses_of, host)
        return list(dict.fromkeys(found))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def addresses_of(host: str) -> list[str]:
    return [str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


def open_session(guard: Guard, lookup: Lookup) -> ClientSession:
    """A client that keeps nothing from one attempt to the next."""
    resolver = JudgedResolver(guard=guard, lookup=lookup)
    connector = TCPConnector(
        resolver=resolver,
        socket_factory=resolver.open_socket,
        use_dns_cache=False,
        # A connection is never shared: it may carry somebody's login, and one that the target
        # closed meanwhile would cost a retry. The price is a handshake.
        force_close=True,
        # The worker's slots limit what runs at once.
        limit=0,
    )
    session = ClientSession(
        connector=connector,
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        raise_for_status=False,
    )
    # One attempt is one request: aiohttp would send a PUT or DELETE again that was cut off, behind
    # the back of a job that promises to be run at most once. There is no public way to say so.
    session._retry_connection = False  # noqa: SLF001
    return session
