"""Authenticates API keys and enforces rate limits.

A key is looked up by the digest of its secret and cached for a few seconds, so a revoked key is
refused within that time and a busy key costs no statement. While the database is unreachable, a key
that was valid in the minutes before stays valid until the database answers again. It may have been
revoked in the meantime, but the caller can do nothing with it that needs the database.

Rate limits are token buckets in the memory of this process. With several processes behind a load
balancer, each process grants its own limit.
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
from rota.core.errors import RateLimitExceeded, StoreUnavailable, Unauthenticated
from rota.store import keys
from rota.store.driver import Connection

K = TypeVar("K")
V = TypeVar("V")

KEY_CACHE_S: Final = 3.0
# A key that was verified this long before an outage of the database stays valid during it.
OUTAGE_KEY_AGE_MAX_S: Final = 900.0
# A credential verified within this time may be looked up regardless of its address's failures.
RECENTLY_VERIFIED_S: Final = 900.0
CACHED_KEYS_MAX: Final = 10_000
BUCKETS_MAX: Final = 50_000


@dataclass(frozen=True, slots=True)
class RequestRate:
    """Sustained requests per second, and the size of a burst."""

    per_second: float
    burst: float


BeforeLookup = Callable[[], object]


class FindPrincipal(Protocol):
    """Returns the principal of a digest, if it is valid now."""

    def __call__(self, conn: Connection, /, *, digest: bytes) -> Awaitable[Principal | None]: ...


@dataclass(slots=True, kw_only=True)
class CredentialVerifier:
    """Authenticates callers by key. `find` returns the principal of a key. `now` is the time by the
    database's clock. `before_lookup` is called before looking up a key that was not verified
    recently, and may raise. Invalid keys are cached separately from valid ones, so that guessing
    cannot evict valid keys.
    """

    pool: GuardedPool
    monotonic: Callable[[], float]
    now: Callable[[], datetime]
    find: FindPrincipal = keys.find_principal
    _valid: OrderedDict[bytes, tuple[float, Principal]] = field(default_factory=OrderedDict)
    _invalid: OrderedDict[bytes, float] = field(default_factory=OrderedDict)
    _lookups: dict[bytes, "asyncio.Task[Principal | None]"] = field(default_factory=dict)

    async def authenticate(
        self, authorization: str | None, before_lookup: BeforeLookup
    ) -> Principal:
        if authorization is None:
            raise Unauthenticated("send your API key as Authorization: Bearer …")
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise Unauthenticated("send your API key as Authorization: Bearer …")
        digest = api_keys.parse_key(key.strip()).digest
        principal = await self.find_principal(digest, before_lookup)
        if principal is None:
            raise Unauthenticated("this API key is unknown, expired or revoked")
        return principal

    def forget(self, digest: bytes) -> None:
        """Drop a digest from the cache, so that the next request looks it up."""
        self._valid.pop(digest, None)
        self._invalid.pop(digest, None)

    async def find_principal(self, digest: bytes, before_lookup: BeforeLookup) -> Principal | None:
        """Return the principal of a digest, at most a few seconds old."""
        now = self.monotonic()
        cached = self._valid.get(digest)
        if cached is not None and now - cached[0] < KEY_CACHE_S:
            return cached[1]
        refused_at = self._invalid.get(digest)
        if refused_at is not None and now - refused_at < KEY_CACHE_S:
            return None
        # A burst of requests with a key that just left the cache causes one lookup.
        task = self._lookups.get(digest)
        if task is None:
            if cached is None or now - cached[0] > RECENTLY_VERIFIED_S:
                before_lookup()
            task = self._lookups[digest] = asyncio.create_task(self._look_up(digest))
            task.add_done_callback(lambda _: self._lookups.pop(digest, None))
        try:
            return await asyncio.shield(task)
        except StoreUnavailable:
            trusted = self._find_valid_in_outage(digest)
            if trusted is None:
                raise
            return trusted

    def _find_valid_in_outage(self, digest: bytes) -> Principal | None:
        """Return the principal of a key that was in use when the outage began."""
        cached = self._valid.get(digest)
        if cached is None or self.pool.answered_at - cached[0] > OUTAGE_KEY_AGE_MAX_S:
            return None
        principal = cached[1]
        if principal.expires_at is not None and principal.expires_at <= self.now():
            return None
        return principal

    async def _look_up(self, digest: bytes) -> Principal | None:
        asked_at = self.monotonic()
        async with self.pool.acquire() as conn:
            principal = await self.find(conn, digest=digest)
            if principal is not None:
                await keys.record_use(conn, tenant_id=principal.tenant_id, key_id=principal.key_id)
        if principal is None:
            self._valid.pop(digest, None)
            remember(self._invalid, digest, asked_at)
        else:
            self._invalid.pop(digest, None)
            remember(self._valid, digest, (asked_at, principal))
        return principal


@dataclass(slots=True, kw_only=True)
class VerifiedSenders:
    """Remembers senders that recently called a hook with a valid signature, by hook and address."""

    monotonic: Callable[[], float]
    _verified: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def includes(self, sender: str) -> bool:
        verified_at = self._verified.get(sender)
        return verified_at is not None and self.monotonic() - verified_at < RECENTLY_VERIFIED_S

    def add(self, sender: str) -> None:
        remember(self._verified, sender, self.monotonic())


def remember(cache: OrderedDict[K, V], key: K, value: V) -> None:
    """Store a value as the newest entry, and evict the oldest beyond the limit."""
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > CACHED_KEYS_MAX:
        cache.popitem(last=False)


@dataclass(slots=True, kw_only=True)
class RateLimiter:
    """Token buckets by name. The least recently used ones are evicted: they are full again."""

    monotonic: Callable[[], float]
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, name: str, rate: RequestRate, *, what: str) -> None:
        """Take one token, or raise `RateLimitExceeded` with the time until the next one."""
        now = self.monotonic()
        tokens, since = self._buckets.get(name, (rate.burst, now))
        tokens = min(rate.burst, tokens + (now - since) * rate.per_second)
        if tokens < 1:
            raise RateLimitExceeded(subject=what, retry_after=(1 - tokens) / rate.per_second)
        self._buckets[name] = (tokens - 1, now)
        self._buckets.move_to_end(name)
        while len(self._buckets) > BUCKETS_MAX:
            self._buckets.popitem(last=False)

    def give_back(self, name: str, rate: RequestRate) -> None:
        """Return a token that was not needed."""
        if name in self._buckets:
            tokens, since = self._buckets[name]
            self._buckets[name] = (min(rate.burst, tokens + 1), since)
