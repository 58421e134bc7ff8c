"""What the tests of the event relay share: a consumer that keeps a ledger, and runs that end."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from rota.core.outgoing_events import OutgoingEvent, RelayInterests
from rota.core.states import RunState
from rota.engine.relay.relay import Relay
from rota.store import live_runs
from rota.store.driver import Connection
from rota.store.live_runs import ClaimedRun, RunEnding
from tests.support.standing import Standing, WorldClock
from tests.support.world import World

EVERYTHING = RelayInterests(
    succeeded_tenants=frozenset({0, 1, 2}),
    attempt_tenants=frozenset({0, 1, 2}),
    audit_tenants=frozenset({0, 1, 2}),
    incident_tenants=frozenset({0, 1, 2}),
)


class Ledger:
    """Writes each event into a table in the relay's transaction, and counts repetitions."""

    name = "ledger"

    def __init__(self, interests: RelayInterests = EVERYTHING) -> None:
        self.interests = interests
        self.handed: list[OutgoingEvent] = []
        self.fails_with: BaseException | None = None

    async def read_interests(self, _conn: Connection, /) -> RelayInterests:
        return self.interests

    async def consume(
        self, conn: Connection, events: Sequence[OutgoingEvent], /, *, now: datetime
    ) -> None:
        del now
        self.handed += events
        await conn.execute(
            """
            insert into public.ledger (id, type, run_id)
            select * from unnest($1::uuid[], $2::text[], $3::uuid[])
            on conflict (id) do update set times = ledger.times + 1
            """,
            [event.id for event in events],
            [event.type for event in events],
            [event.run_id for event in events],
        )
        if self.fails_with is not None:
            raise self.fails_with


async def make_ledger(conn: Connection) -> None:
    await conn.execute(
        "create table public.ledger"
        " (id uuid primary key, type text, run_id uuid, times int default 1)"
    )


async def read_ledger(conn: Connection) -> list[tuple[str, UUID | None, int]]:
    rows = await conn.fetch("select type, run_id, times from public.ledger order by id")
    return [(row[0], row[1], row[2]) for row in rows]


def build_relay(world: World, *consumers: Ledger, conn: Connection | None = None) -> Relay:
    return Relay(
        source=Standing(conn or world.conn),
        consumers=consumers,
        clock=WorldClock(world),
        emit=lambda _: None,
        owner=world.new_id(),
        holder="test",
    )


async def end_run(
    conn: Connection,
    session: UUID,
    claimed: ClaimedRun,
    state: RunState = RunState.SUCCEEDED,
    *,
    reason: str | None = None,
) -> None:
    ending = RunEnding(claimed.id, claimed.attempt, state, reason=reason)
    assert await live_runs.finish_runs(conn, session_id=session, endings=[ending])


async def insert_ended(
    world: World, state: str, *, left_state: str = "running", job_id: UUID | None = None
) -> UUID:
    run_id = world.new_id()
    await world.conn.execute(
        """
        insert into rota.runs (
            id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id, kind_id,
            policy_id, job_version, state, left_state, trigger, priority
        )
        select $1, $2, at, at, at, at, 1, $3, $4, $5, 1, $6::text::rota.run_state,
            $7::text::rota.run_state, 'tick', 5
        from (select rota.now() as at) as clock
        """,
        run_id,
        job_id or world.new_id(),
        world.queue_id,
        world.kind_id,
        world.policy_id,
        state,
        None if state in {"skipped", "coalesced", "missed"} else left_state,
    )
    return run_id
