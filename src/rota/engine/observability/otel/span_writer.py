"""Writes the spans of Rota.

They contain only ids, names and times of Rota's own: no payload, result, header or path, and of an
error its type but not its message. Any of those may hold a secret, and traces go to another system.
"""

import os
import re
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib import metadata
from random import Random
from time import time_ns
from typing import Final
from uuid import UUID

from opentelemetry import context as current
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ParentBased
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from rota.core import traces
from rota.core.outcome import Failed, HandedBack, Outcome
from rota.core.time import moments
from rota.engine.observability.otel.collector import Collector
from rota.engine.observability.otel.span_ids import OneInSampler, SpanIdGenerator
from rota.engine.observability.otel.span_sender import OnSpansLost, SpanSender
from rota.store.live_runs import ClaimedRun

TRACER_NAME: Final = "rota"
NANOSECONDS: Final = 1_000_000_000
# OpenTelemetry keeps 128 links; an attribute holds the number of runs, so omissions are visible.
SPAN_LINKS_MAX: Final = 100
ERROR_STATUS: Final = Status(StatusCode.ERROR)
EMPTY_CONTEXT: Final = Context()
TRACE_HEADERS: Final = (b"traceparent", b"tracestate")
CAMEL_CASE_BOUNDARY: Final = re.compile(r"(?<!^)(?=[A-Z])")
# A caller may send any text as a method; span names must be few.
KNOWN_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER_METHOD: Final = "_OTHER"
PROPAGATOR: Final = TraceContextTextMapPropagator()


@dataclass(frozen=True, slots=True)
class OtelAttemptSpan:
    """A started attempt span, ended once with the attempt's outcome."""

    span: Span
    traceparent: str

    def end(self, outcome: Outcome, /) -> None:
        if self.span.is_recording():
            self.span.set_attribute("rota.outcome", name_outcome(outcome))
            if isinstance(outcome, Failed):
                self.span.set_attribute("error.type", outcome.failure.type)
                self.span.set_status(ERROR_STATUS)
            self.span.end()


@dataclass(slots=True)
class OtelRequestSpan:
    span: Span
    method: str
    one_in: int
    _runs: int = 0

    def set_route(self, route: str, /) -> None:
        self.span.update_name(f"{self.method} {route}")
        self.span.set_attribute("http.route", route)

    def set_tenant(self, tenant_id: int, /) -> None:
        self.span.set_attribute("rota.tenant.id", tenant_id)

    def link_runs(self, run_ids: Iterable[UUID], /) -> None:
        for run_id in run_ids:
            if self._runs < SPAN_LINKS_MAX:
                self.span.add_link(build_first_span_context(run_id, one_in=self.one_in))
            self._runs += 1

    def end(self, status: int, /) -> None:
        self.span.set_attribute("http.response.status_code", status)
        if self._runs:
            self.span.set_attribute("rota.runs", self._runs)
        if status >= 500:
            self.span.set_status(ERROR_STATUS)
        self.span.end()


