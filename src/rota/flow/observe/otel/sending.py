"""The queue of ended spans, and the thread that sends them. Room: flow/observe/otel.

Nobody waits for a collector. One that is away for a moment costs nothing: spans wait, up to a
bound, and a batch is offered again. What does not fit is dropped, and what is lost is told.
"""

import threading
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from random import Random
from time import monotonic
from typing import Final

from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, attach, set_value
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from rota.flow.observe.otel.collector import Collector
from rota.runtime.backoff import Backoff

# About 3 KB each: a queue that is full holds 25 MB.
MOST: Final = 8_192
# Encoding one takes 60 µs during which nothing else in this process runs.
BATCH: Final = 128
EVERY: Final = 1.0
FLUSHED_EVERY: Final = 0.01
FIRST_PAUSE: Final = timedelta(seconds=0.1)
LONGEST_PAUSE: Final = timedelta(seconds=15)
CLOSING: Final = 5.0
FULL: Final = "the queue is full"
ENDED: Final = "the process ended before they were taken"

# How many, and why.
Lost = Callable[[int, str], object]


class Sending(SpanProcessor):
    """`lost` is called in the thread that sends."""

    def __init__(
        self, collector: Collector, *, lost: Lost, chance: Random, most: int = MOST
    ) -> None:
        self._collector = collector
        self._lost = lost
        self._most = most
        self._backoff = Backoff(chance=chance, shortest=FIRST_PAUSE, longest=LONGEST_PAUSE)
        self._queue: deque[ReadableSpan] = deque()
        # What was offered and not taken yet; it comes first.
        self._batch: list[ReadableSpan] = []
        self._dropped = 0
        self._dropping = threading.Lock()
        self._wanted = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rota-traces", daemon=True)
        self._thread.start()

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is None or not span.context.trace_flags.sampled:
            return
        if len(self._queue) >= self._most:
            with self._dropping:
                self._dropped += 1
            return
        self._queue.append(span)
        if len(self._queue) >= BATCH:
            self._wanted.set()

    def shutdown(self) -> None:
        """Offer everything once more, for a few seconds at most."""
        self._stopping.set()
        self._wanted.set()
        self._thread.join(CLOSING)
        if self._thread.is_alive():
            self._lost(len(self._batch) + len(self._queue), ENDED)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """For handlers that ask OpenTelemetry to: wait until all that has ended is sent."""
        end = monotonic() + timeout_millis / 1000
        while self._queue or self._batch:
            self._wanted.set()
            if monotonic() > end or self._stopping.wait(FLUSHED_EVERY):
                return False
        return True

    def _run(self) -> None:
        # An instrumented urllib3 would make a span of every request that brings spans.
        attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        while not self._stopping.is_set():
            self._wanted.wait(EVERY)
            self._wanted.clear()
            self._send_all()
        self._end()

    def _send_all(self) -> None:
        """Send what there is; a collector that is away is asked again after a pause."""
        while not self._stopping.is_set() and self._has_more():
            reason, again = self._collector.send(self._batch)
            if reason and again:
                self._tell_dropped()
                self._stopping.wait(self._backoff.pause().total_seconds())
                continue
            self._settle(reason)
            self._backoff.reset()
        self._tell_dropped()

    def _end(self) -> None:
        end = monotonic() + CLOSING / 2
        while self._has_more() and monotonic() < end:
            reason, again = self._collector.send(self._batch)
            if reason and again:
                break
            self._settle(reason)
        self._tell_dropped()
        if left := len(self._batch) + len(self._queue):
            self._lost(left, ENDED)
        self._collector.close()

    def _has_more(self) -> bool:
        while self._queue and len(self._batch) < BATCH:
            # In this order: a span is always in one of the two.
            self._batch.append(self._queue[0])
            self._queue.popleft()
        return bool(self._batch)

    def _settle(self, reason: str) -> None:
        """The batch was taken, or refused for ever."""
        if reason:
            self._lost(len(self._batch), reason)
        self._batch = []

    def _tell_dropped(self) -> None:
        with self._dropping:
            dropped, self._dropped = self._dropped, 0
        if dropped:
            self._lost(dropped, FULL)
