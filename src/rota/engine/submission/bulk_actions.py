"""Runs a bulk action in two steps: a dry run that counts, then a call bounded by that count (E10).

core/bulk_operations.py defines the token and the filter. The callers (run_cancellation.py,
requeue.py) change the chosen runs. Each call is one bounded batch; while runs are left, its result
has the token for the next call.
"""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from rota.core import bulk_operations
from rota.core.bulk_operations import COUNTED_RUNS_MAX, BulkConfirmation, BulkRunFilter
from rota.core.time.schedule import MICROSECOND
from rota.store.driver import Connection
from rota.store.requeue import MatchingRuns


class BulkCount(NamedTuple):
    """The result of a dry run: the number of matching runs, and the confirmation token."""

    found: int
    token: str


class BulkResult(NamedTuple):
    """The runs that were changed, how many are left, and the token for those, if any."""

    ids: tuple[UUID, ...]
    left: int
    token: str | None


class FindRuns(Protocol):
    def __call__(
        self, conn: Connection, run_filter: BulkRunFilter, *, tenant_id: int, limit: int, batch: int
    ) -> Awaitable[MatchingRuns]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAction:
    """A bulk action: its name, and the query that both counts and selects its runs."""

    name: str
    find: FindRuns


class BulkBatch(NamedTuple):
    """The batch of one call, and the count of all matching runs."""

    action: BulkAction
    tenant_id: int
    filter_: BulkRunFilter
    promise: BulkConfirmation
    found: int
    ids: list[UUID]

    def build_result(self, touched: Sequence[UUID]) -> BulkResult:
        """Return the result. Chosen runs that changed meanwhile do not count as left."""
        left = self.found - len(self.ids)
        rest = BulkConfirmation(count=left, until=self.promise.until)
        token = bulk_operations.issue_token(self.action.name, self.tenant_id, self.filter_, rest)
        return BulkResult(tuple(touched), left, token if left else None)


async def count_runs(
    conn: Connection, action: BulkAction, filter_: BulkRunFilter, *, tenant_id: int, now: datetime
) -> BulkCount:
    """Count the tenant's runs that an action would change, and return the token for it."""
    filter_ = bulk_operations.check_filter(filter_)
    # Includes `now`: the caller may already see a run that ended at this moment.
    until = now + MICROSECOND
    bounded = bulk_operations.limit_until(filter_, until)
    found, _ = await action.find(
        conn, bounded, tenant_id=tenant_id, limit=COUNTED_RUNS_MAX + 1, batch=0
    )
    promise = BulkConfirmation(count=bulk_operations.check_count(found), until=until)
    return BulkCount(found, bulk_operations.issue_token(action.name, tenant_id, filter_, promise))


async def choose_runs(
    conn: Connection,
    action: BulkAction,
    filter_: BulkRunFilter,
    *,
    tenant_id: int,
    token: str,
    limit: int,
) -> BulkBatch:
    """Select the runs of one batch. Refuse the token of another filter and a count that grew."""
    filter_, limit = bulk_operations.check_filter(filter_), bulk_operations.check_batch_size(limit)
    promise = bulk_operations.read_token(action.name, tenant_id, filter_, token)
    wanted = bulk_operations.limit_until(filter_, promise.until)
    found, ids = await action.find(
        conn,
        wanted,
        tenant_id=tenant_id,
        limit=COUNTED_RUNS_MAX + 1,
        batch=min(limit, promise.count),
    )
    bulk_operations.check_confirmation(found, promise)
    return BulkBatch(action, tenant_id, filter_, promise, found, ids)
