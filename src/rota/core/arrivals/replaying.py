"""Selects the events of a replay, which matches them again.

As in other bulk operations (core/bulk.py), a dry run returns the count and a confirmation token,
and the second call presents the token. The time of the dry run is part of the ids of the created
runs: a replay creates new runs, and using the same token twice creates no duplicates.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from rota.core import bulk
from rota.core.bulk import Promise
from rota.core.errors import Conflict, InvalidInput
from rota.core.submission import check_name
from rota.core.time import moments

ACTION: Final = "events.replay"
MOST: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """`since` and `until` (exclusive) filter by arrival time; `job_id` matches one job only."""

    type: str | None = None
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    job_id: UUID | None = None

    def said(self) -> dict[str, object]:
        return {
            "type": self.type,
            "source": self.source,
            "since": None if self.since is None else moments.rfc3339(self.since),
            "until": None if self.until is None else moments.rfc3339(self.until),
            "job_id": None if self.job_id is None else str(self.job_id),
        }


def checked(which: EventFilter) -> EventFilter:
    """Reject an empty filter and invalid values."""
    if which == EventFilter():
        wanted = "expected at least one of type, source, since, until and job_id"
        raise InvalidInput("filter", "nothing", wanted)
    for name in ("type", "source"):
        value = getattr(which, name)
        if value is not None:
            check_name(value, f"filter.{name}", most=500)
    if which.since is not None and which.until is not None and which.since >= which.until:
        wanted = "must be after filter.since"
        raise InvalidInput("filter.until", moments.rfc3339(which.until), wanted)
    return which


def bounded(which: EventFilter, until: datetime) -> EventFilter:
    """Return the filter limited to events that arrived before `until`."""
    return replace(which, until=until if which.until is None else min(which.until, until))


def token_of(which: EventFilter, said: Promise, *, tenant_id: int) -> str:
    return bulk.promise(ACTION, tenant_id, which, said)


def promised(which: EventFilter, token: str, *, tenant_id: int) -> Promise:
    return bulk.read_promise(ACTION, tenant_id, which, token)


def check_count(found: int) -> int:
    if found > MOST:
        wanted = f"must match at most {MOST} events; use several narrower filters"
        raise InvalidInput("filter", f"more than {MOST} events", wanted)
    return found


def refuse_more(found: int, said: Promise) -> None:
    """Reject a replay of more events than the dry run showed to the caller."""
    if found > said.count:
        reason = f"{found} match now, {said.count} matched in the dry run; repeat the dry run"
        raise Conflict("events", reason)
