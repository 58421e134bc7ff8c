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

MOST: Final = 100
# Batches that are written at the same time: one fills while the disk is busy with the other.
AT_ONCE: Final = 2
# Accepted error of the estimated database time when a request was drafted.
ESTIMATE_ERROR_MAX: Final = timedelta(seconds=1)

Input = TypeVar("Input")
Result = TypeVar("Result")


class GoAlone(Exception):
    """This request cannot share a commit with others."""


@dataclass(slots=True, eq=False)
class Wish(Generic[Input, Result]):
    """A submission that waits for its batch. `answer` builds the reply once it is written. `at` is
    the draft time by the estimate of the database's clock, `since` by the monotonic clock.
    """

    call: "Call"
    given: Input
    answer: "Callable[[Result], Reply]"
    made: "asyncio.Future[tuple[Result, Reply]]"
    at: datetime
    since: float


def nothing_more() -> None:
    """Do nothing after the commit; most writers need no more."""


class Written(NamedTuple, Generic[Result]):
    """The results of a batch, in order; `committed` is called after the commit."""

    made: Sequence[Result]
    committed: Callable[[], None] = nothing_more


class Writer(Protocol[Input, Result]):
    """Writes a batch of one tenant on `conn`, which is in the tenant's scope: all of it, or it
    raises. `now` is the time by the database's clock.
    """

    async def __call__(
        self, conn: Connection, wishes: Sequence[Wish[Input, Result]], *, now: datetime
    ) -> Written[Result]: ...


@dataclass(slots=True)
class Gathering(Generic[Input, Result]):
    """Runs in the API's event loop. A cancelled request may still be written."""

    write: Writer[Input, Result]
    _waiting: dict[int, list[Wish[Input, Result]]] = field(default_factory=dict)
    _writing: set["asyncio.Task[None]"] = field(default_factory=set)

    async def submit(
        self, call: "Call", given: Input, answer: "Callable[[Result], Reply]"
    ) -> "tuple[Result, Reply]":
        """Write one submission together with concurrent ones, or raise `GoAlone`."""
        made = asyncio.get_running_loop().create_future()
        wish = Wish(call, given, answer, made, call.now, call.service.clock.monotonic())
        self._waiting.setdefault(call.tenant_id, []).append(wish)
        self._write_more()
        return await wish.made

    def refuse_waiting(self, error: StoreUnavailable) -> None:
        """Fail the submissions that are not being written yet: the database is unreachable."""
        waiting, self._waiting = self._waiting, {}
        for wishes in waiting.values():
            refuse(wishes, StoreUnavailable(reason=error.reason))

    def _write_more(self) -> None:
        while self._waiting and len(self._writing) < AT_ONCE:
            # The tenant that has waited longest; its remaining submissions go to the end.
            tenant_id = next(iter(self._waiting))
            wishes = self._waiting.pop(tenant_id)
            if len(wishes) > MOST:
                self._waiting[tenant_id] = wishes[MOST:]
            task = asyncio.create_task(self._write(wishes[:MOST]))
            self._writing.add(task)
            task.add_done_callback(self._write_next)

    def _write_next(self, task: "asyncio.Task[None]") -> None:
        self._writing.discard(task)
        self._write_more()

    async def _write(self, wishes: Sequence[Wish[Input, Result]]) -> None:
        try:
            await self._write_batch(wishes)
        except StoreUnavailable as error:
            # The commit may have succeeded: a retry could create duplicates.
            refuse(wishes, error)
        except RotaError as error:
            if len(wishes) == 1:
                refuse(wishes, error)
                return
            for wish in wishes:
                if not wish.made.done():
                    await self._write([wish])
        except BaseException as error:
            refuse(wishes, error)
            if not isinstance(error, Exception):
                raise

    async def _write_batch(self, wishes: Sequence[Wish[Input, Result]]) -> None:
        call = wishes[0].call
        async with call.service.pool.acquire() as conn, tenant_scope(conn, call.tenant_id) as now:
            wishes = well_timed(wishes, now, call.service.clock.monotonic())
            wishes = await new_ones(conn, wishes)
            if not wishes:
                return
            written = await self.write(conn, wishes, now=now)
            pairs = zip(wishes, written.made, strict=True)
            replies = [(wish, result, wish.answer(result)) for wish, result in pairs]
            await keep_answers(conn, [(wish.call, reply) for wish, _, reply in replies])
        written.committed()
        for wish, result, reply in replies:
            if not wish.made.done():
                wish.made.set_result((result, reply))


def well_timed(
    wishes: Sequence[Wish[Input, Result]], now: datetime, monotonic: float
) -> list[Wish[Input, Result]]:
    """Return the submissions that were drafted at the right time; the others are drafted again,
    each alone.

    The estimate of the database's clock is wrong for a moment after this machine slept, or after a
    failover to a server with a different clock.
    """
    timely: list[Wish[Input, Result]] = []
    wrong: list[Wish[Input, Result]] = []
    for wish in wishes:
        drafted = now - timedelta(seconds=monotonic - wish.since)
        (wrong if abs(drafted - wish.at) > ESTIMATE_ERROR_MAX else timely).append(wish)
    refuse(wrong, GoAlone())
    return timely


async def new_ones(
    conn: Connection, wishes: Sequence[Wish[Input, Result]]
) -> list[Wish[Input, Result]]:
    """Return the submissions without an idempotency key or with a new one; the others go alone."""
    with_key = {wish.call.asked: wish for wish in reversed(wishes) if wish.call.asked is not None}
    if not with_key:
        return list(wishes)
    fresh = await idempotency.begin_requests(conn, list(with_key))
    new = [
        wish
        for wish in wishes
        if wish.call.asked is None
        or (wish.call.asked in fresh and with_key[wish.call.asked] is wish)
    ]
    refuse([wish for wish in wishes if wish not in new], GoAlone())
    return new


async def keep_answers(conn: Connection, told: "Sequence[tuple[Call, Reply]]") -> None:
    answers = [
        IdempotentResponse(call.asked, reply.status or call.operation.status, reply.encoded())
        for call, reply in told
        if call.asked is not None
    ]
    if answers:
        await idempotency.finish_requests(conn, answers)


def refuse(wishes: Sequence[Wish[Input, Result]], error: BaseException) -> None:
    for wish in wishes:
        if not wish.made.done():
            wish.made.set_exception(error)
