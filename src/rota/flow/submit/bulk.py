"""Runs a bulk action in two steps: a dry run that counts, then a call bounded by that count (E10).

core/bulk.py defines the token and the filter. The callers (run_cancellation.py, requeue.py) change
the chosen runs. Each call is one bounded batch; while runs are left, its result has the token for
the next call.
"""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from rota.core import bulk
from rota.core.bulk import MOST_COUNTED, Promise, RunFilter
from rota.core.time.schedule import STEP
from rota.store.driver import Connection
from rota.store.revival import Matching


class Counted(NamedTuple):
    """The result of a dry run: the number of matching runs, and the confirmation token."""

    found: int
    token: str


class Done(NamedTuple):
    """The runs that were changed, how many are left, and the token for those, if any."""

    ids: tuple[UUID, ...]
    left: int
    token: str | None


class FindRuns(Protocol):
    def __call__(
        self, conn: Connection, which: RunFilter, *, tenant_id: int, most: int, batch: int
    ) -> Awaitable[Matching]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A bulk action: its name, and the query that both counts and selects its runs."""

    name: str
    find: FindRuns


class Chosen(NamedTuple):
    """The batch of one call, and the count of all matching runs."""

    action: Action
    tenant_id: int
    which: RunFilter
    promise: Promise
    found: int
    ids: list[UUID]

    def done(self, touched: Sequence[UUID]) -> Done:
        """Return the result. Chosen runs that changed meanwhile do not count as left."""
        left = self.found - len(self.ids)
        rest = Promise(count=left, until=self.promise.until)
        token = bulk.promise(self.action.name, self.tenant_id, self.which, rest)
        return Done(tuple(touched), left, token if left else None)


async def count(
    conn: Connection, action: Action, which: RunFilter, *, tenant_id: int, now: datetime
) -> Counted:
    """Count the tenant's runs that an action would change, and return the token for it."""
    which = bulk.checked(which)
    # Includes `now`: the caller may already see a run that ended at this moment.
    until = now + STEP
    bounded = bulk.bounded(which, until)
    found, _ = await action.find(conn, bounded, tenant_id=tenant_id, most=MOST_COUNTED + 1, batch=0)
    promise = Promise(count=bulk.check_count(found), until=until)
    return Counted(found, bulk.promise(action.name, tenant_id, which, promise))


async def choose(
    conn: Connection, action: Action, which: RunFilter, *, tenant_id: int, token: str, most: int
) -> Chosen:
    """Select the runs of one batch. Refuse the token of another filter and a count that grew."""
    which, most = bulk.checked(which), bulk.check_most(most)
    promise = bulk.read_promise(action.name, tenant_id, which, token)
    wanted = bulk.bounded(which, promise.until)
    found, ids = await action.find(
        conn,
        wanted,
        tenant_id=tenant_id,
        most=MOST_COUNTED + 1,
        batch=min(most, promise.count),
    )
    bulk.refuse_more(found, promise)
    return Chosen(action, tenant_id, which, promise, found, ids)
