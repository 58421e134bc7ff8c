"""Checks the filters and confirmation tokens of bulk operations (S13).

A bulk operation takes two calls: a dry run counts and returns a token, and the second call sends
the token. The token holds the count and the time of counting, so that the second call never
changes more than the dry run showed, even if new runs match the filter meanwhile. The token guards
against mistakes, not against attackers: core/access.py decides who may call.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final, Protocol
from uuid import UUID

from rota.core.errors import Conflict, InvalidInput
from rota.core.ids import EPOCH
from rota.core.submissions import check_name, encode_canonical
from rota.core.time import moments

# One call counts no further; a caller with more runs must narrow the filter.
COUNTED_RUNS_MAX: Final = 100_000
BULK_BATCH_MAX: Final = 10_000
_MICROSECOND: Final = timedelta(microseconds=1)
_PARTS: Final = 3
_LONGEST_NUMBER: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRunFilter:
    """Selects runs. `error` is the type of the last failure; `fingerprint` distinguishes failures
    of one type. `since` and `until` (exclusive) refer to the end of finished runs and to the
    creation of unfinished ones.
    """

    job_id: UUID | None = None
    kind: str | None = None
    queue: str | None = None
    error: str | None = None
    fingerprint: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def to_values(self) -> dict[str, object]:
        return {
            "job_id": None if self.job_id is None else str(self.job_id),
            "kind": self.kind,
            "queue": self.queue,
            "error": self.error,
            "fingerprint": self.fingerprint,
            "since": None if self.since is None else moments.to_rfc3339(self.since),
            "until": None if self.until is None else moments.to_rfc3339(self.until),
        }


class ConfirmableFilter(Protocol):
    """A filter of any resource; a token is bound to the values that `said` returns."""

    def to_values(self) -> dict[str, object]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkConfirmation:
    """The content of a token: change at most `count`, and nothing created after `until`."""

    count: int
    until: datetime


def check_filter(run_filter: BulkRunFilter) -> BulkRunFilter:
    """Reject an empty filter, which would match everything, and invalid values."""
    if run_filter == BulkRunFilter():
        wanted = (
            "required; give at least one of job_id, kind, queue, error, fingerprint, since, until"
        )
        raise InvalidInput("filter", None, wanted)
    for name in ("kind", "queue", "error", "fingerprint"):
        value = getattr(run_filter, name)
        if value is not None:
            check_name(value, f"filter.{name}")
    since, until = (
        None if value is None else moments.parse(value, field=f"filter.{name}")
        for name, value in (("since", run_filter.since), ("until", run_filter.until))
    )
    if since is not None and until is not None and since >= until:
        raise InvalidInput("filter.until", moments.to_rfc3339(until), "must be after filter.since")
    return replace(run_filter, since=since, until=until)


def limit_until(run_filter: BulkRunFilter, until: datetime) -> BulkRunFilter:
    """Return the filter without runs that came after `until`."""
    return replace(
        run_filter, until=until if run_filter.until is None else min(run_filter.until, until)
    )


def issue_token(
    action: str, tenant_id: int, bulk_filter: ConfirmableFilter, confirmation: BulkConfirmation
) -> str:
    """Return the token that confirms `action` on the runs that this filter found."""
    moment = (confirmation.until - EPOCH) // _MICROSECOND
    seal = _seal(action, tenant_id, bulk_filter, confirmation.count, moment)
    return f"{confirmation.count}.{moment}.{seal}"


def read_token(
    action: str, tenant_id: int, bulk_filter: ConfirmableFilter, token: str
) -> BulkConfirmation:
    """Return the content of a token; raise `InvalidInput` if it was given for another call."""
    count, moment = _parse_numbers(token)
    if token.rpartition(".")[2] != _seal(action, tenant_id, bulk_filter, count, moment):
        wanted = "expected the token that a dry run of the same call returned"
        raise InvalidInput("token", token, wanted)
    return BulkConfirmation(count=count, until=EPOCH + moment * _MICROSECOND)


def check_confirmation(found: int, confirmation: BulkConfirmation) -> None:
    """Raise `Conflict` if more runs match than the dry run showed to the caller."""
    if found > confirmation.count:
        reason = (
            f"{found} match now, {confirmation.count} matched in the dry run; repeat the dry run"
        )
        raise Conflict("runs", reason)


def check_count(found: int) -> int:
    if found > COUNTED_RUNS_MAX:
        wanted = f"must match at most {COUNTED_RUNS_MAX:,} runs; narrow the filter"
        raise InvalidInput("filter", f"more than {COUNTED_RUNS_MAX} runs", wanted)
    return found


def check_batch_size(limit: int) -> int:
    if not 1 <= limit <= BULK_BATCH_MAX:
        raise InvalidInput("most", limit, f"must be 1 to {BULK_BATCH_MAX}")
    return limit


def _parse_numbers(token: str) -> tuple[int, int]:
    parts = token.split(".")
    numbers = parts[:2]
    if len(parts) != _PARTS or not all(
        part.isascii() and part.isdigit() and len(part) <= _LONGEST_NUMBER for part in numbers
    ):
        return 0, 0
    return int(numbers[0]), int(numbers[1])


def _seal(
    action: str, tenant_id: int, bulk_filter: ConfirmableFilter, count: int, moment: int
) -> str:
    text = encode_canonical(
        {
            "action": action,
            "tenant": tenant_id,
            **bulk_filter.to_values(),
            "count": count,
            "moment": moment,
        }
    )
    return blake2b(text.encode(), digest_size=12, person=b"rota bulk").hexdigest()
