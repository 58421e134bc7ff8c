"""Batches concurrent submissions of single requests into shared commits.

Submitting a job or an event costs a dozen round trips and a disk flush, whether it is one or fifty.
So submissions of one tenant that arrive while another batch is being written are written together.
Each submission is validated before it joins. If the database still refuses a batch (a name is
taken), its members are written one by one, and only the invalid one fails. Their idempotency rows
are written with them; a request whose key was used before is executed alone and gets the stored
response. The writers decide what is written.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from rota.core.errors import RotaError, StoreUnavailable
from rota.store import idempotency
from rota.store.driver import Connection
from rota.store.idempotency import IdempotentResponse
from rota.store.row_level_security import tenant_scope

if TYPE_CHECKING:
    from rota.api.call import Call, Reply

BATCH_MAX: Final = 100
# Batches that are written at the same time: one fills while the disk is busy with the other.
CONCURRENT_BATCHES_MAX: Final = 2
# Accepted error of the estimated database time when a request was drafted.
ESTIMATE_ERROR_MAX: Final = timedelta(seconds=1)

Input = TypeVar("Input")
Result = TypeVar("Result")


class NotBatchable(Exception):
    """This request cannot share a commit with others."""


@dataclass(slots=True, eq=False)
class PendingSubmission(Generic[Input, Result]):
    """A submission that waits for its batch. `answer` builds the reply once it is written. `at` is
    the draft time by the estimate of the database's clock, `since` by the monotonic clock.
    """

    call: "Call"
    input: Input
    build_reply: "Callable[[Result], Reply]"
    result: "asyncio.Future[tuple[Result, Reply]]"
    drafted_at: datetime
    drafted_monotonic: float


def do_nothing() -> None:
    """Do nothing after the commit; most writers need no more."""


class BatchResult(NamedTuple, Generic[Result]):
    """The results of a batch, in order; `committed` is called after the commit."""

    results: Sequence[Result]
    on_commit: Callable[[], None] = do_nothing


class BatchWriter(Protocol[Input, Result]):
    """Writes a batch of one tenant on `conn`, which is in the tenant's scope: all of it, or it
    raises. `now` is the time by the database's clock.
    """

    async def __call__(
        self,
        conn: Connection,
        submissions: Sequence[PendingSubmission[Input, Result]],
        *,
        now: datetime,
    ) -> BatchResult[Result]: ...


@dataclass(slots=True)
class CommitBatcher(Generic[Input, Result]):
    """Runs in the API's event loop. A cancelled request may still be written."""

    write: BatchWriter[Input, Result]
    _waiting: dict[int, list[PendingSubmission[Input, Result]]] = field(default_factory=dict)
    _writing: set["asyncio.Task[None]"] = field(default_factory=set)

    async def submit(
        self, call: "Call", draft: Input, build_reply: "Callable[[Result], Reply]"
    ) -> "tuple[Result, Reply]":
        """Write one submission together with concurrent ones, or raise `NotBatchable`."""
        result = asyncio.get_running_loop().create_future()
        pending = PendingSubmission(
            call, draft, build_reply, result, call.now, call.service.clock.monotonic()
        )
        self._waiting.setdefault(call.tenant_id, []).append(pending)
        self._write_more()
        return await pending.result

    def fail_pending(self, error: StoreUnavailable) -> None:
        """Fail the submissions that are not being written yet: the database is unreachable."""
        waiting, self._waiting = self._waiting, {}
        for submissions in waiting.values():
            fail_submissions(submissions, StoreUnavailable(reason=error.reason))

    def _write_more(self) -> None:
        while self._waiting and len(self._writing) < CONCURRENT_BATCHES_MAX:
            # The tenant that has waited longest; its remaining submissions go to the end.
            tenant_id = next(iter(self._waiting))
            submissions = self._waiting.pop(tenant_id)
            if len(submissions) > BATCH_MAX:
                self._waiting[tenant_id] = submissions[BATCH_MAX:]
            task = asyncio.create_task(self._write(submissions[:BATCH_MAX]))
            self._writing.add(task)
            task.add_done_callback(self._write_next)

    def _write_next(self, task: "asyncio.Task[None]") -> None:
        self._writing.discard(task)
        self._write_more()

    async def _write(self, submissions: Sequence[PendingSubmission[Input, Result]]) -> None:
        try:
            await self._write_batch(submissions)
        except StoreUnavailable as error:
            # The commit may have succeeded: a retry could create duplicates.
            fail_submissions(submissions, error)
        except RotaError as error:
            if len(submissions) == 1:
                fail_submissions(submissions, error)
                return
            for wish in submissions:
                if not wish.result.done():
                    await self._write([wish])
        except BaseException as error:
            fail_submissions(submissions, error)
            if not isinstance(error, Exception):
                raise

    async def _write_batch(self, submissions: Sequence[PendingSubmission[Input, Result]]) -> None:
        call = submissions[0].call
        async with call.service.pool.acquire() as conn, tenant_scope(conn, call.tenant_id) as now:
            submissions = select_well_timed(submissions, now, call.service.clock.monotonic())
            submissions = await select_new(conn, submissions)
            if not submissions:
                return
            written = await self.write(conn, submissions, now=now)
            pairs = zip(submissions, written.results, strict=True)
            replies = [(wish, result, wish.build_reply(result)) for wish, result in pairs]
            await store_replies(conn, [(wish.call, reply) for wish, _, reply in replies])
        written.on_commit()
        for wish, result, reply in replies:
            if not wish.result.done():
                wish.result.set_result((result, reply))


def select_well_timed(
    submissions: Sequence[PendingSubmission[Input, Result]], now: datetime, monotonic: float
) -> list[PendingSubmission[Input, Result]]:
    """Return the submissions that were drafted at the right time; the others are drafted again,
    each alone.

    The estimate of the database's clock is wrong for a moment after this machine slept, or after a
    failover to a server with a different clock.
    """
    timely: list[PendingSubmission[Input, Result]] = []
    wrong: list[PendingSubmission[Input, Result]] = []
    for wish in submissions:
        drafted = now - timedelta(seconds=monotonic - wish.drafted_monotonic)
        (wrong if abs(drafted - wish.drafted_at) > ESTIMATE_ERROR_MAX else timely).append(wish)
    fail_submissions(wrong, NotBatchable())
    return timely


async def select_new(
    conn: Connection, submissions: Sequence[PendingSubmission[Input, Result]]
) -> list[PendingSubmission[Input, Result]]:
    """Return the submissions without an idempotency key or with a new one; the others go alone."""
    with_key = {
        wish.call.idempotency_key: wish
        for wish in reversed(submissions)
        if wish.call.idempotency_key is not None
    }
    if not with_key:
        return list(submissions)
    fresh = await idempotency.begin_requests(conn, list(with_key))
    new = [
        wish
        for wish in submissions
        if wish.call.idempotency_key is None
        or (wish.call.idempotency_key in fresh and with_key[wish.call.idempotency_key] is wish)
    ]
    fail_submissions([wish for wish in submissions if wish not in new], NotBatchable())
    return new


async def store_replies(conn: Connection, replies: "Sequence[tuple[Call, Reply]]") -> None:
    answers = [
        IdempotentResponse(
            call.idempotency_key, reply.status or call.operation.status, reply.encode()
        )
        for call, reply in replies
        if call.idempotency_key is not None
    ]
    if answers:
        await idempotency.finish_requests(conn, answers)


def fail_submissions(
    submissions: Sequence[PendingSubmission[Input, Result]], error: BaseException
) -> None:
    for wish in submissions:
        if not wish.result.done():
            wish.result.set_exception(error)
