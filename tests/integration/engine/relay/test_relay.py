"""The relay hands over every event, in one transaction with its position, and none that nobody
asked for.
"""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from tests.support.relaying import (
    EVERYTHING,
    Ledger,
    build_relay,
    end_run,
    insert_ended,
    make_ledger,
    read_ledger,
)
from tests.support.world import World

from rota.core.ids import read_id_time
from rota.core.outgoing_events import RelayInterests
from rota.core.states import RunState
from rota.engine.relay.relay import Relay
from rota.store import audit, live_runs, relays
from rota.store.audit import NewAuditEntry
from rota.store.driver import Connection
from rota.store.live_runs import ReturnedAttempt, RunEnding


async def set_clock(conn: Connection, world: World) -> None:
    await conn.execute("select set_config('rota.now', $1, false)", world.now.isoformat())


async def read_all(relay: Relay) -> None:
    """Do passes until the relay rests."""
    while await relay.tick() == 0:
        pass


async def test_the_end_of_a_run_becomes_an_event_with_what_it_carries(
    world: World, relay: Relay, ledger: Ledger
) -> None:
    job_id = await world.job(name="nightly")
    session, claimed = await world.running(job_id=job_id)
    await world.advance(seconds=1)
    await end_run(
        world.conn, session, claimed, RunState.DEAD, reason='{"type": "ValueError", "message": "x"}'
    )
    await relay.tick()

    (event,) = ledger.handed
    assert (event.type, event.state, event.run_id) == ("run.failed", "dead", claimed.id)
    assert (event.job_id, event.job_name) == (job_id, "nightly")
    assert (event.queue, event.task, event.attempt) == ("default", "noop", 1)
    assert event.reason == {"type": "ValueError", "message": "x"}
    assert event.at == event.finished_at == world.now
    assert read_id_time(event.id) == world.now


async def test_an_event_is_handed_over_once_and_has_the_same_id_for_ever(
    world: World, relay: Relay, ledger: Ledger
) -> None:
    session, claimed = await world.running()
    await end_run(world.conn, session, claimed)
    for _ in range(40):
        await relay.tick()
        await world.advance(seconds=0.5)
    first = ledger.handed[:]
    # Another process that begins at the same position reads the same row.
    await world.conn.execute("update rota.relays set since = since - interval '1 minute'")
    await relay.release()
    await read_all(build_relay(world, ledger))

    assert len(first) == 1
    assert [event.id for event in ledger.handed] == [first[0].id] * 2
    assert await read_ledger(world.conn) == [("run.succeeded", claimed.id, 2)]


async def test_successes_that_no_consumer_asked_for_are_not_read(world: World) -> None:
    wanted = await world.job()
    ledger = Ledger(RelayInterests(succeeded_jobs=frozenset({wanted})))
    await make_ledger(world.conn)
    relay = build_relay(world, ledger)
    await relay.tick()
    session = await world.session()
    chosen = await world.run(job_id=wanted)
    await world.runs(3)
    member = await world.run()
    await world.conn.execute(
        "update rota.live_runs set graph_run_id = $1, step = 0, member = 0 where id = $2",
        world.new_id(),
        member,
    )
    states = {}
    for number, claimed in enumerate(sorted(await world.claim(session), key=lambda run: run.id)):
        state = RunState.DEAD if number == 2 or claimed.id == member else RunState.SUCCEEDED
        states[claimed.id] = state
        await end_run(world.conn, session, claimed, state)
    await relay.tick()

    handed = {event.run_id: event.type for event in ledger.handed}
    assert handed.pop(chosen) == "run.succeeded"
    assert [*handed.values()] == ["run.failed"]
    assert member not in handed


