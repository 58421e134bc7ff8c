"""Reads and writes limits that runs share by key."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from rota.contract.documents import read_stored
from rota.contract.field_types import Duration
from rota.core.errors import InvalidInput, NewerDocument
from rota.core.limits import CONCURRENCY_MAX, RATE_COUNT_MAX, RATE_PERIOD_MAX, JobLimit, RateLimit
from rota.core.stored_documents import to_newer_document
from rota.core.submissions import LIMIT_KEY_CHARACTERS_MAX, prefix_errors
from rota.core.time import durations

RateCount = Annotated[int, Meta(ge=1, le=RATE_COUNT_MAX)]


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
        Annotated[str, Meta(min_length=1, max_length=LIMIT_KEY_CHARACTERS_MAX)],
        Meta(
            description="Runs with the same key share the limit; `{args.id}` is replaced by the "
            "value in the payload."
        ),
    ]
    max: Annotated[
        Annotated[int, Meta(ge=1, le=CONCURRENCY_MAX)] | None,
        Meta(description="Maximum number of concurrent runs. Default: no limit."),
    ] = None
    rate: Annotated[
        RateDraft | None,
        Meta(description="Maximum number of starts per period. Default: no limit."),
    ] = None


def to_limits(drafts: Sequence[LimitDraft]) -> tuple[JobLimit, ...]:
    """Convert documents into core's values; an error has the index of the wrong one."""
    limits = []
    for place, draft in enumerate(drafts):
        with prefix_errors(f"limits[{place}]"):
            limits.append(to_limit(draft))
    return tuple(limits)


def to_limit(draft: LimitDraft) -> JobLimit:
    rate = None if draft.rate is None else to_rate(draft.rate)
    return JobLimit(key=draft.key, max_running=draft.max, rate=rate)


def to_rate(draft: RateDraft) -> RateLimit:
    per = durations.parse(draft.per, field="rate.per", maximum=RATE_PERIOD_MAX)
    return RateLimit(count=draft.count, per=per, burst=draft.burst)


def write_limit(limit: JobLimit) -> dict[str, object]:
    """Return the stored form."""
    rate = limit.rate
    return {
        "key": limit.key,
        "max": limit.max_running,
        "rate": rate
        and {"count": rate.count, "per": durations.to_iso(rate.per), "burst": rate.burst},
    }


def read_stored_limits(value: object) -> tuple[JobLimit, ...]:
    """Read the limits of a stored job; null means none."""
    if not isinstance(value, list | None):
        raise NewerDocument("limits", value, "expected a list of limits")
    limits = []
    for place, document in enumerate(value or ()):
        with prefix_errors(f"limits[{place}]"):
            limits.append(read_stored_limit(document))
    return tuple(limits)


def read_stored_limit(value: Mapping[str, Any]) -> JobLimit:
    """Read a limit from the database. Unknown fields are ignored.

    Raises `NewerDocument` if the rest is not a limit: a worker must not start more runs because it
    does not understand a limit.
    """
    try:
        return to_limit(read_stored(LimitDraft, value).document)
    except InvalidInput as error:
        raise to_newer_document(error) from error
