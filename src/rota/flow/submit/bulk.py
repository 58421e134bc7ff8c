"""A bulk call in its two steps: count and promise, then do no more than was promised (E10).

Room: flow/submit. The token and the filter are core/bulk.py; what is done to the runs that were
chosen is said by who calls (cancelling.py, reviving.py). Each call is one bounded batch; while
something is left, its answer has the token for the next.
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
    """What a dry run says: so many match, and the token to do it."""

    found: int
    token: str


class Done(NamedTuple):
    """The runs that were touched, how many are left, and the token for those, if any."""

    ids: tuple[UUID, ...]
    left: int
    token: str | None


class FindRuns(Protocol):
    def __call__(
        self, conn: Connection, which: RunFilter, *, tenant_id: int, most: int, batch: int
    ) -> Awaitable[Matching]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What is done, by name, and how the runs for it are found. The same condition counts them."""

    name: str
    find: FindRuns


class Chosen(NamedTuple):
    """The batch of one call, and what is known about the rest."""

    action: Action
    tenant_id: int
    which: RunFilter
    promise: Promise
    found: int
    ids: list[UUID]

    def done(self, touched: Sequence[UUID]) -> Done:
        """The answer. What was chosen and not touched had changed meanwhile, and is not left."""
        left = self.found - len(self.ids)
        rest = Promise(count=left, until=self.promise.until)
        token = bulk.promise(self.action.name, self.tenant_id, self.which, rest)
        return Done(tuple(touched), left, token if left else None)


async def count(
    conn: Connection, action: Action, which: RunFilter, *, tenant_id: int, now: datetime
) -> Counted:
    """How many runs of the tenant an action would touch, and the token for it."""
    which = bulk.checked(which)
    # Until and with now: what ended this very moment is among what the caller sees.
    until = now + STEP
    bounded = bulk.bounded(which, until)
    found, _ = await action.find(conn, bounded, tenant_id=tenant_id, most=MOST_COUNTED + 1, batch=0)
    promise = Promise(count=bulk.check_count(found), until=until)
    return Counted(found, bulk.promise(action.name, tenant_id, which, promise))


async def choose(
    conn: Connection, action: Action, which: RunFilter, *, tenant_id: int, token: str, most: int
) -> Chosen:
    """The runs of one batch, if the token was given for them and they did not become more."""
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