@pytest.mark.parametrize(
    ("state", "types"),
    [
        ("succeeded", ["graph.succeeded", "run.succeeded"]),
        ("dead", ["graph.failed", "run.failed"]),
        ("quarantined", ["graph.failed", "run.failed"]),
        ("lost", ["graph.failed", "run.lost"]),
        ("expired", ["graph.failed", "run.expired"]),
        ("cancelled", ["graph.cancelled", "run.cancelled"]),
        ("skipped", ["run.skipped"]),
        ("coalesced", ["run.skipped"]),
        ("missed", ["run.missed"]),
    ],
)
async def test_each_final_state_has_its_events(
    world: World, relay: Relay, ledger: Ledger, state: str, types: list[str]
) -> None:
    graph_id = await world.conn.fetchval(
        "insert into rota.graphs (tenant_id, digest, definition) values (1, $1, '{}') returning id",
        "0" * 32,
    )
    job_id = await world.job()
    await world.conn.execute("update rota.jobs set graph_id = $1 where id = $2", graph_id, job_id)
    await insert_ended(world, state, job_id=job_id)
    await relay.tick()

    assert sorted(event.type for event in ledger.handed) == types


async def test_a_nested_graph_run_is_a_graph_run_too(
    world: World, relay: Relay, ledger: Ledger
) -> None:
    run_id = await insert_ended(world, "dead", left_state="blocked")
    await world.conn.execute(
        "insert into rota.graph_runs (run_id, tenant_id, job_id, path, started_at)"
        " values ($1, 1, $2, '{1}', rota.now())",
        run_id,
        world.new_id(),
    )
    await insert_ended(world, "dead", left_state="blocked")
    await relay.tick()

    assert sorted(event.type for event in ledger.handed if event.run_id == run_id) == [
        "graph.failed",
        "run.failed",
    ]
    assert len(ledger.handed) == 3


async def test_a_failed_attempt_is_told_and_one_that_was_handed_back_is_not(
    world: World, relay: Relay, ledger: Ledger
) -> None:
    session, failing = await world.running()
    other_session, released = await world.running()
    failed = ReturnedAttempt(failing.id, 1, RunState.RETRYING, "failed", 1, timedelta(minutes=1))
    await live_runs.put_back_runs(world.conn, session_id=session, attempts=[failed])
    back = ReturnedAttempt(released.id, 1, RunState.QUEUED, "released", 0, timedelta(0))
    await live_runs.put_back_runs(world.conn, session_id=other_session, attempts=[back])
    await relay.tick()

    assert [(e.type, e.run_id, e.attempt) for e in ledger.handed] == [
        ("attempt.failed", failing.id, 1)
    ]
    assert ledger.handed[0].details == {"outcome": "failed"}


async def test_changes_of_jobs_are_told_from_the_audit_log(
    world: World, relay: Relay, ledger: Ledger
) -> None:
    job_id = await world.job(name="nightly")
    for action in ("job.create", "job.update", "job.pause", "job.run", "job.resume", "job.delete"):
        await audit.record_change(
            world.conn,
            NewAuditEntry(
                tenant_id=1,
                actor="ann",
                action=action,
                thing="job",
                thing_id=f"job_{job_id.hex}",
                after={"name": "nightly"},
            ),
        )
    await relay.tick()
    await relay.tick()

    assert sorted(event.type for event in ledger.handed) == [
        "job.changed",
        "job.created",
        "job.deleted",
        "job.paused",
        "job.resumed",
    ]
    assert {event.job_name for event in ledger.handed} == {"nightly"}
    assert ledger.handed[0].details["actor"] == "ann"


async def test_nothing_is_lost_or_doubled_if_the_pass_ends_before_its_commit(
    world: World, relay: Relay, ledger: Ledger
) -> None:
    session = await world.session()
    await world.runs(5)
    for number, claimed in enumerate(await world.claim(session)):
        await end_run(world.conn, session, claimed)
        ledger.fails_with = asyncio.CancelledError() if number % 2 == 0 else RuntimeError("killed")
        with pytest.raises((asyncio.CancelledError, RuntimeError)):
            await relay.tick()
        assert await read_ledger(world.conn) == []
    ledger.fails_with = None
    await relay.tick()
    await relay.tick()

    told = await read_ledger(world.conn)
    assert len(told) == 5
    assert {times for _, _, times in told} == {1}


