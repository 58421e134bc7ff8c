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
from rota.core.log_events import AttemptGroup, EngineEvent
from rota.engine.observability.exposition import LABEL_VALUES_MAX, build_gauge, render_page
from rota.engine.observability.meter import COUNTERS, INCREMENTS_BY_EVENT, Meter
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


def failed(
    kind: str = "http", retry_in: timedelta | None = SECOND, final_state: str | None = None
) -> log_events.AttemptFailed:
    return log_events.AttemptFailed(
        run_id=ID, kind=kind, attempt=1, reason="x", retry_in=retry_in, final_state=final_state
    )


def ended(*groups: tuple[str, str, list[float]]) -> log_events.AttemptsEnded:
    return log_events.AttemptsEnded(
        groups=[
            AttemptGroup(task, outcome, max(1, len(took)), took, ID if took else None)
            for task, outcome, took in groups
        ]
    )


EVENTS: list[tuple[EngineEvent | RuntimeEvent, dict[str, float]]] = [
    (
        log_events.SessionOpened(role="worker", name="w", session_id=ID),
        {'rota_sessions_opened_total{role="worker"}': 1},
    ),
    (log_events.TenantsUnknown(tenants=("acme",)), {}),
    (log_events.SettingDeprecated(setting="executors.channels", remedy="use channels"), {}),
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
    (log_events.TicksFired(count=3, late_by=SECOND), {"rota_ticks_fired_total": 3}),
    (
        ended(
            ("mail", "succeeded", [0.1, 0.2]),
            ("etl", "succeeded", [7]),
            ("etl", "failed", [2.0]),
            ("etl", "turned_away", []),
        ),
        {
            'rota_attempts_ended_total{outcome="succeeded"}': 3,
            'rota_attempts_ended_total{outcome="failed"}': 1,
            'rota_attempts_ended_total{outcome="turned_away"}': 1,
            'rota_run_duration_seconds_count{task="mail",outcome="succeeded"}': 2,
            'rota_run_duration_seconds_bucket{task="mail",outcome="succeeded",le="0.1"}': 1,
            'rota_run_duration_seconds_sum{task="etl",outcome="failed"}': 2,
        },
    ),
    (
        log_events.RunsClaimed(queue="mail", took_s=0.004, waits=[0.5, 20], longest_run_id=ID),
        {
            'rota_run_wait_seconds_bucket{queue="mail",le="0.5"}': 1,
            'rota_run_wait_seconds_count{queue="mail"}': 2,
            'rota_claim_duration_seconds_bucket{le="0.005"}': 1,
        },
    ),
    (
        log_events.NotificationAttempted(channel="ops", outcome="failed", reason="x"),
        {'rota_notifications_total{channel="ops",outcome="failed"}': 1},
    ),
    (
        log_events.WebhookAttempted(
            endpoint="e", event="v", outcome="failed", status=500, duration=SECOND
        ),
        {'rota_deliveries_total{outcome="failed"}': 1},
    ),
    (
        log_events.EndpointChanged(endpoint="e", change="disabled", error="x"),
        {'rota_endpoint_changes_total{change="disabled"}': 1},
    ),
    (log_events.WebhooksUnsigned(remedy="x"), {}),
    (log_events.RelayAcquired(name="relay"), {}),
    (
        log_events.EventsRelayed(name="relay", count=7, lag=SECOND),
        {'rota_events_relayed_total{name="relay"}': 7},
    ),
    (
        log_events.SinkFailed(sink="s", kind="kafka", reason="x", pause=SECOND),
        {'rota_sinks_failed_total{sink="s"}': 1},
    ),
    (log_events.HeartbeatRefused(reason="x"), {"rota_heartbeats_refused_total": 1}),
    (log_events.WorkerIsolated(stopped=2), {"rota_worker_isolations_total": 1}),
    (log_events.LeaseOverrun(), {}),
    (log_events.SourceAcquired(source="s", kind="kafka"), {}),
    (
        log_events.SourceFailed(source="s", kind="kafka", reason="x", pause=SECOND),
        {'rota_sources_failed_total{source="s"}': 1},
    ),
    (
        log_events.MessageSkipped(source="s", message="m", reason="x"),
        {'rota_messages_skipped_total{source="s"}': 1},
    ),
    (
        log_events.EventsIngested(source="s", count=3, duplicates=1),
        {'rota_events_ingested_total{source="s"}': 3},
    ),
    (log_events.JobSetAside(job_id=ID, reason="r"), {'rota_set_aside_total{thing="job"}': 1}),
    (log_events.RunSetAside(run_id=ID, reason="r"), {'rota_set_aside_total{thing="run"}': 1}),
    (log_events.MigrationWaiting(holder="h", waited=SECOND), {}),
    (log_events.MigrationRunning(name="m", lasted=SECOND, waits_for=None), {}),
    (log_events.MigrationDelayed(name="m", reason="r", tries=1), {}),
    (log_events.MigrationApplied(name="m", lasted=SECOND), {}),
    (log_events.TicksRejected(count=4), {"rota_ticks_rejected_total": 4}),
    (
        log_events.TicksCaughtUp(job_id=ID, ran=2, recorded=9),
        {"rota_ticks_caught_up_total": 2, "rota_ticks_recorded_total": 9},
    ),
    (log_events.JobQuarantined(job_id=ID, reason="x"), {"rota_jobs_quarantined_total": 1}),
    (log_events.WorkersExpired(names=("a", "b")), {"rota_sessions_expired_total": 2}),
    (
        log_events.RunsReclaimed(waiting=3, ended=4, lost=2, quarantined=1),
        {
            'rota_runs_reclaimed_total{outcome="waiting"}': 3,
            'rota_runs_reclaimed_total{outcome="ended"}': 4,
            'rota_dead_letters_total{state="lost"}': 2,
            'rota_dead_letters_total{state="quarantined"}': 1,
        },
    ),
    (log_events.RescueFailed(reason="x"), {"rota_rescues_failed_total": 1}),
    (
        log_events.GraphAdvanceDelayed(run_id=UUID(int=1), reason="x", tries=1),
        {"rota_graph_advances_delayed_total": 1},
    ),
    (
        log_events.GraphAdvanceFailed(run_id=UUID(int=1), reason="x"),
        {"rota_graph_advances_failed_total": 1},
    ),
    (log_events.RunsExpired(count=6), {"rota_runs_expired_total": 6}),
    (log_events.ResultsDiscarded(count=2), {"rota_results_discarded_total": 2}),
    (
        failed(),
        {'rota_attempts_failed_total{task="http"}': 1, 'rota_dead_letters_total{state="dead"}': 0},
    ),
    (failed(retry_in=None, final_state="dead"), {'rota_dead_letters_total{state="dead"}': 1}),
    (failed(retry_in=None, final_state="expired"), {'rota_dead_letters_total{state="dead"}': 0}),
    (
        log_events.AttemptStuck(run_id=ID, kind="http", attempt=1),
        {'rota_attempts_stuck_total{task="http"}': 1},
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
        {'rota_database_failures_total{duty="firing"}': 1},
    ),
    (AdminKeyExpires(key_id="key_1", expires_at=datetime(2030, 1, 1, tzinfo=UTC)), {}),
    (SpansLost(count=3, reason="the queue is full"), {"rota_spans_lost_total": 3}),
    (
        DatabaseRecovered(duty="firing", failures=1),
        {'rota_database_recoveries_total{duty="firing"}': 1},
    ),
    (WaitingForDatabase(reason="x", failures=1, waited=SECOND), {}),
    (DatabaseReached(failures=1, waited=SECOND), {}),
    (ProcessDraining(), {"rota_process_draining": 1}),
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

    assert value_of(meter.render(), "rota_ticks_rejected_total") == 6


def test_tasks_beyond_the_bound_share_a_series() -> None:
    meter = Meter()
    for kind in range(500):
        meter(failed(kind=f"kind {kind}"))
    meter(failed(kind="kind 3"))
    page = meter.render()

    assert len(labels_of(page, "rota_attempts_failed_total", "task")) == LABEL_VALUES_MAX + 1
    assert value_of(page, "rota_attempts_failed_total", task="kind 3") == 2
    assert value_of(page, "rota_attempts_failed_total", task="other") == 500 - LABEL_VALUES_MAX


def test_histograms_of_many_tasks_have_a_bounded_number_of_series() -> None:
    meter = Meter()
    for number in range(500):
        meter(ended((f"task {number}", "succeeded", [1.0]), (f"task {number}", "failed", [2.0])))
    page = meter.render()

    count = "rota_run_duration_seconds_count"
    tasks = labels_of(page, count, "task")
    assert len(tasks) == LABEL_VALUES_MAX + 2
    assert value_of(page, count, task="other", outcome="failed") == 475
    assert value_of(page, count, task="task 0", outcome="failed") == 1


def test_statements_and_requests_are_measured() -> None:
    meter = Meter()
    meter.observe_statement("live_runs/claim", 0.002)
    meter.observe_request("list_jobs", 200, 0.02)
    meter.observe_request("list_jobs", 503, 3)
    page = meter.render()

    claim = {"statement": "live_runs/claim"}
    assert value_of(page, "rota_statement_duration_seconds_bucket", **claim, le="0.001") == 0
    assert value_of(page, "rota_statement_duration_seconds_bucket", **claim, le="0.0025") == 1
    jobs = {"operation": "list_jobs"}
    assert value_of(page, "rota_request_duration_seconds_count", **jobs, code="200") == 1
    assert value_of(page, "rota_request_duration_seconds_sum", **jobs, code="503") == 3


def test_the_slowest_run_of_a_batch_is_the_exemplar_of_its_bucket() -> None:
    meter = Meter(now=lambda: NOW)
    meter(log_events.RunsClaimed(queue="mail", took_s=0.1, waits=[0.1, 20], longest_run_id=ID))
    meter(ended(("mail", "succeeded", [0.3, 0.4])))
    page, content_type = render_page(meter.list_families(), "application/openmetrics-text")

    example = f'# {{trace_id="{ID.hex}"}}'
    at = f"{NOW.timestamp():.3f}"
    assert content_type.startswith("application/openmetrics-text")
    assert f'rota_run_wait_seconds_bucket{{queue="mail",le="30"}} 2 {example} 20 {at}' in page
    assert f'outcome="succeeded",le="0.5"}} 2 {example} 0.4 {at}' in page
    assert "trace_id" not in meter.render()
    assert "# TYPE rota_ticks_fired counter\nrota_ticks_fired_total 0\n" in remove_help(page)
    assert page.endswith("# EOF\n")


def remove_help(page: str) -> str:
    return "".join(f"{line}\n" for line in page.splitlines() if not line.startswith("# HELP"))


def test_what_collectors_return_is_on_the_page() -> None:
    meter = Meter()
    meter.add_collector(lambda: [build_gauge("rota_slots", "Slots.", 4)])

    assert value_of(meter.render(), "rota_slots") == 4


def test_fires_and_attempts_are_measured() -> None:
    meter = Meter()
    meter(log_events.TicksFired(count=100, late_by=timedelta(milliseconds=2)))
    meter(ended(("mail", "succeeded", [2.0])))
    page = meter.render()

    assert value_of(page, "rota_ticks_fired_total") == 100
    assert value_of(page, "rota_fire_delay_seconds_bucket", le="0.001") == 0
    assert value_of(page, "rota_fire_delay_seconds_bucket", le="0.005") == 100
    assert value_of(page, "rota_attempts_ended_total", outcome="succeeded") == 1
    assert value_of(page, "rota_run_duration_seconds_sum", task="mail", outcome="succeeded") == 2


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
