"""Reads and writes how often and how soon a failed run is retried."""

from datetime import timedelta
from typing import Annotated, Literal

from msgspec import Meta, Struct

from rota.contract.documents import FALLBACK_META
from rota.contract.field_types import Duration
from rota.core.policy import RETRIES_MAX, RETRY_DELAY_MAX, DelayGrowth, RetryJitter, RetryPolicy
from rota.core.time import durations

RetriesMax = Annotated[int, Meta(ge=0, le=RETRIES_MAX)]


class RetriesDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How often and how soon a failed run is retried. A null field has its default."""

    max: Annotated[
        RetriesMax | None, Meta(description="Retries after the first attempt. Default: 3.")
    ] = None
    kind: Annotated[
        Annotated[Literal["exponential", "constant", "linear", "list"], Meta(extra=FALLBACK_META)]
        | None,
        Meta(
            description="How the delay grows from retry to retry. Default: `list` if `delays` is "
            "set; otherwise `exponential`."
        ),
    ] = None
    base: Annotated[
        Duration | None,
        Meta(description="Delay before the first retry, at most 24 hours. Default: 1 s."),
    ] = None
    cap: Annotated[
        Duration | None, Meta(description="Maximum delay, at most 24 hours. Default: 1 hour.")
    ] = None
    delays: Annotated[
        Annotated[list[Duration], Meta(max_length=100)] | None,
        Meta(description="With kind `list`: the delays in order; the last repeats. Default: none."),
    ] = None
    jitter: Annotated[
        Annotated[Literal["full", "equal", "none"], Meta(extra=FALLBACK_META)] | None,
        Meta(
            description="Random share of each delay: all of it (`full`), half of it (`equal`) or "
            "`none`. Default: `full`."
        ),
    ] = None


def to_retries(draft: RetriesDraft | int) -> RetryPolicy:
    """Convert a document, or a number of retries, into core's value."""
    if isinstance(draft, int):
        return RetryPolicy(max_retries=draft)
    default = RetryPolicy()
    delays = draft.delays or ()
    return RetryPolicy(
        max_retries=default.max_retries if draft.max is None else draft.max,
        growth=DelayGrowth(draft.kind or (DelayGrowth.LIST if delays else default.growth)),
        base_delay=default.base_delay if draft.base is None else _parse_delay(draft.base, "base"),
        max_delay=default.max_delay if draft.cap is None else _parse_delay(draft.cap, "cap"),
        delays=tuple(_parse_delay(text, f"delays[{place}]") for place, text in enumerate(delays)),
        jitter=RetryJitter(draft.jitter or default.jitter),
    )


def _parse_delay(value: str, name: str) -> timedelta:
    return durations.parse(value, field=f"retries.{name}", maximum=RETRY_DELAY_MAX)


def write_retries(retries: RetryPolicy) -> dict[str, object]:
    """Return the stored form, with every default written out."""
    return {
        "max": retries.max_retries,
        "kind": retries.growth.value,
        "base": durations.to_iso(retries.base_delay),
        "cap": durations.to_iso(retries.max_delay),
        "delays": [durations.to_iso(delay) for delay in retries.delays],
        "jitter": retries.jitter.value,
    }