async def test_of_two_relays_one_holds_the_lease_and_the_other_writes_nothing(
    world: World, relay: Relay, ledger: Ledger, other: Connection
) -> None:
    rival_ledger = Ledger()
    rival = build_relay(world, rival_ledger, conn=other)
    await insert_ended(world, "dead")
    assert await rival.tick() > 1
    # The first one is frozen past its lease, and the rival takes over.
    await world.advance(seconds=31)
    await set_clock(other, world)
    await read_all(rival)
    assert [event.type for event in rival_ledger.handed] == ["run.failed"]
    # The first one believes that it still holds the lease.
    relay._held._renewed_s = float("inf")
    await relay.tick()

    assert [event.type for event in ledger.handed] == ["run.failed"]
    assert [times for _, _, times in await read_ledger(world.conn)] == [1]
    assert await relay.tick() > 1


async def test_a_process_that_stops_lets_another_continue_at_once(
    world: World, relay: Relay, ledger: Ledger
) -> None:
    await relay.release()
    await insert_ended(world, "dead")
    await build_relay(world, ledger).tick()

    assert [event.type for event in ledger.handed] == ["run.failed"]


@pytest.mark.parametrize("in_savepoint", [False, True])
async def test_a_transaction_of_ten_minutes_loses_nothing_while_many_runs_end(
    world: World, relay: Relay, ledger: Ledger, other: Connection, in_savepoint: bool
) -> None:
    session = await world.session(ttl=timedelta(hours=1))
    await world.runs(2)
    early, last = await world.claim(session)
    late = other.transaction()
    await late.__aenter__()
    await other.execute("select pg_current_xact_id()")
    if in_savepoint:
        async with other.transaction():
            await end_run(other, session, early, RunState.DEAD)
    else:
        await end_run(other, session, early, RunState.DEAD)
    ended: set[UUID | None] = set()
    for _ in range(300):
        await world.advance(seconds=2)
        ended |= {await insert_ended(world, "dead"), await insert_ended(world, "missed")}
        await relay.tick()
    assert {event.run_id for event in ledger.handed} == ended
    # What is committed is handed over at once, so the open transaction causes no lag.
    assert await relays.read_relay_lag(world.conn) == timedelta(0)
    await set_clock(other, world)
    await end_run(other, session, last, RunState.DEAD)
    await late.__aexit__(None, None, None)
    await read_all(relay)
    await world.advance(seconds=20)
    await relay.tick()

    handed = Counter(event.run_id for event in ledger.handed)
    assert set(handed) == ended | {early.id, last.id}
    assert set(handed.values()) == {1}
    position = await relays.read_relay_position(world.conn, "relay")
    assert position is not None
    assert position.since >= world.now - timedelta(seconds=7)


async def test_a_run_that_an_old_transaction_ends_last_is_not_passed_over(
    world: World, relay: Relay, ledger: Ledger, other: Connection
) -> None:
    session = await world.session(ttl=timedelta(hours=1))
    await world.run()
    (claimed,) = await world.claim(session)
    async with other.transaction():
        await other.execute("select pg_current_xact_id()")
        for _ in range(60):
            await world.advance(seconds=1)
            await relay.tick()
        await set_clock(other, world)
        await end_run(other, session, claimed)
    await relay.tick()

    assert [event.run_id for event in ledger.handed] == [claimed.id]


async def test_a_restart_while_a_transaction_is_open_loses_nothing(
    world: World, relay: Relay, ledger: Ledger, other: Connection
) -> None:
    session, claimed = await world.running()
    async with other.transaction():
        await end_run(other, session, claimed)
        for _ in range(60):
            await world.advance(seconds=1)
            await relay.tick()
        await relay.release()
        successor = build_relay(world, ledger)
        for _ in range(60):
            await world.advance(seconds=1)
            await successor.tick()
        assert ledger.handed == []
    await read_all(successor)

    assert [event.run_id for event in ledger.handed] == [claimed.id]


