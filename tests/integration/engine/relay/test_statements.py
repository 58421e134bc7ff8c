"""The statements of the relay read the end of history by index, also when many rows were read."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.support.relaying import Ledger, build_relay, make_ledger
from tests.support.world import World

from rota.store import relays
from rota.store.statement import Statement

READS: dict[str, tuple[Statement[Any], set[str]]] = {
    "runs": (relays.FINISHED_RUNS, {"runs_rest_finished_at_idx", "jobs_pkey"}),
    "attempts": (relays.ENDED_ATTEMPTS, {"attempts_rest_finished_at_idx", "live_runs_pkey"}),
    "audit": (relays.AUDIT_ENTRIES, {"audit_pkey", "jobs_pkey"}),
    "incidents": (relays.INCIDENT_EVENTS, {"incident_events_at", "incidents_pkey"}),
}


@pytest.mark.parametrize("name", READS)
async def test_a_pass_walks_its_indexes(world: World, name: str) -> None:
    read, wanted = READS[name]
    nothing = ", ".join("null" for _ in read.parameters)
    async with world.conn.transaction():
        await relays.read_relay_horizon(world.conn)
        await world.conn.execute(f"prepare read as {read.text}")
        rows = await world.conn.fetch(f"explain (format json) execute read({nothing})")
    plan = list(nodes(json.loads(rows[0][0])[0]["Plan"]))

    assert wanted <= {node.get("Index Name") for node in plan}
    scanned = {
        node["Relation Name"]
        for node in plan
        if node["Node Type"] in {"Seq Scan", "Gather"} and "Relation Name" in node
    }
    assert scanned == set()


async def test_an_unrelated_lock_or_a_reader_is_no_writer(world: World) -> None:
    horizon = await relays.read_relay_horizon(world.conn)

    assert horizon.run_writers == horizon.audit_writers == []
    assert horizon.now == world.now


async def test_a_backfill_that_ended_is_told(world: World) -> None:
    await make_ledger(world.conn)
    ledger = Ledger()
    relay = build_relay(world, ledger)
    await relay.tick()
    job_id = await world.job(name="nightly")
    await world.conn.execute(
        """
        insert into rota.backfills (
            id, tenant_id, job_id, state, since, until, schedule, picks, newest_first, at_once,
            priority, gate_id, reached, expected, made, succeeded, failed, ended_at, look_at,
            is_guess, created_at, created_by
        )
        select $1, 1, $2, 'finished', at, at + interval '1 day', '{}', 'all', false, 1, 5, 1, at,
            3, 3, 2, 1, at, at, false, at, 'ann'
        from (select rota.now() as at) as clock
        """,
        world.new_id(),
        job_id,
    )
    await relay.tick()
    await world.advance(seconds=1)
    await relay.tick()

    (event,) = ledger.handed
    assert (event.type, event.job_name, event.state) == ("backfill.ended", "nightly", "finished")
    assert (event.details["succeeded"], event.details["failed"]) == (2, 1)


async def test_the_history_of_an_incident_is_told(world: World) -> None:
    await make_ledger(world.conn)
    ledger = Ledger()
    relay = build_relay(world, ledger)
    await relay.tick()
    incident_id = world.new_id()
    await world.conn.execute(
        """
        insert into rota.incidents (
            id, tenant_id, state, severity, title, condition, expectation_id, expectation_name,
            subject_kind, subject_id, subject_name, opened_at, last_seen_at, group_id
        )
        select $1, 1, 'open', 'page', 'nightly failed', 'failure_streak', $2, 'streak', 'job',
            'job_1', 'nightly', at, at, $2
        from (select rota.now() as at) as clock
        """,
        incident_id,
        world.new_id(),
    )
    for type_ in ("opened", "note", "acknowledged"):
        await world.conn.execute(
            "insert into rota.incident_events (tenant_id, incident_id, type, by, text)"
            " values (1, $1, $2, 'ann', 'looking')",
            incident_id,
            type_,
        )
        await world.advance(seconds=1)
        await relay.tick()

    assert [event.type for event in ledger.handed] == ["incident.opened", "incident.acknowledged"]
    assert ledger.handed[0].details["incident_id"] == f"inc_{incident_id.hex}"
    assert ledger.handed[0].details["severity"] == "page"
    assert ledger.handed[0].at == world.now - timedelta(seconds=3)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)
