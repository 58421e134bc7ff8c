"""How a run is found among traces: its id is the id of its trace. Room: core.

Both have 128 bits, so whoever knows a run knows its trace, and nothing is stored for it. The span
of the first attempt has the right half of the id, so others can point at it before it exists; later
attempts are its children (docs/adr/0026-traces.md).
"""

from typing import Final
from uuid import UUID

_RIGHT_HALF: Final = (1 << 64) - 1
# The bits that W3C Trace Context wants to be random. The two left of them in the right half are the
# variant of a UUID, always 10: a sampler that compares the whole half sees no id below a half.
_RANDOM_BITS: Final = 56
_RANDOM: Final = (1 << _RANDOM_BITS) - 1
_SAMPLED: Final = 1
_RANDOM_ID: Final = 2


def trace_of(run_id: UUID) -> int:
    return run_id.int


def first_span_of(run_id: UUID) -> int:
    """The span of the run's first attempt; never 0, because of the variant bits."""
    return run_id.int & _RIGHT_HALF


def is_sampled(trace_id: int, *, one_in: int) -> bool:
    """Whether a trace is one of those that are kept. Every process says the same of the same id,
    and what one share keeps, a larger one keeps too.
    """
    return (trace_id & _RANDOM) * one_in < 1 << _RANDOM_BITS


def traceparent(trace_id: int, span_id: int, *, sampled: bool) -> str:
    """The header of W3C Trace Context, which is also the variable TRACEPARENT."""
    flags = _RANDOM_ID | (_SAMPLED if sampled else 0)
    return f"00-{trace_id:032x}-{span_id:016x}-{flags:02x}"