async def test_another_server_makes_the_relay_go_back_ten_minutes(
    world: World, relay: Relay, ledger: Ledger
) -> None:
    await insert_ended(world, "dead")
    await relay.tick()
    for _ in range(24):
        await world.advance(seconds=20)
        await relay.tick()
    await world.conn.execute("update rota.relays set server = '7/00000001'")
    await relay.release()
    # A restored server whose clock is behind writes times before the position.
    await world.advance(minutes=-5)
    await world.conn.execute("delete from rota.named_leases")
    await insert_ended(world, "missed")
    successor = build_relay(world, ledger)
    await read_all(successor)

    told = await read_ledger(world.conn)
    assert [(type_, times) for type_, _, times in told] == [("run.failed", 2), ("run.missed", 1)]


async def test_a_relay_that_was_away_catches_up_in_bounded_passes(
    world: World, relay: Relay, ledger: Ledger
) -> None:
    await relay.release()
    for _ in range(60):
        await world.advance(seconds=10)
        await insert_ended(world, "dead")
    successor = build_relay(world, ledger)
    lags = []
    rest = 0.0
    while rest == 0:
        rest = await successor.tick()
        lag = await relays.read_relay_lag(world.conn)
        assert lag is not None
        lags.append(lag)

    assert len(ledger.handed) == 60
    assert {times for _, _, times in await read_ledger(world.conn)} == {1}
    assert len(lags) > 5
    assert lags == sorted(lags, reverse=True)
    assert lags[-1] == timedelta(0)


async def test_an_idle_relay_shows_once_a_second_that_it_is_alive(
    world: World, relay: Relay
) -> None:
    assert await relays.read_relay_lag(world.conn) == timedelta(0)
    before = await relays.read_relay_position(world.conn, "relay")
    for _ in range(20):
        await world.advance(seconds=0.5)
        await relay.tick()
    after = await relays.read_relay_position(world.conn, "relay")
    assert before is not None
    assert after is not None
    assert after.moves - before.moves == 10
    await world.advance(minutes=2)
    assert await relays.read_relay_lag(world.conn) == timedelta(minutes=2)


async def test_memory_stays_bounded(world: World, relay: Relay) -> None:
    for _ in range(50):
        await world.advance(seconds=1)
        await insert_ended(world, "dead")
        await relay.tick()
    reader = relay._held.reader
    assert reader is not None
    assert max(len(tail.read) for tail in reader._tails) <= 10


async def test_the_service_role_may_run_the_relay(
    world: World, ledger: Ledger, conn: Connection
) -> None:
    role = await conn.fetchval("select rolname from pg_roles where rolname = 'rota_service'")
    if role is None:
        pytest.skip("the server has no role rota_service")
    await conn.execute("grant usage on schema public to rota_service")
    await conn.execute("grant all on public.ledger to rota_service")
    await conn.execute("set role rota_service")
    relay = build_relay(world, ledger)
    await relay.tick()
    await conn.execute("reset role")
    await insert_ended(world, "dead")
    await conn.execute("set role rota_service")
    await relay.tick()

    assert [event.type for event in ledger.handed] == ["run.failed"]


async def test_consumers_may_ask_for_less_than_everything(world: World) -> None:
    session = await world.session()
    await make_ledger(world.conn)
    quiet = Ledger(replace(EVERYTHING, attempt_tenants=frozenset(), succeeded_tenants=frozenset()))
    relay = build_relay(world, quiet)
    await relay.tick()
    await world.runs(3)
    endings = [
        RunEnding(claimed.id, claimed.attempt, RunState.SUCCEEDED)
        for claimed in await world.claim(session)
    ]
    assert await live_runs.finish_runs(world.conn, session_id=session, endings=endings)
    await relay.tick()

    assert quiet.handed == []
