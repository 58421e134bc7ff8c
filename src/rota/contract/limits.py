"""Reads and writes limits that runs share by key."""

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
    """At most `count` runs start per `per`, of which `burst` may start at the same time."""

    count: Annotated[RateCount, Meta(description="Number of runs that may start per period.")]
    per: Annotated[Duration, Meta(description="Length of the period, at most a year.")]
    burst: Annotated[
        RateCount, Meta(description="Number of runs that may start at the same time. Default: 1.")
    ] = 1


class LimitDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A limit shared by all runs with the same key. `{args.id}` in the key is replaced by the
    value in the payload.
    """

    key: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MOST_KEY)],
        Meta(
            description="Runs with the same key share the limit; `{args.id}` is replaced by the "
            "value in the payload."
        ),
    ]
    max: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_AT_ONCE)] | None,
        Meta(description="Maximum number of concurrent runs. Default: no limit."),
    ] = None
    rate: Annotated[
        RateDraft | None,
        Meta(description="Maximum number of starts per period. Default: no limit."),
    ] = None


def to_limits(drafts: Sequence[LimitDraft]) -> tuple[Limit, ...]:
    """Convert documents into core's values; an error has the index of the wrong one."""
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
    """Read the limits of a stored job; null means none."""
    if not isinstance(value, list | None):
        raise NewerDocument("limits", value, "expected a list of limits")
    limits = []
    for place, document in enumerate(value or ()):
        with within(f"limits[{place}]"):
            limits.append(read_stored_limit(document))
    return tuple(limits)


def read_stored_limit(value: Mapping[str, Any]) -> Limit:
    """Read a limit from the database. Unknown fields are ignored.

    Raises `NewerDocument` if the rest is not a limit: a worker must not start more runs because it
    does not understand a limit.
    """
    try:
        return to_limit(read_stored(LimitDraft, value).document)
    except InvalidInput as error:
        raise newer(error) from error
