"""Derives trace and span ids from run ids.

A run id has 128 bits and is also the id of its trace, so nothing has to be stored. The span id of
the first attempt is the right half of the run id, so other spans can refer to it before it exists;
later attempts are its children (docs/adr/0026-traces.md).
"""

from typing import Final
from uuid import UUID

_RIGHT_HALF: Final = (1 << 64) - 1
# The bits that W3C Trace Context requires to be random. The two highest bits of the right half are
# the UUID variant, always 10, so a sampler that compares the whole half sees only its upper range.
_RANDOM_BITS: Final = 56
_RANDOM: Final = (1 << _RANDOM_BITS) - 1
_SAMPLED: Final = 1
_RANDOM_ID: Final = 2


def derive_trace_id(run_id: UUID) -> int:
    return run_id.int


def derive_first_span_id(run_id: UUID) -> int:
    """Return the span id of the run's first attempt; never 0, because of the variant bits."""
    return run_id.int & _RIGHT_HALF


def is_sampled(trace_id: int, *, one_in: int) -> bool:
    """Return whether a trace is sampled. Every process decides the same for the same id, and a
    larger share keeps every trace that a smaller one keeps.
    """
    return (trace_id & _RANDOM) * one_in < 1 << _RANDOM_BITS


def build_traceparent(trace_id: int, span_id: int, *, sampled: bool) -> str:
    """Return the W3C `traceparent` header, which is also the variable TRACEPARENT."""
    flags = _RANDOM_ID | (_SAMPLED if sampled else 0)
    return f"00-{trace_id:032x}-{span_id:016x}-{flags:02x}"
