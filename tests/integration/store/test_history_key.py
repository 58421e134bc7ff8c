"""Statements work with the key (id) of history and with its successor, (tenant_id, id)."""

import importlib
import pkgutil

from tests.integration.store.test_plans import explain
from tests.support.world import World

import rota.store
from rota.core.states import RunState
from rota.store import jobs
from rota.store.jobs import SkippedRun
from rota.store.statement import STATEMENTS

for module in pkgutil.iter_modules(rota.store.__path__):
    if not module.ispkg:
        importlib.import_module(f"rota.store.{module.name}")
importlib.import_module("rota_bench.database")

# Figures of the whole cluster, which need another way to the newest runs with the new key (ADR 51).
OF_ALL_TENANTS = {"metrics_queries/count_ended", "run_views/latest_endings"}


async def swap_key(world: World) -> None:
    await world.conn.execute(
        "alter table rota.runs drop constraint runs_pkey, add primary key (tenant_id, id)"
    )


async def test_every_statement_that_adds_to_history_can_be_planned(world: World) -> None:
    await swap_key(world)
    writers = [each for each in STATEMENTS.values() if "insert into rota.runs (" in each.text]

    for each in writers:
        await world.conn.execute(f"explain (generic_plan) {each.text}")

    assert len(writers) >= 10


async def test_every_statement_that_finds_runs_by_id_names_their_tenant(world: World) -> None:
    """Otherwise the new key would be read as a whole."""
    await swap_key(world)
    await world.conn.execute("drop index rota.runs_tenant")
    for setting in ("enable_seqscan = off", "plan_cache_mode = force_generic_plan"):
        await world.conn.execute(f"set {setting}")
    readers = [
        each
        for each in STATEMENTS.values()
        if "rota.runs as" in each.text and each.name not in OF_ALL_TENANTS
    ]

    scans = [
        (each.name, node.get("Index Cond", ""))
        for each in readers
        for node in await explain(world.conn, each)
        if node.get("Index Name") == "runs_rest_pkey"
    ]

    assert {name: c for name, c in scans if "tenant_id" not in c} == {}
    assert len({name for name, _ in scans}) > 20


async def test_a_tick_that_is_on_record_stays_as_it_is(world: World) -> None:
    await swap_key(world)
    job_id = await world.job()
    job = (await jobs.read_jobs(world.conn, [job_id]))[job_id]
    run_id = world.new_id()

    made = [
        await jobs.record_skipped(world.conn, job, [SkippedRun(run_id, world.now, state, "{}")])
        for state in (RunState.MISSED, RunState.SKIPPED)
    ]

    assert made == [[run_id], []]
    assert (await world.get(run_id)).state is RunState.MISSED
