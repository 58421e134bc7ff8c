"""What is written in shared commits: jobs, and events. Room: api. How is gathering.py."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from rota.api import identifiers
from rota.api.gathering import Gathering, Wish, Written
from rota.core.arrivals.event import Event
from rota.core.errors import StoreUnavailable
from rota.core.submission import JobSpec
from rota.flow.events import taking
from rota.flow.events.taking import TakenEvent
from rota.flow.submit import submitting
from rota.flow.submit.drafting import Draft
from rota.flow.submit.interned import Interned, Known
from rota.flow.submit.submitting import Submitted
from rota.store import audit, cluster_views
from rota.store.audit import NewEntry
from rota.store.driver import Connection, Pool

if TYPE_CHECKING:
    from rota.api.call import Call

SERVED_FOR: Final = 2.0


@dataclass(slots=True)
class Jobs:
    """Writes jobs; the names and policies that earlier batches came to are known."""

    _known: Known = field(default_factory=dict)

    async def __call__(
        self, conn: Connection, wishes: Sequence[Wish[Draft, Submitted]], *, now: datetime
    ) -> Written[Submitted]:
        interned = Interned(self._known)
        drafts = [wish.given for wish in wishes]
        made = await submitting.submit_drafts(
            conn, drafts, now=now, interned=interned, says_which=False
        )
        await note_made(conn, [(wish.call, wish.given.spec) for wish in wishes], made)
        return Written(made, interned.committed)


async def write_events(
    conn: Connection, wishes: Sequence[Wish[Event, TakenEvent]], *, now: datetime
) -> Written[TakenEvent]:
    """Take events in. The same one twice at a time is taken once, as if one had come later."""
    tenant_id = wishes[0].call.tenant_id
    events = [wish.given for wish in wishes]
    taken = await taking.take_checked(conn, tenant_id, events, now=now)
    return Written(taken.events)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the requests of a process hand in together."""

    jobs: Gathering[Draft, Submitted] = field(default_factory=lambda: Gathering(Jobs()))
    events: Gathering[Event, TakenEvent] = field(default_factory=lambda: Gathering(write_events))

    def refuse_waiting(self, error: StoreUnavailable) -> None:
        """Refuse what waits to be written: the database is away."""
        self.jobs.refuse_waiting(error)
        self.events.refuse_waiting(error)


async def note_made(
    conn: Connection, asked: Sequence[tuple["Call", JobSpec]], made: Sequence[Submitted]
) -> None:
    """Write down who made which job."""
    pairs = zip(asked, made, strict=True)
    entries = [
        entry(call, spec.name, each) for (call, spec), each in pairs if not each.deduplicated
    ]
    if entries:
        await audit.note_many(conn, entries)


async def note_alike(call: "Call", made: Sequence[Submitted], names: Sequence[str]) -> None:
    """The same for jobs of one request, none of which was there."""
    things = [identifiers.job(each.job_id) for each in made]
    await audit.note_alike(call.conn, entry(call, names[0], made[0]), things, names)


def entry(call: "Call", name: str, made: Submitted) -> NewEntry:
    return NewEntry(
        tenant_id=call.tenant_id,
        actor=call.actor,
        key_id=call.principal.key_id,
        source=call.address,
        action="job.create",
        thing="job",
        thing_id=identifiers.job(made.job_id),
        after={"name": name},
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
