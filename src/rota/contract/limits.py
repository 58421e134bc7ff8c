"""Limits that runs share by a key, as documents. Room: contract."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from rota.contract.documents import read_stored
from rota.contract.pieces import Duration
from rota.core.documents import newer
from rota.core.errors import InvalidInput, NewerDocument
from rota.core.limits import LONGEST_PERIOD, MOST_AT_ONCE, MOST_PER_TIME, Limit, Rate
from rota.core.submission import MOST_KEY, within
from rota.core.time import durations

RateCount = Annotated[int, Meta(ge=1, le=MOST_PER_TIME)]


class RateDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """So many starts per time, of which `burst` may come at once."""

    count: Annotated[RateCount, Meta(description="So many starts …")]
    per: Annotated[Duration, Meta(description="… in this time, at most a year.")]
    burst: Annotated[
        RateCount, Meta(description="How many of them may come at once. Default: 1.")
    ] = 1


class LimitDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A limit that all runs with the same key share; `{args.id}` is filled from the payload."""

    key: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MOST_KEY)],
        Meta(description="Runs with the same key share the limit."),
    ]
    max: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_AT_ONCE)] | None,
        Meta(description="How many may run at a time. Default: no limit."),
    ] = None
    rate: Annotated[
        RateDraft | None, Meta(description="How many may start per time. Default: no limit.")
    ] = None


def to_limits(drafts: Sequence[LimitDraft]) -> tuple[Limit, ...]:
    """Turn documents into core's values; an error says which of them is wrong."""
    limits = []
    for place, draft in enumerate(drafts):
        with within(f"limits[{place}]"):
            limits.append(to_limit(draft))
    return tuple(limits)


def to_limit(draft: LimitDraft) -> Limit:
    rate = None if draft.rate is None else to_rate(draft.rate)
    return Limit(key=draft.key, most=draft.max, rate=rate)


def to_rate(draft: RateDraft) -> Rate:
    per = durations.parse(draft.per, field="rate.per", longest=LONGEST_PERIOD)
    return Rate(count=draft.count, per=per, burst=draft.burst)


def from_limit(limit: Limit) -> dict[str, object]:
    """Return the stored form."""
    rate = limit.rate
    return {
        "key": limit.key,
        "max": limit.most,
        "rate": rate and {"count": rate.count, "per": durations.iso(rate.per), "burst": rate.burst},
    }


def read_stored_limits(value: object) -> tuple[Limit, ...]:
    """Read the limits of a stored job; null is none."""
    if not isinstance(value, list | None):
        raise NewerDocument("limits", value, "a list of limits")
    limits = []
    for place, each in enumerate(value or ()):
        with within(f"limits[{place}]"):
            limits.append(read_stored_limit(each))
    return tuple(limits)


def read_stored_limit(value: Mapping[str, Any]) -> Limit:
    """Read a limit from the database. Unknown fields are ignored; `NewerDocument` if the rest is
    no limit: a worker must not start more runs because it does not understand a limit.
    """
    try:
        return to_limit(read_stored(LimitDraft, value).document)
    except InvalidInput as error:
        raise newer(error) from error
