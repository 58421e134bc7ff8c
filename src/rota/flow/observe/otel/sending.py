"""Queues ended spans and sends them from a thread.

Nothing waits for a collector. A collector that is down for a moment costs nothing: spans wait, up
to a limit, and a batch is sent again. Spans that do not fit are dropped, and losses are reported.
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

# Spans in the queue, about 3 KB each: a full queue holds 25 MB.
MOST: Final = 8_192
# Spans per request. Encoding one takes 60 µs, during which nothing else in this process runs.
BATCH: Final = 128
EVERY: Final = 1.0
FLUSHED_EVERY: Final = 0.01
FIRST_PAUSE: Final = timedelta(seconds=0.1)
LONGEST_PAUSE: Final = timedelta(seconds=15)
CLOSING: Final = 5.0
FULL: Final = "the queue is full"
ENDED: Final = "the process ended before they were sent"

# Called with the number of lost spans and the reason.
Lost = Callable[[int, str], object]


class Sending(SpanProcessor):
    """Calls `on_lost` in the sending thread."""

    def __init__(
        self, collector: Collector, *, lost: Lost, chance: Random, most: int = MOST
    ) -> None:
        self._collector = collector
        self._lost = lost
        self._most = most
        self._backoff = Backoff(chance=chance, shortest=FIRST_PAUSE, longest=LONGEST_PAUSE)
        self._queue: deque[ReadableSpan] = deque()
        # The batch that was sent and not accepted yet; it comes first.
        self._batch: list[ReadableSpan] = []
        self._dropped = 0
        self._dropping = threading.Lock()
        self._requested = threading.Event()
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
            self._requested.set()

    def shutdown(self) -> None:
        """Send everything once more, for a few seconds at most."""
        self._stopping.set()
        self._requested.set()
        self._thread.join(CLOSING)
        if self._thread.is_alive():
            self._lost(len(self._batch) + len(self._queue), ENDED)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Wait until all ended spans are sent; for handlers that call OpenTelemetry's flush."""
        end = monotonic() + timeout_millis / 1000
        while self._queue or self._batch:
            self._requested.set()
            if monotonic() > end or self._stopping.wait(FLUSHED_EVERY):
                return False
        return True

    def _run(self) -> None:
        # An instrumented urllib3 would create a span for every request that sends spans.
        attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        while not self._stopping.is_set():
            self._requested.wait(EVERY)
            self._requested.clear()
            self._send_all()
        self._end()

    def _send_all(self) -> None:
        """Send all queued spans; retry after a pause while the collector is down."""
        while not self._stopping.is_set() and self._fill_batch():
            reason, again = self._collector.send(self._batch)
            if reason and again:
                self._report_dropped()
                self._stopping.wait(self._backoff.pause().total_seconds())
                continue
            self._finish_batch(reason)
            self._backoff.reset()
        self._report_dropped()

    def _end(self) -> None:
        end = monotonic() + CLOSING / 2
        while self._fill_batch() and monotonic() < end:
            reason, again = self._collector.send(self._batch)
            if reason and again:
                break
            self._finish_batch(reason)
        self._report_dropped()
        if left := len(self._batch) + len(self._queue):
            self._lost(left, ENDED)
        self._collector.close()

    def _fill_batch(self) -> bool:
        while self._queue and len(self._batch) < BATCH:
            # In this order, so that a span is always in one of the two.
            self._batch.append(self._queue[0])
            self._queue.popleft()
        return bool(self._batch)

    def _finish_batch(self, reason: str) -> None:
        """Drop the batch after it was accepted or permanently rejected."""
        if reason:
            self._lost(len(self._batch), reason)
        self._batch = []

    def _report_dropped(self) -> None:
        with self._dropping:
            dropped, self._dropped = self._dropped, 0
        if dropped:
            self._lost(dropped, FULL)
