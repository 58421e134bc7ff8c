"""Single requests that come at the same time share one commit. Room: api.

To hand in a job or an event costs a dozen round trips and a flush of the disk, whether it is one or
fifty. So those of one tenant that arrive while another batch is being written are written together.
What is wrong with one is found before it joins; if a batch is refused all the same (a name that is
taken), its members are written one by one, and only the one that is wrong hears of it. The rows of
their idempotency keys are written with them; a key that was used before sends its request to the
other door, where it is answered as it was. What is written is told by the writers.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from rota.core.errors import RotaError, StoreUnavailable
from rota.store import idempotency
from rota.store.driver import Connection
from rota.store.idempotency import Answer
from rota.store.walls import behind_wall

if TYPE_CHECKING:
    from rota.api.call import Call, Reply

MOST: Final = 100
# Batches that are written at the same time: one gathers while the disk is busy with the other.
AT_ONCE: Final = 2
# How wrong the estimate of the database's time may have been when a request was drafted.
ESTIMATE_ERROR_MAX: Final = timedelta(seconds=1)

Given = TypeVar("Given")
Made = TypeVar("Made")


class GoAlone(Exception):
    """This request cannot be carried out with others."""


@dataclass(slots=True, eq=False)
class Wish(Generic[Given, Made]):
    """`answer` tells what is answered to it once it is written. `at` is the time it was drafted at,
    by the estimate of the database's clock, and `since` by the monotonic one.
    """

    call: "Call"
    given: Given
    answer: "Callable[[Made], Reply]"
    made: "asyncio.Future[tuple[Made, Reply]]"
    at: datetime
    since: float


def nothing_more() -> None:
    """What most writers do once their batch is committed."""


class Written(NamedTuple, Generic[Made]):
    """What became of each wish of a batch, in their order; `committed` is called when it holds."""

    made: Sequence[Made]
    committed: Callable[[], None] = nothing_more


class Writer(Protocol[Given, Made]):
    """Writes a batch for one tenant, behind whose wall `conn` is: all of it, or it raises. `now` is
    the time by the database's clock.
    """

    async def __call__(
        self, conn: Connection, wishes: Sequence[Wish[Given, Made]], *, now: datetime
    ) -> Written[Made]: ...


@dataclass(slots=True)
class Gathering(Generic[Given, Made]):
    """Lives in the loop of the API. A request that is cancelled meanwhile may still be written."""

    write: Writer[Given, Made]
    _waiting: dict[int, list[Wish[Given, Made]]] = field(default_factory=dict)
    _writing: set["asyncio.Task[None]"] = field(default_factory=set)

    async def submit(
        self, call: "Call", given: Given, answer: "Callable[[Made], Reply]"
    ) -> "tuple[Made, Reply]":
        """Write one together with whatever else is being handed in; or raise `GoAlone`."""
        made = asyncio.get_running_loop().create_future()
        wish = Wish(call, given, answer, made, call.now, call.service.clock.monotonic())
        self._waiting.setdefault(call.tenant_id, []).append(wish)
        self._write_more()
        return await wish.made

    def refuse_waiting(self, error: StoreUnavailable) -> None:
        """Refuse what is not being written yet: the database is away."""
        waiting, self._waiting = self._waiting, {}
        for wishes in waiting.values():
            refuse(wishes, StoreUnavailable(reason=error.reason))

    def _write_more(self) -> None:
        while self._waiting and len(self._writing) < AT_ONCE:
            # The tenant that has waited longest; the rest of it goes to the end.
            tenant_id = next(iter(self._waiting))
            wishes = self._waiting.pop(tenant_id)
            if len(wishes) > MOST:
                self._waiting[tenant_id] = wishes[MOST:]
            task = asyncio.create_task(self._write(wishes[:MOST]))
            self._writing.add(task)
            task.add_done_callback(self._written)

    def _written(self, task: "asyncio.Task[None]") -> None:
        self._writing.discard(task)
        self._write_more()

    async def _write(self, wishes: Sequence[Wish[Given, Made]]) -> None:
        try:
            await self._together(wishes)
        except StoreUnavailable as error:
            # Nobody knows whether it was committed: to try again could make it twice.
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

    async def _together(self, wishes: Sequence[Wish[Given, Made]]) -> None:
        call = wishes[0].call
        async with call.service.pool.acquire() as conn, behind_wall(conn, call.tenant_id) as now:
            wishes = well_timed(wishes, now, call.service.clock.monotonic())
            wishes = await new_ones(conn, wishes)
            if not wishes:
                return
            written = await self.write(conn, wishes, now=now)
            pairs = zip(wishes, written.made, strict=True)
            told = [(wish, each, wish.answer(each)) for wish, each in pairs]
            await keep_answers(conn, [(wish.call, reply) for wish, _, reply in told])
        written.committed()
        for wish, each, reply in told:
            if not wish.made.done():
                wish.made.set_result((each, reply))


def well_timed(
    wishes: Sequence[Wish[Given, Made]], now: datetime, monotonic: float
) -> list[Wish[Given, Made]]:
    """Those that were drafted at the right time; the others are drafted again, each alone.

    The estimate of the database's clock is wrong for a moment after this machine slept, or when
    another server took over whose clock is another.
    """
    kept: list[Wish[Given, Made]] = []
    wrong: list[Wish[Given, Made]] = []
    for wish in wishes:
        drafted = now - timedelta(seconds=monotonic - wish.since)
        (wrong if abs(drafted - wish.at) > ESTIMATE_ERROR_MAX else kept).append(wish)
    refuse(wrong, GoAlone())
    return kept


async def new_ones(
    conn: Connection, wishes: Sequence[Wish[Given, Made]]
) -> list[Wish[Given, Made]]:
    """Those without a key, and those whose key nobody used; the others are sent away."""
    with_key = {wish.call.asked: wish for wish in reversed(wishes) if wish.call.asked is not None}
    if not with_key:
        return list(wishes)
    fresh = await idempotency.begin_many(conn, list(with_key))
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
        Answer(call.asked, reply.status or call.operation.status, reply.encoded())
        for call, reply in told
        if call.asked is not None
    ]
    if answers:
        await idempotency.finish_many(conn, answers)


def refuse(wishes: Sequence[Wish[Given, Made]], error: BaseException) -> None:
    for wish in wishes:
        if not wish.made.done():
            wish.made.set_exception(error)
