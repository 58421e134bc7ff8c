"""Single submissions that come at the same time share one commit. Room: api.

A submission costs a dozen round trips and a flush of the disk, whether it brings one job or fifty.
So those of one tenant that arrive while another batch is being written are written together. What
is wrong with a job is found before it joins; if a batch is refused all the same (a name that is
taken), its members are written one by one, and only the one that is wrong hears of it. The rows of
their idempotency keys are written with them; a key that was used before sends its request to the
other door, where it is answered as it was.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rota.core.errors import RotaError, StoreUnavailable
from rota.core.submission import JobSpec
from rota.flow.submit import submitting
from rota.flow.submit.drafting import Draft
from rota.flow.submit.interned import Interned, Known
from rota.flow.submit.submitting import Submitted
from rota.store import audit, cluster_views, idempotency
from rota.store.audit import NewEntry
from rota.store.driver import Connection, Pool
from rota.store.idempotency import Answer
from rota.store.walls import behind_wall

if TYPE_CHECKING:
    from rota.api.call import Call, Reply

MOST: Final = 100
# Batches that are written at the same time: one gathers while the disk is busy with the other.
AT_ONCE: Final = 2
SERVED_FOR: Final = 2.0


@dataclass(slots=True, eq=False)
class Wish:
    """`answer` tells what is answered to it once it is written."""

    call: "Call"
    draft: Draft
    answer: "Callable[[Submitted], Reply]"
    made: "asyncio.Future[tuple[Submitted, Reply]]"


class GoAlone(Exception):
    """This request cannot be carried out with others."""


@dataclass(slots=True)
class Gathering:
    """Lives in the loop of the API. A request that is cancelled meanwhile may still be written."""

    _waiting: dict[int, list[Wish]] = field(default_factory=dict)
    _known: Known = field(default_factory=dict)
    _writing: set["asyncio.Task[None]"] = field(default_factory=set)

    async def submit(
        self, call: "Call", draft: Draft, answer: "Callable[[Submitted], Reply]"
    ) -> "tuple[Submitted, Reply]":
        """Write one job together with whatever else is being handed in; or raise `GoAlone`."""
        wish = Wish(call, draft, answer, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(call.tenant_id, []).append(wish)
        self._write_more()
        return await wish.made

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

    async def _write(self, wishes: Sequence[Wish]) -> None:
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

    async def _together(self, wishes: Sequence[Wish]) -> None:
        call = wishes[0].call
        service = call.service
        interned = Interned(self._known)
        async with service.pool.acquire() as conn, behind_wall(conn, call.tenant_id):
            wishes = await new_ones(conn, wishes)
            if not wishes:
                return
            made = await submitting.submit_drafts(
                conn, [wish.draft for wish in wishes], now=call.now, interned=interned
            )
            await note_made(conn, [(wish.call, wish.draft.spec) for wish in wishes], made)
            pairs = zip(wishes, made, strict=True)
            told = [(wish, each, wish.answer(each)) for wish, each in pairs]
            await keep_answers(conn, told)
        interned.committed()
        for wish, each, reply in told:
            if not wish.made.done():
                wish.made.set_result((each, reply))


async def new_ones(conn: Connection, wishes: Sequence[Wish]) -> list[Wish]:
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


async def keep_answers(conn: Connection, told: "Sequence[tuple[Wish, Submitted, Reply]]") -> None:
    answers = [
        Answer(wish.call.asked, reply.status or wish.call.operation.status, reply.encoded())
        for wish, _, reply in told
        if wish.call.asked is not None
    ]
    if answers:
        await idempotency.finish_many(conn, answers)


async def note_made(
    conn: Connection, asked: Sequence[tuple["Call", JobSpec]], made: Sequence[Submitted]
) -> None:
    """Write down who made which job."""
    pairs = zip(asked, made, strict=True)
    entries = [entry(*ask, each) for ask, each in pairs if not each.deduplicated]
    if entries:
        await audit.note_many(conn, entries)


def entry(call: "Call", spec: JobSpec, made: Submitted) -> NewEntry:
    return NewEntry(
        tenant_id=call.tenant_id,
        actor=call.actor,
        key_id=call.principal.key_id,
        source=call.address,
        action="job.create",
        thing="job",
        thing_id=f"job_{made.job_id.hex}",
        after={"name": spec.name},
        request_id=call.request_id,
    )


@dataclass(slots=True)
class Served:
    """The kinds that live workers serve, as of a moment ago: it is for a warning only."""

    monotonic: Callable[[], float]
    _known: frozenset[str] = frozenset()
    _read: float = float("-inf")

    async def kinds(self, pool: Pool) -> frozenset[str]:
        now = self.monotonic()
        if now - self._read > SERVED_FOR:
            self._read = now
            async with pool.acquire() as conn:
                self._known = frozenset(await cluster_views.kinds_served(conn))
        return self._known


def refuse(wishes: Sequence[Wish], error: BaseException) -> None:
    for wish in wishes:
        if not wish.made.done():
            wish.made.set_exception(error)
