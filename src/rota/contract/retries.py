"""Reads and writes how often and how soon a failed run is retried."""

from datetime import timedelta
from typing import Annotated, Literal

from msgspec import Meta, Struct

from rota.contract.documents import FALLBACK
from rota.contract.pieces import Duration
from rota.core.retry import LONGEST_DELAY, MOST_RETRIES, Growth, Jitter, Retries
from rota.core.time import durations

RetriesMax = Annotated[int, Meta(ge=0, le=MOST_RETRIES)]


class RetriesDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How often and how soon a failed run is retried. A null field has its default."""

    max: Annotated[
        RetriesMax | None, Meta(description="Retries after the first attempt. Default: 3.")
    ] = None
    kind: Annotated[
        Annotated[Literal["exponential", "constant", "linear", "list"], Meta(extra=FALLBACK)]
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
        Annotated[Literal["full", "equal", "none"], Meta(extra=FALLBACK)] | None,
        Meta(
            description="Random share of each delay: all of it (`full`), half of it (`equal`) or "
            "`none`. Default: `full`."
        ),
    ] = None


def to_retries(draft: RetriesDraft | int) -> Retries:
    """Convert a document, or a number of retries, into core's value."""
    if isinstance(draft, int):
        return Retries(most=draft)
    default = Retries()
    delays = draft.delays or ()
    return Retries(
        most=default.most if draft.max is None else draft.max,
        growth=Growth(draft.kind or (Growth.LIST if delays else default.growth)),
        first=default.first if draft.base is None else _parse_delay(draft.base, "base"),
        cap=default.cap if draft.cap is None else _parse_delay(draft.cap, "cap"),
        delays=tuple(_parse_delay(text, f"delays[{place}]") for place, text in enumerate(delays)),
        jitter=Jitter(draft.jitter or default.jitter),
    )


def _parse_delay(value: str, name: str) -> timedelta:
    return durations.parse(value, field=f"retries.{name}", longest=LONGEST_DELAY)


def from_retries(retries: Retries) -> dict[str, object]:
    """Return the stored form, with every default written out."""
    return {
        "max": retries.most,
        "kind": retries.growth.value,
        "base": durations.iso(retries.first),
        "cap": durations.iso(retries.cap),
        "delays": [durations.iso(delay) for delay in retries.delays],
        "jitter": retries.jitter.value,
    }
