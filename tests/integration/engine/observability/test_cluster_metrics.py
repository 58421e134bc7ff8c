"""The gauges of the cluster against real rows: true, bounded, readable by Prometheus (O5)."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from tests.integration.engine.observability.test_statistics import ended
from tests.support.scraping import labels_of, scrape, value_of
from tests.support.world import TTL, World

from rota.core.errors import StoreUnavailable
from rota.core.limits import GateLimits
from rota.core.states import JobState, RunState
from rota.engine.observability.cluster_metrics import (
    PAGE_LIFETIME_S,
    ClusterPage,
    build_outage_families,
    read_cluster_families,
)
from rota.engine.observability.exposition import LABEL_VALUES_MAX, render_families
from rota.engine.observability.meter import Meter
from rota.engine.submission.job_changes import pause_job
from rota.processes.observe import build_collector
from rota.runtime.process_health import ProcessHealth
from rota.store import gates, interning, metrics_queries, sessions
from rota.store.driver import Connection
from rota.store.sessions import NewSession, SessionRole

S = RunState
DOCS = Path(__file__).parents[4] / "docs" / "reference"


async def open_session(world: World, role: SessionRole, name: str, *, slots: int = 0) -> UUID:
    session = NewSession(id=world.new_id(), role=role, name=name, slots=slots)
    await sessions.open_session(world.conn, session, ttl=TTL)
    return session.id


async def render_cluster(conn: Connection) -> str:
    return render_families(await read_cluster_families(conn))


def build_meter() -> Meter:
    meter = Meter()
    meter.add_collector(build_collector("worker", ProcessHealth()))
    return meter


async def test_an_empty_cluster_has_a_page_that_says_so(world: World) -> None:
    page = await render_cluster(world.conn)

    assert value_of(page, "rota_database_up") == 1
    assert value_of(page, "rota_shards_unowned") == 128
    assert value_of(page, "rota_schedulers") == value_of(page, "rota_workers") == 0
    assert value_of(page, "rota_runs_waiting", queue="default") == 0
    assert value_of(page, "rota_fire_lag_seconds") == 0
    assert value_of(page, "rota_incidents_open", severity="page") == 0
    assert value_of(page, "rota_queue_demand", queue="default") == 0


async def test_what_waits_and_runs_is_counted_by_queue(world: World) -> None:
    mail = await interning.intern_queue(world.conn, 'mail "fast"')
    gate = await gates.put_gate(world.conn, 1, "key:k", GateLimits(max_running=1))
    await world.runs(3)
    await world.run(tenant_id=2)
    await world.run(gates=(gate,))
    await world.run(due_at=world.now + timedelta(hours=1))
    await world.run(queue_id=mail)
    await world.claim(await world.session(), room=2)
    await world.advance(seconds=8)

    page = await render_cluster(world.conn)

    assert value_of(page, "rota_runs_waiting", queue="default") == 3
    assert value_of(page, "rota_runs_waiting", queue='mail "fast"') == 1
    assert value_of(page, "rota_run_oldest_wait_seconds", queue="default") == 8
    assert value_of(page, "rota_runs_running") == 2


async def test_workers_slots_and_shards_are_those_of_live_processes(world: World) -> None:
    busy = await open_session(world, SessionRole.WORKER, "w1", slots=10)
    await open_session(world, SessionRole.WORKER, "w2", slots=5)
    await world.conn.execute("update rota.sessions set draining = true where name = 'w2'")
    await world.runs(3)
    await world.claim(busy)
    first = await open_session(world, SessionRole.SCHEDULER, "s1")
    await open_session(world, SessionRole.SCHEDULER, "s2")
    await sessions.hold_shards(world.conn, owner=first, shards=range(100), ttl=timedelta(seconds=6))

    page = await render_cluster(world.conn)
    await world.advance(seconds=11)
    later = await render_cluster(world.conn)

    assert value_of(page, "rota_workers") == 2
    assert value_of(page, "rota_workers_draining") == 1
    assert value_of(page, "rota_worker_slots") == 15
    assert value_of(page, "rota_worker_slots_busy") == 3
    assert value_of(page, "rota_shards_owned", scheduler="s1") == 100
    assert value_of(page, "rota_shards_owned", scheduler="s2") == 0
    assert value_of(page, "rota_shards_unowned") == 28
    assert value_of(later, "rota_workers") == value_of(later, "rota_schedulers") == 0
    assert value_of(later, "rota_worker_slots_busy") == 0
    assert value_of(later, "rota_shards_unowned") == 128


async def test_jobs_are_counted_by_state_and_the_lag_is_that_of_the_latest_tick(
    world: World,
) -> None:
    await world.job()
    await world.job(fire_at=world.now + timedelta(hours=1))
    paused = await world.job()
    await pause_job(world.conn, paused, by="ana", now=world.now)
    await world.advance(seconds=12)

    page = await render_cluster(world.conn)

    assert value_of(page, "rota_jobs", state="active") == 2
    assert value_of(page, "rota_jobs", state="paused") == 1
    assert labels_of(page, "rota_jobs", "state") == ["active", "paused", "quarantined", "finished"]
    assert value_of(page, "rota_fire_lag_seconds") == 12


async def test_many_jobs_are_guessed_from_the_statistics(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_queries, "COUNTED_JOBS_MAX", 5)
    for _ in range(6):
        await world.job()
    for _ in range(3):
        await pause_job(world.conn, await world.job(), by="ana", now=world.now)
    before = sum((await metrics_queries.count_jobs(world.conn)).values())
    await world.conn.execute("analyze rota.jobs")

    found = await metrics_queries.count_jobs(world.conn)

    assert before == 5
    assert sum(found.values()) == 9
    assert found[JobState.PAUSED] == 3


async def test_dead_letters_and_endings_are_those_of_the_last_time(world: World) -> None:
    await ended(world, S.DEAD, ago=timedelta(hours=1))
    await ended(world, S.LOST, ago=timedelta(minutes=1), tenant=2, wait=2, took=4)
    await ended(world, S.DEAD, ago=timedelta(hours=25))
    await ended(world, S.MISSED, ago=timedelta(minutes=2), wait=None)

    page = await render_cluster(world.conn)

    assert value_of(page, "rota_dead_letters", state="dead") == 1
    assert value_of(page, "rota_dead_letters", state="lost") == 1
    assert value_of(page, "rota_dead_letters", state="quarantined") == 0
    assert value_of(page, "rota_recent_runs", state="missed") == 1
    assert value_of(page, "rota_recent_runs", state="succeeded") == 0


async def test_the_number_of_series_does_not_grow_with_queues_tenants_or_schedulers(
    world: World,
) -> None:
    queues = await interning.intern_queues(
        world.conn, [f"queue {n}" for n in range(LABEL_VALUES_MAX + 20)]
    )
    for tenant_id, queue_id in enumerate(queues.values(), start=1):
        await world.run(queue_id=queue_id, tenant_id=tenant_id)
    for n in range(LABEL_VALUES_MAX + 20):
        await open_session(world, SessionRole.SCHEDULER, f"s{n}")

    page = await render_cluster(world.conn)

    assert len(labels_of(page, "rota_runs_waiting", "queue")) == LABEL_VALUES_MAX + 1
    # The default queue, where nothing waits, is the last.
    assert value_of(page, "rota_runs_waiting", queue="other") == 20
    assert len(labels_of(page, "rota_shards_owned", "scheduler")) == LABEL_VALUES_MAX + 1
    assert len(labels_of(page, "rota_queue_demand", "queue")) == LABEL_VALUES_MAX + 1
    assert len(scrape(page)) < 400
    assert "tenant=" not in page


async def test_connections_are_counted_by_what_they_do(world: World) -> None:
    page = await render_cluster(world.conn)

    assert value_of(page, "rota_database_connections", state="active") >= 1
    assert value_of(page, "rota_database_connections_max") > 1
    assert value_of(page, "rota_table_bytes", table="runs") > 0
    assert value_of(page, "rota_table_rows", table="runs") >= 0
    assert value_of(page, "rota_table_bytes", table="other") > 0
    assert value_of(page, "rota_table_dead_tuples", table="runs") >= 0


async def test_the_pages_of_the_cluster_and_of_the_process_fit_together(world: World) -> None:
    process = build_meter().list_families()
    own = {family.name for family in process}
    cluster = [f for f in await read_cluster_families(world.conn) if f.name not in own]

    scrape(render_families([*cluster, *process]))
    assert own & {family.name for family in await read_cluster_families(world.conn)} == {
        "rota_database_up"
    }


async def test_every_metric_is_in_the_reference_and_nothing_else(world: World) -> None:
    page = await render_cluster(world.conn) + build_meter().render()
    written = set(re.findall(r"^# TYPE (\S+)", page, re.MULTILINE))

    told = (DOCS / "metrics.md").read_text()

    assert set(re.findall(r"`((?:rota|process|python)_\w+)`", told)) == written


async def test_a_database_that_is_away_makes_a_page_and_not_an_error(world: World) -> None:
    class Away:
        def acquire(self) -> AbstractAsyncContextManager[Connection]:
            raise StoreUnavailable(reason="gone")

    page = await ClusterPage(source=Away(), monotonic=lambda: 0.0).read_families()

    assert page == build_outage_families()
    assert value_of(render_families(page), "rota_database_up") == 0


async def test_scrapes_at_the_same_time_read_the_database_once(world: World) -> None:
    class Counted:
        number = 0

        @asynccontextmanager
        async def acquire(self) -> AsyncIterator[Connection]:
            self.number += 1
            yield world.conn

    source, clock = Counted(), [100.0]
    page = ClusterPage(source=source, monotonic=lambda: clock[0])

    await asyncio.gather(*(page.read_families() for _ in range(20)))
    clock[0] += PAGE_LIFETIME_S - 0.1
    await page.read_families()
    before = source.number
    clock[0] += 0.2
    await page.read_families()

    assert (before, source.number) == (1, 2)


async def test_the_demand_is_what_is_ready_runs_or_is_due_within_a_minute(world: World) -> None:
    gate = await gates.put_gate(world.conn, 1, "key:k", GateLimits(max_running=1))
    await world.runs(3)
    await world.run(tenant_id=2)
    await world.run(gates=(gate,))
    await world.run(due_at=world.now + timedelta(seconds=50))
    await world.run(due_at=world.now + timedelta(seconds=70))
    await world.claim(await world.session(), room=2)
    await world.job(fire_at=world.now + timedelta(seconds=59))
    await world.job(fire_at=world.now + timedelta(seconds=61))

    (everything,) = [
        each for each in await metrics_queries.read_demands(world.conn) if each.queue == "default"
    ]
    queue_id = await interning.intern_queue(world.conn, "default")
    one, own = [
        await metrics_queries.read_queue_demand(world.conn, queue_id=queue_id, tenant_id=tenant_id)
        for tenant_id in (None, 2)
    ]
    await gates.pause_queue(world.conn, queue_id, paused=True, by="ana")
    paused = await metrics_queries.read_queue_demand(world.conn, queue_id=queue_id, tenant_id=None)
    (all_paused,) = [
        each for each in await metrics_queries.read_demands(world.conn) if each.queue == "default"
    ]

    assert everything == ("default", 3, 2, 2)
    assert one == everything
    assert own is not None
    assert own.ready + own.running == 1
    assert paused == all_paused == ("default", 0, 2, 0)
