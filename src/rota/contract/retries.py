"""How often and how soon a failed run is tried again. Room: contract."""

from datetime import timedelta
from typing import Annotated, Literal

from msgspec import Meta, Struct

from rota.contract.documents import FALLBACK
from rota.contract.pieces import Duration
from rota.core.retry import LONGEST_DELAY, MOST_RETRIES, Growth, Jitter, Retries
from rota.core.time import durations

RetriesMax = Annotated[int, Meta(ge=0, le=MOST_RETRIES)]


class RetriesDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How often and how soon a failed run is tried again. Null counts as left out."""

    max: Annotated[
        RetriesMax | None, Meta(description="Attempts after the first one. Default: 3.")
    ] = None
    kind: Annotated[
        Annotated[Literal["exponential", "constant", "linear", "list"], Meta(extra=FALLBACK)]
        | None,
        Meta(description="How the delay grows. Default: `exponential`, or `list` with `delays`."),
    ] = None
    base: Annotated[
        Duration | None, Meta(description="The first delay, at most 24 hours. Default: 1 s.")
    ] = None
    cap: Annotated[
        Duration | None, Meta(description="The longest delay, at most 24 hours. Default: 1 hour.")
    ] = None
    delays: Annotated[
        Annotated[list[Duration], Meta(max_length=100)] | None,
        Meta(description="With `list`: each delay in turn; the last one repeats. Default: none."),
    ] = None
    jitter: Annotated[
        Annotated[Literal["full", "equal", "none"], Meta(extra=FALLBACK)] | None,
        Meta(description="How much of each delay is random. Default: `full`."),
    ] = None


def to_retries(draft: RetriesDraft | int) -> Retries:
    """Turn a document, or a number of retries, into core's value."""
    if isinstance(draft, int):
        return Retries(most=draft)
    usual = Retries()
    delays = draft.delays or ()
    return Retries(
        most=usual.most if draft.max is None else draft.max,
        growth=Growth(draft.kind or (Growth.LIST if delays else usual.growth)),
        first=usual.first if draft.base is None else _delay(draft.base, "base"),
        cap=usual.cap if draft.cap is None else _delay(draft.cap, "cap"),
        delays=tuple(_delay(each, f"delays[{place}]") for place, each in enumerate(delays)),
        jitter=Jitter(draft.jitter or usual.jitter),
    )


def _delay(value: str, name: str) -> timedelta:
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
