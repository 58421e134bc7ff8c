"""Limits open streams: the live feed and followed logs together."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from rota.api.problems import ProblemError

EVENT_STREAM: Final = "text/event-stream"
STREAM_TIMEOUT_S: Final = 15 * 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLimits:
    """Maximum open streams. Together they leave capacity for requests: a process handles 2,000
    requests at the same time.
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
        """Return the response that sends these events, or refuse if too many are open.

        The stream counts from here on, before its first event, so that concurrent requests cannot
        exceed the limit. It stops counting when the response ends for any reason.
        """
        self._refuse_more(key_id, tenant_id)
        self._count(key_id, tenant_id, 1)
        return CountedStream(events, on_end=lambda: self._count(key_id, tenant_id, -1))

    def _refuse_more(self, key_id: UUID, tenant_id: int) -> None:
        limits = self.limits
        for is_full, limit in (
            (self._by_key[key_id] >= limits.per_key, f"{limits.per_key} open streams per key"),
            (
                self._by_tenant[tenant_id] >= limits.per_tenant,
                f"{limits.per_tenant} open streams per tenant",
            ),
            (self.count >= limits.per_process, f"{limits.per_process} open streams per process"),
        ):
            if is_full:
                detail = (
                    f"limit reached: {limit}, including the live feed and followed logs; close one"
                )
                raise ProblemError("too_many_requests", detail, headers={"Retry-After": "5"})

    def _count(self, key_id: UUID, tenant_id: int, change: int) -> None:
        self.count += change
        for counter in (self._by_key, self._by_tenant):
            name = key_id if counter is self._by_key else tenant_id
            counter[name] += change
            if counter[name] == 0:
                del counter[name]


class CountedStream(StreamingResponse):
    """A stream of events that calls `on_end` when it ends, even if it never started."""

    def __init__(self, events: AsyncIterator[bytes], *, on_end: Callable[[], object]) -> None:
        super().__init__(events, media_type=EVENT_STREAM)
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_end()
