"""Selects the events of a replay, which matches them again.

As in other bulk operations (core/bulk_operations.py), a dry run returns the count and a
confirmation token, and the second call presents the token. The time of the dry run is part of the
ids of the created runs: a replay creates new runs, and using the same token twice creates no
duplicates.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from rota.core import bulk_operations
from rota.core.bulk_operations import BulkConfirmation
from rota.core.errors import Conflict, InvalidInput
from rota.core.submissions import check_name
from rota.core.time import moments

REPLAY_ACTION: Final = "events.replay"
REPLAY_EVENTS_MAX: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayFilter:
    """`since` and `until` (exclusive) filter by arrival time; `job_id` matches one job only."""

    type: str | None = None
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    job_id: UUID | None = None

    def to_values(self) -> dict[str, object]:
        return {
            "type": self.type,
            "source": self.source,
            "since": None if self.since is None else moments.to_rfc3339(self.since),
            "until": None if self.until is None else moments.to_rfc3339(self.until),
            "job_id": None if self.job_id is None else str(self.job_id),
        }


def check_filter(event_filter: ReplayFilter) -> ReplayFilter:
    """Reject an empty filter and invalid values."""
    if event_filter == ReplayFilter():
        wanted = "expected at least one of type, source, since, until and job_id"
        raise InvalidInput("filter", "nothing", wanted)
    for name in ("type", "source"):
        value = getattr(event_filter, name)
        if value is not None:
            check_name(value, f"filter.{name}", max_length=500)
    if (
        event_filter.since is not None
        and event_filter.until is not None
        and event_filter.since >= event_filter.until
    ):
        wanted = "must be after filter.since"
        raise InvalidInput("filter.until", moments.to_rfc3339(event_filter.until), wanted)
    return event_filter


def limit_until(event_filter: ReplayFilter, until: datetime) -> ReplayFilter:
    """Return the filter limited to events that arrived before `until`."""
    return replace(
        event_filter, until=until if event_filter.until is None else min(event_filter.until, until)
    )


def create_token(event_filter: ReplayFilter, promise: BulkConfirmation, *, tenant_id: int) -> str:
    return bulk_operations.issue_token(REPLAY_ACTION, tenant_id, event_filter, promise)


def read_token(event_filter: ReplayFilter, token: str, *, tenant_id: int) -> BulkConfirmation:
    return bulk_operations.read_token(REPLAY_ACTION, tenant_id, event_filter, token)


def check_count(found: int) -> int:
    if found > REPLAY_EVENTS_MAX:
        wanted = f"must match at most {REPLAY_EVENTS_MAX} events; use several narrower filters"
        raise InvalidInput("filter", f"more than {REPLAY_EVENTS_MAX} events", wanted)
    return found


def check_not_grown(found: int, promise: BulkConfirmation) -> None:
    """Reject a replay of more events than the dry run showed to the caller."""
    if found > promise.count:
        reason = f"{found} match now, {promise.count} matched in the dry run; repeat the dry run"
        raise Conflict("events", reason)
