"""Generates span ids and decides which traces are sampled."""

import threading
from collections.abc import Sequence
from random import Random
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind
from opentelemetry.trace.span import TraceState
from opentelemetry.util.types import Attributes

from rota.core import traces

TRACE_BITS: Final = 128
SPAN_BITS: Final = 64


class SpanIdGenerator(IdGenerator):
    """Draws random ids, or uses ids given in advance: those of a run's first attempt."""

    def __init__(self, rng: Random) -> None:
        self._chance = rng
        # One call in one thread starts a span and requests its ids.
        self._preset = threading.local()

    def set_next_ids(self, trace_id: int, span_id: int) -> None:
        """Set the ids of the next root span of this thread."""
        self._preset.ids = [span_id, trace_id]

    def generate_trace_id(self) -> int:
        return self._next(TRACE_BITS)

    def generate_span_id(self) -> int:
        return self._next(SPAN_BITS)

    def is_trace_id_random(self) -> bool:
        return True

    def _next(self, bits: int) -> int:
        ids: list[int] | None = getattr(self._preset, "ids", None)
        # 0 is not a valid id.
        return ids.pop() if ids else self._chance.getrandbits(bits) or 1


class OneInSampler(Sampler):
    """Samples one in `one_in` traces that begin here. OpenTelemetry's own sampler compares bits
    that are not random in a run's id (core/traces.py).
    """

    def __init__(self, one_in: int) -> None:
        self._one_in = one_in

    def should_sample(  # noqa: PLR0913, PLR0917 — the contract
        self,
        parent_context: Context | None,  # noqa: ARG002 — the contract
        trace_id: int,
        name: str,  # noqa: ARG002
        kind: SpanKind | None = None,  # noqa: ARG002
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,  # noqa: ARG002
        trace_state: TraceState | None = None,  # noqa: ARG002
    ) -> SamplingResult:
        if traces.is_sampled(trace_id, one_in=self._one_in):
            return SamplingResult(Decision.RECORD_AND_SAMPLE, attributes)
        return SamplingResult(Decision.DROP)

    def get_description(self) -> str:
        return f"OneIn({self._one_in})"
