"""One limit for everything that streams: the live feed and followed logs. Room: api."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from rota.api.problems import Refusal

EVENT_STREAM: Final = "text/event-stream"
STREAM_TIMEOUT_S: Final = 15 * 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLimits:
    """How many streams may be open at the same time. All of them together leave room for requests:
    a process answers 2,000 at the same time.
    """

    per_key: int = 10
    per_tenant: int = 100
    per_process: int = 1_000


@dataclass(slots=True, kw_only=True)
class OpenStreams:
    """Counts the streams of this process."""

    limits: StreamLimits = StreamLimits()
    _by_key: Counter[object] = field(default_factory=Counter)
    _by_tenant: Counter[object] = field(default_factory=Counter)
    count: int = 0

    def open(
        self, events: AsyncIterator[bytes], *, key_id: UUID, tenant_id: int
    ) -> StreamingResponse:
        """Return the response that sends these events, or refuse it if too many are open.

        The stream counts from here on, before its first event, so that many requests at once cannot
        pass; it is given back when the response ends, however it ends.
        """
        self._refuse_more(key_id, tenant_id)
        self._count(key_id, tenant_id, 1)
        return CountedStream(events, on_end=lambda: self._count(key_id, tenant_id, -1))

    def _refuse_more(self, key_id: UUID, tenant_id: int) -> None:
        limits = self.limits
        for is_full, whose in (
            (self._by_key[key_id] >= limits.per_key, f"{limits.per_key} streams of a key"),
            (
                self._by_tenant[tenant_id] >= limits.per_tenant,
                f"{limits.per_tenant} streams of a tenant",
            ),
            (self.count >= limits.per_process, f"{limits.per_process} streams of a process"),
        ):
            if is_full:
                detail = f"{whose} are open, the live feed and followed logs together; close one"
                raise Refusal("too_many_requests", detail, headers={"Retry-After": "5"})

    def _count(self, key_id: UUID, tenant_id: int, change: int) -> None:
        self.count += change
        for counter in (self._by_key, self._by_tenant):
            name = key_id if counter is self._by_key else tenant_id
            counter[name] += change
            if counter[name] == 0:
                del counter[name]


class CountedStream(StreamingResponse):
    """A stream of events that tells when it has ended, even if it never began."""

    def __init__(self, events: AsyncIterator[bytes], *, on_end: Callable[[], object]) -> None:
        super().__init__(events, media_type=EVENT_STREAM)
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_end()