class OtelTraceWriter:
    """Implements `engine.observability.tracing.Traces`."""

    def __init__(
        self, collector: Collector, *, service: str, one_in: int, on_lost: OnSpansLost, rng: Random
    ) -> None:
        self._ids, self._one_in = SpanIdGenerator(rng), one_in
        resource = Resource.create(
            {
                "service.name": service,
                "service.version": metadata.version("rota"),
                "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
            }
        )
        # The process closes it at the right time; at exit it would be too late for the collector.
        self.provider = TracerProvider(
            sampler=ParentBased(OneInSampler(one_in)),
            resource=resource,
            id_generator=self._ids,
            shutdown_on_exit=False,
        )
        self.provider.add_span_processor(SpanSender(collector, on_lost=on_lost, rng=rng))
        self._tracer = self.provider.get_tracer(TRACER_NAME, metadata.version("rota"))

    def start_attempt(
        self, run: ClaimedRun, kind: str, *, ahead: float, queue: str | None = None
    ) -> OtelAttemptSpan:
        trace_id = traces.derive_trace_id(run.id)
        if traces.is_sampled(trace_id, one_in=self._one_in):
            span = self._begin_attempt(run, kind, ahead=ahead)
            if queue is not None:
                span.set_attribute("rota.queue", queue)
        else:
            span = NonRecordingSpan(build_first_span_context(run.id, one_in=self._one_in))
        current.attach(trace.set_span_in_context(span, EMPTY_CONTEXT))
        span_context = span.get_span_context()
        header = traces.build_traceparent(
            trace_id, span_context.span_id, sampled=span.is_recording()
        )
        return OtelAttemptSpan(span, header)

    def _begin_attempt(self, run: ClaimedRun, kind: str, *, ahead: float) -> Span:
        first = build_first_span_context(run.id, one_in=self._one_in)
        if run.attempt == 1:
            self._ids.set_next_ids(first.trace_id, first.span_id)
            before = EMPTY_CONTEXT
        else:
            before = trace.set_span_in_context(NonRecordingSpan(first), EMPTY_CONTEXT)
        return self._tracer.start_span(
            f"attempt {kind}",
            context=before,
            kind=SpanKind.CONSUMER,
            start_time=time_ns() + round(ahead * NANOSECONDS),
            attributes={
                "rota.run.id": f"run_{run.id.hex}",
                "rota.job.id": f"job_{run.job_id.hex}",
                "rota.job.version": run.job_version,
                "rota.kind": kind,
                "rota.tenant.id": run.tenant_id,
                "rota.attempt": run.attempt,
                "rota.failures": run.failures,
                "rota.scheduled_at": moments.to_rfc3339(run.scheduled_at),
                "rota.ready_at": moments.to_rfc3339(run.ready_at),
                "rota.claimed_at": moments.to_rfc3339(run.started_at),
            },
        )

    def start_request(
        self, method: str, headers: Iterable[tuple[bytes, bytes]], *, request_id: str
    ) -> OtelRequestSpan:
        method = method if method in KNOWN_METHODS else OTHER_METHOD
        span = self._tracer.start_span(
            method,
            context=extract_context(headers),
            kind=SpanKind.SERVER,
            attributes={"http.request.method": method, "rota.request.id": request_id},
        )
        return OtelRequestSpan(span, method, self._one_in)

    def record_ticks(self, run_ids: Sequence[UUID], *, duration: float, late_by: timedelta) -> None:
        """Write one span for the batch, in its own trace. A span per run would cost more than the
        whole statement and add nothing to the run's first attempt.
        """
        end = time_ns()
        span = self._tracer.start_span(
            "fire",
            context=EMPTY_CONTEXT,
            kind=SpanKind.PRODUCER,
            start_time=end - round(duration * NANOSECONDS),
            attributes={"rota.runs": len(run_ids), "rota.late_s": late_by.total_seconds()},
        )
        if span.is_recording():
            for run_id in run_ids[:SPAN_LINKS_MAX]:
                span.add_link(build_first_span_context(run_id, one_in=self._one_in))
            span.end(end)

    def close(self) -> None:
        self.provider.shutdown()


def name_outcome(outcome: Outcome) -> str:
    """Return the name of an outcome, the same as in metrics."""
    if isinstance(outcome, Failed) and outcome.timed_out:
        return "timed_out"
    if isinstance(outcome, HandedBack):
        return "released"
    return CAMEL_CASE_BOUNDARY.sub("_", type(outcome).__name__).lower()


def build_first_span_context(run_id: UUID, *, one_in: int) -> SpanContext:
    """Return the context of the first span of a run's trace, which may not exist yet."""
    trace_id = traces.derive_trace_id(run_id)
    flags = TraceFlags.RANDOM_TRACE_ID
    if traces.is_sampled(trace_id, one_in=one_in):
        flags |= TraceFlags.SAMPLED
    return SpanContext(
        trace_id, traces.derive_first_span_id(run_id), is_remote=True, trace_flags=TraceFlags(flags)
    )


def extract_context(headers: Iterable[tuple[bytes, bytes]]) -> Context:
    """Return the caller's trace context. Invalid or repeated headers are ignored."""
    found = [(name, value) for name, value in headers if name in TRACE_HEADERS]
    if len({name for name, _ in found}) < len(found):
        return EMPTY_CONTEXT
    carrier = {name.decode(): value.decode("latin-1") for name, value in found}
    return PROPAGATOR.extract(carrier, EMPTY_CONTEXT)


def open_traces(
    endpoint: str,
    headers: Mapping[str, str],
    *,
    service: str,
    one_in: int,
    on_lost: OnSpansLost,
    rng: Random,
) -> OtelTraceWriter:
    """Start writing traces. If the process has no OpenTelemetry provider yet, install this one, so
    that a handler's spans are sent with the spans they belong to.
    """
    collector = Collector.for_endpoint(endpoint, headers)
    writer = OtelTraceWriter(collector, service=service, one_in=one_in, on_lost=on_lost, rng=rng)
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        trace.set_tracer_provider(writer.provider)
    return writer
