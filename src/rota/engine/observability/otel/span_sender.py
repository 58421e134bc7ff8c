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

from rota.engine.observability.otel.collector import Collector
from rota.runtime.backoff import Backoff

# Spans in the queue, about 3 KB each: a full queue holds 25 MB.
SPAN_QUEUE_MAX: Final = 8_192
# Spans per request. Encoding one takes 60 µs, during which nothing else in this process runs.
SPAN_BATCH_MAX: Final = 128
SEND_INTERVAL_S: Final = 1.0
FLUSH_CHECK_INTERVAL_S: Final = 0.01
RETRY_PAUSE_MIN: Final = timedelta(seconds=0.1)
RETRY_PAUSE_MAX: Final = timedelta(seconds=15)
SHUTDOWN_TIMEOUT_S: Final = 5.0
QUEUE_FULL: Final = "the queue is full"
PROCESS_ENDED: Final = "the process ended before they were sent"

# Called with the number of lost spans and the reason.
OnSpansLost = Callable[[int, str], object]


class SpanSender(SpanProcessor):
    """Calls `on_lost` in the sending thread."""

    def __init__(
        self,
        collector: Collector,
        *,
        on_lost: OnSpansLost,
        rng: Random,
        queue_max: int = SPAN_QUEUE_MAX,
    ) -> None:
        self._collector = collector
        self._lost = on_lost
        self._most = queue_max
        self._backoff = Backoff(rng=rng, min_pause=RETRY_PAUSE_MIN, max_pause=RETRY_PAUSE_MAX)
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
        if len(self._queue) >= SPAN_BATCH_MAX:
            self._requested.set()

    def shutdown(self) -> None:
        """Send everything once more, for a few seconds at most."""
        self._stopping.set()
        self._requested.set()
        self._thread.join(SHUTDOWN_TIMEOUT_S)
        if self._thread.is_alive():
            self._lost(len(self._batch) + len(self._queue), PROCESS_ENDED)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Wait until all ended spans are sent; for handlers that call OpenTelemetry's flush."""
        end = monotonic() + timeout_millis / 1000
        while self._queue or self._batch:
            self._requested.set()
            if monotonic() > end or self._stopping.wait(FLUSH_CHECK_INTERVAL_S):
                return False
        return True

    def _run(self) -> None:
        # An instrumented urllib3 would create a span for every request that sends spans.
        attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        while not self._stopping.is_set():
            self._requested.wait(SEND_INTERVAL_S)
            self._requested.clear()
            self._send_all()
        self._end()

    def _send_all(self) -> None:
        """Send all queued spans; retry after a pause while the collector is down."""
        while not self._stopping.is_set() and self._fill_batch():
            reason, again = self._collector.send(self._batch)
            if reason and again:
                self._report_dropped()
                self._stopping.wait(self._backoff.next_pause().total_seconds())
                continue
            self._finish_batch(reason)
            self._backoff.reset()
        self._report_dropped()

    def _end(self) -> None:
        end = monotonic() + SHUTDOWN_TIMEOUT_S / 2
        while self._fill_batch() and monotonic() < end:
            reason, again = self._collector.send(self._batch)
            if reason and again:
                break
            self._finish_batch(reason)
        self._report_dropped()
        if left := len(self._batch) + len(self._queue):
            self._lost(left, PROCESS_ENDED)
        self._collector.close()

    def _fill_batch(self) -> bool:
        while self._queue and len(self._batch) < SPAN_BATCH_MAX:
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
            self._lost(dropped, QUEUE_FULL)
