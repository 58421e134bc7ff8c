"""What happens in a process is counted, event by event, in a bounded number of series (O5)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import get_args
from uuid import UUID

import pytest
from tests.support.scraping import labels_of, scrape, value_of

from rota.core import log_events
from rota.core.errors import LeaseLost, StoreUnavailable
from rota.core.log_events import EngineEvent
from rota.engine.observability.meter import COUNTERS, INCREMENTS_BY_EVENT, LABEL_VALUES_MAX, Meter
from rota.runtime.events import (
    AdminKeyExpires,
    DatabaseLost,
    DatabaseReached,
    DatabaseRecovered,
    ProcessDraining,
    RequestFailed,
    RuntimeEvent,
    ServiceCancelled,
    ServiceFailed,
    SpansLost,
    WaitingForDatabase,
)

ID = UUID(int=7)
NOW = datetime(2026, 7, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def failed(kind: str = "http", retry_in: timedelta | None = SECOND) -> log_events.AttemptFailed:
    return log_events.AttemptFailed(run_id=ID, kind=kind, attempt=1, reason="x", retry_in=retry_in)


EVENTS: list[tuple[EngineEvent | RuntimeEvent, dict[str, float]]] = [
    (
        log_events.SessionOpened(role="worker", name="w", session_id=ID),
        {'rota_sessions_opened_total{role="worker"}': 1},
    ),
    (log_events.TenantsUnknown(tenants=("acme",)), {}),
    (log_events.JobsDeclared(app="a", made=1, changed=0, unchanged=0), {}),
    (log_events.JobUndeclared(app="a", name="n", remedy="r"), {}),
    (
        log_events.ShardsMoved(taken=5, released=2, lost=3, held=8),
        {
            "rota_shards_taken_total": 5,
            "rota_shards_released_total": 2,
            'rota_leases_lost_total{thing="shard"}': 3,
        },
    ),
    (log_events.TicksFired(count=3, late_by=SECOND), {"rota_fires_total": 3}),
    (
        log_events.AttemptsEnded(outcomes={"succeeded": 2, "failed": 1}, lasted=[0.1, 0.1, 2.0]),
        {
            'rota_attempts_ended_total{outcome="succeeded"}': 2,
            'rota_attempts_ended_total{outcome="failed"}': 1,
            'rota_attempt_duration_seconds_bucket{le="+Inf"}': 3,
        },
    ),
    (log_events.WorkerIsolated(stopped=2), {"rota_worker_cut_offs_total": 1}),
    (log_events.LeaseOverrun(), {}),
    (log_events.SourceAcquired(source="s", kind="kafka"), {}),
    (
        log_events.SourceFailed(source="s", kind="kafka", reason="x", pause=SECOND),
        {'rota_sources_failed_total{source="s"}': 1},
    ),
    (
        log_events.MessageSkipped(source="s", message="m", reason="x"),
        {'rota_messages_refused_total{source="s"}': 1},
    ),
    (
        log_events.EventsIngested(source="s", count=3, duplicates=1),
        {'rota_events_taken_total{source="s"}': 3},
    ),
    (log_events.JobSetAside(job_id=ID, reason="r"), {'rota_set_aside_total{thing="job"}': 1}),
    (log_events.RunSetAside(run_id=ID, reason="r"), {'rota_set_aside_total{thing="run"}': 1}),
    (log_events.MigrationWaiting(holder="h", waited=SECOND), {}),
    (log_events.MigrationRunning(name="m", lasted=SECOND, waits_for=None), {}),
    (log_events.MigrationDelayed(name="m", reason="r", tries=1), {}),
    (log_events.MigrationApplied(name="m", lasted=SECOND), {}),
    (log_events.TicksRejected(count=4), {"rota_fires_refused_total": 4}),
    (
        log_events.TicksCaughtUp(job_id=ID, ran=2, recorded=9),
        {"rota_ticks_caught_up_total": 2, "rota_ticks_recorded_total": 9},
    ),
    (log_events.JobQuarantined(job_id=ID, reason="x"), {"rota_jobs_quarantined_total": 1}),
    (log_events.WorkersExpired(names=("a", "b")), {"rota_sessions_buried_total": 2}),
    (
        log_events.RunsReclaimed(waiting=3, ended=1),
        {
            'rota_runs_reclaimed_total{outcome="waiting"}': 3,
            'rota_runs_reclaimed_total{outcome="ended"}': 1,
        },
    ),
    (log_events.RescueFailed(reason="x"), {"rota_rescues_failed_total": 1}),
    (
        log_events.GraphAdvanceDelayed(run_id=UUID(int=1), reason="x", tries=1),
        {"rota_advances_put_off_total": 1},
    ),
    (
        log_events.GraphAdvanceFailed(run_id=UUID(int=1), reason="x"),
        {"rota_advances_failed_total": 1},
    ),
    (log_events.RunsExpired(count=6), {"rota_runs_expired_total": 6}),
    (log_events.ResultsDiscarded(count=2), {"rota_results_refused_total": 2}),
    (failed(), {'rota_attempts_failed_total{kind="http"}': 1}),
    (failed(retry_in=None), {'rota_dead_runs_total{kind="http"}': 1}),
    (
        log_events.AttemptStuck(run_id=ID, kind="http", attempt=1),
        {'rota_attempts_stuck_total{kind="http"}': 1},
    ),
    (log_events.LoopBlocked(seconds=3.0, kind=None), {"rota_loops_blocked_total": 1}),
    (
        log_events.TargetDown(tenant_id=1, target="a:1", failures=5, pause=SECOND, down=3),
        {"rota_target_failures_total": 1, "rota_targets_down": 3},
    ),
    (
        log_events.TargetUp(tenant_id=1, target="a:1", down=2),
        {"rota_target_recoveries_total": 1, "rota_targets_down": 2},
    ),
    (log_events.ClockMeasured(by=-SECOND / 2), {"rota_clock_offset_seconds": -0.5}),
    (log_events.ClockSkewed(by=-SECOND / 2, at=NOW), {}),
    (log_events.ClockCorrected(by=-SECOND / 2, at=NOW), {}),
    (
        log_events.ZoneRulesChanged(before="2026a", after="2026b", zones=("X/Y",), jobs=2, moved=1),
        {},
    ),
    (log_events.ZoneRulesOlder(ours="2026a", cluster="2026b"), {}),
    (
        DatabaseLost(duty="firing", reason="x", failures=1, pause=SECOND),
        {'rota_store_away_total{duty="firing"}': 1},
    ),
    (AdminKeyExpires(key_id="key_1", expires_at=datetime(2030, 1, 1, tzinfo=UTC)), {}),
    (SpansLost(count=3, reason="the queue is full"), {"rota_spans_lost_total": 3}),
    (DatabaseRecovered(duty="firing", failures=1), {'rota_store_back_total{duty="firing"}': 1}),
    (WaitingForDatabase(reason="x", failures=1, waited=SECOND), {}),
    (DatabaseReached(failures=1, waited=SECOND), {}),
    (ProcessDraining(), {"rota_node_draining": 1}),
    (
        ServiceFailed(service="vouching", error=LeaseLost(thing="session", id=ID)),
        {
            'rota_services_failed_total{service="vouching"}': 1,
            'rota_leases_lost_total{thing="session"}': 1,
        },
    ),
    (
        ServiceFailed(service="x", error=StoreUnavailable("gone")),
        {'rota_services_failed_total{service="x"}': 1},
    ),
    (
        RequestFailed(request_id="r", error=ValueError("x")),
        {"rota_requests_failed_total": 1},
    ),
    (ServiceCancelled(service="x"), {'rota_services_cancelled_total{service="x"}': 1}),
]


@pytest.mark.parametrize(("event", "expected"), EVENTS, ids=lambda value: type(value).__name__)
def test_an_event_raises_its_counters(
    event: EngineEvent | RuntimeEvent, expected: dict[str, float]
) -> None:
    meter = Meter()

    meter(event)

    lines = dict(line.rsplit(" ", 1) for line in meter.render().splitlines())
    assert {name: float(lines[name]) for name in expected} == expected


def test_every_event_that_there_is_has_its_place() -> None:
    known = {*get_args(EngineEvent), *get_args(RuntimeEvent)}

    assert set(INCREMENTS_BY_EVENT) == known
    assert {type(event) for event, _ in EVENTS} == known


def test_counters_without_a_label_begin_at_zero() -> None:
    page = Meter().render()

    for name, counter in COUNTERS.items():
        assert counter.label is not None or value_of(page, name) == 0


def test_events_add_up() -> None:
    meter = Meter()
    for _ in range(3):
        meter(log_events.TicksRejected(count=2))

    assert value_of(meter.render(), "rota_fires_refused_total") == 6


def test_kinds_beyond_the_bound_share_a_series() -> None:
    meter = Meter()
    for kind in range(500):
        meter(failed(kind=f"kind {kind}"))
    meter(failed(kind="kind 3"))
    page = meter.render()

    assert len(labels_of(page, "rota_attempts_failed_total", "kind")) == LABEL_VALUES_MAX + 1
    assert value_of(page, "rota_attempts_failed_total", kind="kind 3") == 2
    assert value_of(page, "rota_attempts_failed_total", kind="other") == 500 - LABEL_VALUES_MAX


def test_fires_and_attempts_are_measured() -> None:
    meter = Meter()
    meter(log_events.TicksFired(count=100, late_by=timedelta(milliseconds=2)))
    meter(log_events.AttemptsEnded(outcomes={"succeeded": 1}, lasted=[2.0]))
    page = meter.render()

    assert value_of(page, "rota_fires_total") == 100
    assert value_of(page, "rota_fire_delay_seconds_bucket", le="0.001") == 0
    assert value_of(page, "rota_fire_delay_seconds_bucket", le="0.005") == 100
    assert value_of(page, "rota_attempts_ended_total", outcome="succeeded") == 1
    assert value_of(page, "rota_attempt_duration_seconds_sum") == 2


def test_an_event_it_does_not_know_does_not_stop_the_process() -> None:
    meter = Meter()
    before = meter.render()

    meter(object())  # type: ignore[arg-type]

    assert meter.render() == before


def test_threads_lose_no_count() -> None:
    meter = Meter()

    def count() -> None:
        for _ in range(2000):
            meter(log_events.RunsExpired(count=1))

    run_all([count] * 4)

    assert scrape(meter.render())["rota_runs_expired_total", ()] == 8000


def run_all(works: list[Callable[[], None]]) -> None:
    threads = [Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
