"""Who is calling, and whether they call too often. Room: api.

A key is looked up by the digest of its secret and remembered for a few seconds, so a revoked one is
refused within that time and a busy one costs no statement. While the database is away, a key that
was found valid in the minutes before stays valid until the database answers again; it may have been
revoked meanwhile, but nothing can be done with it that needs the database.

Rates are token buckets in the memory of this process: with several processes behind a balancer each
grants its own.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol, TypeVar

from rota.api.guarded_pool import GuardedPool
from rota.core import api_keys
from rota.core.access import Principal
from rota.core.errors import StoreUnavailable, TooMany, Unauthenticated
from rota.store import keys
from rota.store.driver import Connection

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED: Final = 3.0
# A key that was found valid in this time before the database went away stays valid in the outage.
OUTAGE_KEY_AGE_MAX_S: Final = 900.0
# What was verified in this time may be looked up however often its address has failed meanwhile.
RECENTLY_VERIFIED_S: Final = 900.0
MOST_REMEMBERED: Final = 10_000
MOST_BUCKETS: Final = 50_000


@dataclass(frozen=True, slots=True)
class Rate:
    """So many a second, and so many at once after a quiet time."""

    per_second: float
    burst: float


BeforeLookup = Callable[[], object]


class Find(Protocol):
    """Tells who a digest belongs to, if it is valid now."""

    def __call__(self, conn: Connection, /, *, digest: bytes) -> Awaitable[Principal | None]: ...


@dataclass(slots=True, kw_only=True)
class Admission:
    """`find` tells who a key belongs to; a wrong one is remembered as well, and costs as little.
    `now` is the time by the database's clock. `before_lookup` is called before a key is looked up
    that was not verified lately, and may raise. Wrong keys are remembered apart from right ones, so
    that guessing makes the process forget none of those.
    """

    pool: GuardedPool
    monotonic: Callable[[], float]
    now: Callable[[], datetime]
    find: Find = keys.find
    _known: OrderedDict[bytes, tuple[float, Principal]] = field(default_factory=OrderedDict)
    _unknown: OrderedDict[bytes, float] = field(default_factory=OrderedDict)
    _asking: dict[bytes, "asyncio.Task[Principal | None]"] = field(default_factory=dict)

    async def principal(self, authorization: str | None, before_lookup: BeforeLookup) -> Principal:
        if authorization is None:
            raise Unauthenticated("send your API key as Authorization: Bearer …")
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise Unauthenticated("send your API key as Authorization: Bearer …")
        digest = api_keys.parse(key.strip()).digest
        found = await self.known(digest, before_lookup)
        if found is None:
            raise Unauthenticated("this API key is unknown, expired or revoked")
        return found

    def forget(self, digest: bytes) -> None:
        """Ask again the next time: something just changed."""
        self._known.pop(digest, None)
        self._unknown.pop(digest, None)

    async def known(self, digest: bytes, before_lookup: BeforeLookup) -> Principal | None:
        """Who this digest belongs to, as of a moment ago."""
        now = self.monotonic()
        known = self._known.get(digest)
        if known is not None and now - known[0] < REMEMBERED:
            return known[1]
        refused_at = self._unknown.get(digest)
        if refused_at is not None and now - refused_at < REMEMBERED:
            return None
        # A burst of requests with a key that was just forgotten asks once.
        task = self._asking.get(digest)
        if task is None:
            if known is None or now - known[0] > RECENTLY_VERIFIED_S:
                before_lookup()
            task = self._asking[digest] = asyncio.create_task(self._ask(digest))
            task.add_done_callback(lambda _: self._asking.pop(digest, None))
        try:
            return await asyncio.shield(task)
        except StoreUnavailable:
            trusted = self._valid_in_outage(digest)
            if trusted is None:
                raise
            return trusted

    def _valid_in_outage(self, digest: bytes) -> Principal | None:
        """Whose key this is, if it was in use when the database went away."""
        known = self._known.get(digest)
        if known is None or self.pool.answered_at - known[0] > OUTAGE_KEY_AGE_MAX_S:
            return None
        found = known[1]
        if found.expires_at is not None and found.expires_at <= self.now():
            return None
        return found

    async def _ask(self, digest: bytes) -> Principal | None:
        asked = self.monotonic()
        async with self.pool.acquire() as conn:
            found = await self.find(conn, digest=digest)
            if found is not None:
                await keys.touch(conn, tenant_id=found.tenant_id, key_id=found.key_id)
        if found is None:
            self._known.pop(digest, None)
            remember(self._unknown, digest, asked)
        else:
            self._unknown.pop(digest, None)
            remember(self._known, digest, (asked, found))
        return found


@dataclass(slots=True, kw_only=True)
class VerifiedSenders:
    """Who called a hook with a right signature lately, by hook and address."""

    monotonic: Callable[[], float]
    _verified: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def includes(self, sender: str) -> bool:
        verified_at = self._verified.get(sender)
        return verified_at is not None and self.monotonic() - verified_at < RECENTLY_VERIFIED_S

    def add(self, sender: str) -> None:
        remember(self._verified, sender, self.monotonic())


def remember(among: OrderedDict[K, V], key: K, value: V) -> None:
    """Keep a value as the latest, and forget the oldest of too many."""
    among[key] = value
    among.move_to_end(key)
    while len(among) > MOST_REMEMBERED:
        among.popitem(last=False)


@dataclass(slots=True, kw_only=True)
class Rates:
    """Token buckets by name. The least lately used ones are forgotten: they are full again."""

    monotonic: Callable[[], float]
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, name: str, rate: Rate, *, what: str) -> None:
        """Take one token, or raise `TooMany` with the time until there is one."""
        now = self.monotonic()
        tokens, since = self._buckets.get(name, (rate.burst, now))
        tokens = min(rate.burst, tokens + (now - since) * rate.per_second)
        if tokens < 1:
            raise TooMany(what=what, retry_after=(1 - tokens) / rate.per_second)
        self._buckets[name] = (tokens - 1, now)
        self._buckets.move_to_end(name)
        while len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)

    def give_back(self, name: str, rate: Rate) -> None:
        """Put back a token that was taken for nothing."""
        if name in self._buckets:
            tokens, since = self._buckets[name]
            self._buckets[name] = (min(rate.burst, tokens + 1), since)
