"""Which events are to be matched again. Room: core/arrivals.

As with other calls on many things (core/bulk.py) a dry run counts and gives a token, and the second
call shows it. The moment of counting is part of the ids of the runs that it makes: a replay makes
new runs, and the same token twice makes nothing twice.
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
    """`since` and `until` (exclusive) are about the arrival. With a job only that one is asked."""

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
    """Refuse a filter that means everything, and what it cannot mean."""
    if which == EventFilter():
        wanted = "at least one of type, source, since, until and job_id"
        raise InvalidInput("filter", "nothing", wanted)
    for name in ("type", "source"):
        value = getattr(which, name)
        if value is not None:
            check_name(value, f"filter.{name}", most=500)
    if which.since is not None and which.until is not None and which.since >= which.until:
        wanted = "a time after filter.since"
        raise InvalidInput("filter.until", moments.rfc3339(which.until), wanted)
    return which


def bounded(which: EventFilter, until: datetime) -> EventFilter:
    """The same events, without those that came after `until`."""
    return replace(which, until=until if which.until is None else min(which.until, until))


def token_of(which: EventFilter, said: Promise, *, tenant_id: int) -> str:
    return bulk.promise(ACTION, tenant_id, which, said)


def promised(which: EventFilter, token: str, *, tenant_id: int) -> Promise:
    return bulk.read_promise(ACTION, tenant_id, which, token)


def check_count(found: int) -> int:
    if found > MOST:
        wanted = f"a filter that finds at most {MOST} events, or several one after the other"
        raise InvalidInput("filter", f"more than {MOST} events", wanted)
    return found


def refuse_more(found: int, said: Promise) -> None:
    """More than was shown must not be matched: what it is, nobody has looked at."""
    if found > said.count:
        reason = f"{found} match now and {said.count} did at the dry run; make another one"
        raise Conflict("events", reason)
