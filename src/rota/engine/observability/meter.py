"""Counts and measures what this process does, for Prometheus.

A Meter receives the same events as the log, and the durations of statements and requests. Labels
are Rota's own words, and tasks and queues up to a limit, so the number of series is bounded.
cluster_metrics.py has the metrics of the cluster, process_metrics.py the gauges of the process.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from threading import Lock
from typing import Any, Final, NamedTuple

from rota.core import log_events
from rota.core.errors import LeaseLost
from rota.core.log_events import EngineEvent
from rota.core.states import DEAD_LETTER_STATES, RunState
from rota.engine.observability.exposition import (
    LABEL_VALUES_MAX,
    OTHER_LABEL,
    REQUEST_BUCKETS_S,
    RUN_BUCKETS_S,
    Exemplar,
    HistogramSeries,
    MetricFamily,
    MetricType,
    Sample,
    build_counter,
    render_families,
)
from rota.runtime import events as runtime_events
from rota.runtime.clock import SystemClock
from rota.runtime.events import RuntimeEvent


class CounterIncrement(NamedTuple):
    """An amount to add to a counter, with its label values if it has labels."""

    name: str
    amount: int = 1
    value: str | None = None
    second_value: str | None = None


class CounterSpec(NamedTuple):
    help_text: str
    label: str | None = None
    second_label: str | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label for label in (self.label, self.second_label) if label is not None)


COUNTERS: Final[dict[str, CounterSpec]] = {
    "rota_attempts_ended_total": CounterSpec("Attempts that ended, by outcome.", "outcome"),
    "rota_attempts_failed_total": CounterSpec("Attempts that failed, by task.", "task"),
    "rota_attempts_stuck_total": CounterSpec(
        "Attempts given up because they did not stop, by task.", "task"
    ),
    "rota_deliveries_total": CounterSpec(
        "Attempts to deliver an event to a webhook endpoint, by outcome.", "outcome"
    ),
    "rota_endpoint_changes_total": CounterSpec(
        "Times that a webhook endpoint began to fail, recovered or was disabled.", "change"
    ),
    "rota_dead_letters_total": CounterSpec("Runs that became dead letters, by state.", "state"),
    "rota_events_ingested_total": CounterSpec("Events taken from sources.", "source"),
    "rota_events_relayed_total": CounterSpec(
        "Events that the relay or a sink handed over.", "name"
    ),
    "rota_ticks_fired_total": CounterSpec("Ticks fired by this scheduler."),
    "rota_ticks_rejected_total": CounterSpec("Ticks that another scheduler had already decided."),
    "rota_jobs_quarantined_total": CounterSpec(
        "Jobs quarantined because they cannot be scheduled."
    ),
    "rota_leases_lost_total": CounterSpec("Leases that expired while they were held.", "thing"),
    "rota_loops_blocked_total": CounterSpec("Times that a handler blocked the attempt loop."),
    "rota_messages_skipped_total": CounterSpec(
        "Messages from sources that are not valid events.", "source"
    ),
    "rota_notifications_total": CounterSpec(
        "Attempts to send a message about incidents, by channel and outcome.", "channel", "outcome"
    ),
    "rota_requests_failed_total": CounterSpec("Requests that failed with an unexpected error."),
    "rota_rescues_failed_total": CounterSpec("Times that lost runs could not be reclaimed."),
    "rota_graph_advances_delayed_total": CounterSpec(
        "Passes over a graph run that failed and are retried."
    ),
    "rota_graph_advances_failed_total": CounterSpec(
        "Graph runs that could not advance and were ended."
    ),
    "rota_results_discarded_total": CounterSpec("Ended attempts whose run had been reclaimed."),
    "rota_set_aside_total": CounterSpec("Jobs and runs that wait for a newer version.", "thing"),
    "rota_runs_expired_total": CounterSpec("Waiting runs ended because of their deadline."),
    "rota_runs_reclaimed_total": CounterSpec("Runs reclaimed from lost workers.", "outcome"),
    "rota_services_cancelled_total": CounterSpec("Services that did not stop in time.", "service"),
    "rota_services_failed_total": CounterSpec("Services that failed.", "service"),
    "rota_sessions_expired_total": CounterSpec(
        "Sessions expired because their process sent no heartbeat."
    ),
    "rota_worker_isolations_total": CounterSpec(
        "Times that a worker lost the database until its lease was about to expire."
    ),
    "rota_sessions_opened_total": CounterSpec("Sessions opened by this process.", "role"),
    "rota_shards_released_total": CounterSpec("Shards released to other schedulers."),
    "rota_shards_taken_total": CounterSpec("Shards taken."),
    "rota_heartbeats_refused_total": CounterSpec(
        "Outgoing heartbeats that the monitor did not accept."
    ),
    "rota_sinks_failed_total": CounterSpec(
        "Times that events could not be published to a sink.", "sink"
    ),
    "rota_sources_failed_total": CounterSpec("Times that a source could not be read.", "source"),
    "rota_spans_lost_total": CounterSpec("Spans of traces that did not reach the collector."),
    "rota_database_failures_total": CounterSpec("Passes that did not reach the database.", "duty"),
    "rota_database_recoveries_total": CounterSpec("Times the database was reached again.", "duty"),
    "rota_target_failures_total": CounterSpec("Times that a target was found down."),
    "rota_target_recoveries_total": CounterSpec("Times that a target recovered."),
    "rota_ticks_caught_up_total": CounterSpec("Late ticks that still ran."),
    "rota_ticks_recorded_total": CounterSpec("Late ticks that were recorded but did not run."),
}


class HistogramSpec(NamedTuple):
    help_text: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = RUN_BUCKETS_S


FIRE_DELAY: Final = "rota_fire_delay_seconds"
RUN_WAIT: Final = "rota_run_wait_seconds"
RUN_DURATION: Final = "rota_run_duration_seconds"
CLAIM_DURATION: Final = "rota_claim_duration_seconds"
STATEMENT_DURATION: Final = "rota_statement_duration_seconds"
REQUEST_DURATION: Final = "rota_request_duration_seconds"
HISTOGRAMS: Final[dict[str, HistogramSpec]] = {
    FIRE_DELAY: HistogramSpec(
        "How late ticks were fired, measured by the first tick of each batch.",
        bounds=REQUEST_BUCKETS_S,
    ),
    RUN_WAIT: HistogramSpec("Time from ready to started, for every attempt, by queue.", ("queue",)),
    RUN_DURATION: HistogramSpec("How long attempts ran, by task and outcome.", ("task", "outcome")),
    CLAIM_DURATION: HistogramSpec(
        "How long a worker waited for the answer to a claim.", bounds=REQUEST_BUCKETS_S
    ),
    STATEMENT_DURATION: HistogramSpec(
        "How long this process waited for a statement, by statement.",
        ("statement",),
        REQUEST_BUCKETS_S,
    ),
    REQUEST_DURATION: HistogramSpec(
        "How long the API took to answer, by operation and status code; streams until they began.",
        ("operation", "code"),
        REQUEST_BUCKETS_S,
    ),
}

CLOCK_OFFSET: Final = "rota_clock_offset_seconds"
PROCESS_DRAINING: Final = "rota_process_draining"
TARGETS_DOWN: Final = "rota_targets_down"
GAUGES: Final[dict[str, str]] = {
    CLOCK_OFFSET: "How far the database's clock is ahead of this machine's, when last measured.",
    PROCESS_DRAINING: "1 once this process was asked to stop.",
    TARGETS_DOWN: "Targets with an open circuit breaker in this worker.",
}


def _count_shards(event: log_events.ShardsMoved) -> list[CounterIncrement]:
    return [
        CounterIncrement("rota_shards_taken_total", event.taken),
        CounterIncrement("rota_shards_released_total", event.released),
        CounterIncrement("rota_leases_lost_total", event.lost, "shard"),
    ]


def _count_caught_up(event: log_events.TicksCaughtUp) -> list[CounterIncrement]:
    return [
        CounterIncrement("rota_ticks_caught_up_total", event.ran),
        CounterIncrement("rota_ticks_recorded_total", event.recorded),
    ]


def _count_reclaimed(event: log_events.RunsReclaimed) -> list[CounterIncrement]:
    name, dead = "rota_runs_reclaimed_total", "rota_dead_letters_total"
    return [
        CounterIncrement(name, event.waiting, "waiting"),
        CounterIncrement(name, event.ended, "ended"),
        CounterIncrement(dead, event.lost, RunState.LOST.value),
        CounterIncrement(dead, event.quarantined, RunState.QUARANTINED.value),
    ]


def _count_ended(event: log_events.AttemptsEnded) -> list[CounterIncrement]:
    name = "rota_attempts_ended_total"
    return [CounterIncrement(name, number, outcome) for outcome, number in event.outcomes.items()]


def _count_failed(event: log_events.AttemptFailed) -> list[CounterIncrement]:
    found = [CounterIncrement("rota_attempts_failed_total", 1, event.kind)]
    if event.final_state == RunState.DEAD.value:
        found.append(CounterIncrement("rota_dead_letters_total", 1, RunState.DEAD.value))
    return found


def _count_service_failed(event: runtime_events.ServiceFailed) -> list[CounterIncrement]:
    found = [CounterIncrement("rota_services_failed_total", 1, event.service)]
    if isinstance(event.error, LeaseLost):
        found.append(CounterIncrement("rota_leases_lost_total", 1, event.error.thing))
    return found


# The counters that each event increases. A test checks that every event is listed.
INCREMENTS_BY_EVENT: Final[dict[type[Any], Callable[[Any], Sequence[CounterIncrement]]]] = {
    log_events.SessionOpened: lambda e: [CounterIncrement("rota_sessions_opened_total", 1, e.role)],
    log_events.TenantsUnknown: lambda _: [],
    log_events.SettingDeprecated: lambda _: [],
    log_events.JobsDeclared: lambda _: [],
    log_events.JobUndeclared: lambda _: [],
    log_events.ShardsMoved: _count_shards,
    log_events.TicksFired: lambda e: [CounterIncrement("rota_ticks_fired_total", e.count)],
    log_events.TicksRejected: lambda e: [CounterIncrement("rota_ticks_rejected_total", e.count)],
    log_events.TicksCaughtUp: _count_caught_up,
    log_events.JobQuarantined: lambda _: [CounterIncrement("rota_jobs_quarantined_total")],
    log_events.JobSetAside: lambda _: [CounterIncrement("rota_set_aside_total", 1, "job")],
    log_events.RunSetAside: lambda _: [CounterIncrement("rota_set_aside_total", 1, "run")],
    log_events.WorkersExpired: lambda e: [
        CounterIncrement("rota_sessions_expired_total", len(e.names))
    ],
    log_events.WorkerIsolated: lambda _: [CounterIncrement("rota_worker_isolations_total")],
    log_events.LeaseOverrun: lambda _: [],
    log_events.RunsReclaimed: _count_reclaimed,
    log_events.RescueFailed: lambda _: [CounterIncrement("rota_rescues_failed_total")],
    log_events.GraphAdvanceDelayed: lambda _: [
        CounterIncrement("rota_graph_advances_delayed_total")
    ],
    log_events.GraphAdvanceFailed: lambda _: [CounterIncrement("rota_graph_advances_failed_total")],
    log_events.RunsExpired: lambda e: [CounterIncrement("rota_runs_expired_total", e.count)],
    log_events.ResultsDiscarded: lambda e: [
        CounterIncrement("rota_results_discarded_total", e.count)
    ],
    log_events.RunsClaimed: lambda _: [],
    log_events.NotificationAttempted: lambda e: [
        CounterIncrement("rota_notifications_total", 1, e.channel, e.outcome)
    ],
    log_events.AttemptsEnded: _count_ended,
    log_events.AttemptFailed: _count_failed,
    log_events.AttemptStuck: lambda e: [CounterIncrement("rota_attempts_stuck_total", 1, e.kind)],
    log_events.LoopBlocked: lambda _: [CounterIncrement("rota_loops_blocked_total")],
    log_events.TargetDown: lambda _: [CounterIncrement("rota_target_failures_total")],
    log_events.TargetUp: lambda _: [CounterIncrement("rota_target_recoveries_total")],
    log_events.ClockMeasured: lambda _: [],
    log_events.ClockSkewed: lambda _: [],
    log_events.ZoneRulesChanged: lambda _: [],
    log_events.ZoneRulesOlder: lambda _: [],
    log_events.ClockCorrected: lambda _: [],
    log_events.SourceAcquired: lambda _: [],
    log_events.SourceFailed: lambda e: [
        CounterIncrement("rota_sources_failed_total", value=e.source)
    ],
    log_events.HeartbeatRefused: lambda _: [CounterIncrement("rota_heartbeats_refused_total")],
    log_events.MessageSkipped: lambda e: [
        CounterIncrement("rota_messages_skipped_total", value=e.source)
    ],
    log_events.RelayAcquired: lambda _: [],
    log_events.SinkFailed: lambda e: [CounterIncrement("rota_sinks_failed_total", value=e.sink)],
    log_events.EventsRelayed: lambda e: [
        CounterIncrement("rota_events_relayed_total", e.count, e.name)
    ],
    log_events.EventsIngested: lambda e: [
        CounterIncrement("rota_events_ingested_total", e.count, e.source)
    ],
    log_events.WebhookAttempted: lambda e: [
        CounterIncrement("rota_deliveries_total", value=e.outcome)
    ],
    log_events.EndpointChanged: lambda e: [
        CounterIncrement("rota_endpoint_changes_total", value=e.change)
    ],
    log_events.WebhooksUnsigned: lambda _: [],
    # A process without a schema serves no metrics yet; these are for its log.
    log_events.MigrationWaiting: lambda _: [],
    log_events.MigrationRunning: lambda _: [],
    log_events.MigrationDelayed: lambda _: [],
    log_events.MigrationApplied: lambda _: [],
    runtime_events.DatabaseLost: lambda e: [
        CounterIncrement("rota_database_failures_total", 1, e.duty)
    ],
    runtime_events.DatabaseRecovered: lambda e: [
        CounterIncrement("rota_database_recoveries_total", 1, e.duty)
    ],
    runtime_events.WaitingForDatabase: lambda _: [],
    runtime_events.DatabaseReached: lambda _: [],
    runtime_events.ProcessDraining: lambda _: [],
    runtime_events.AdminKeyExpires: lambda _: [],
    runtime_events.SpansLost: lambda e: [CounterIncrement("rota_spans_lost_total", e.count)],
    runtime_events.RequestFailed: lambda _: [CounterIncrement("rota_requests_failed_total")],
    runtime_events.ServiceFailed: _count_service_failed,
    runtime_events.ServiceCancelled: lambda e: [
        CounterIncrement("rota_services_cancelled_total", 1, e.service)
    ],
}


# Amounts by name and label values.
CounterSeries = dict[str, dict[tuple[str, ...], int]]
Collector = Callable[[], Sequence[MetricFamily]]


class Meter:
    """The metrics of one process. Thread-safe: several threads count, another one renders.

    `now` gives the time of exemplars. Default: the machine's clock.
    """

    def __init__(self, *, now: Callable[[], datetime] | None = None) -> None:
        self._now = SystemClock().now if now is None else now
        self._lock = Lock()
        # A counter without a label starts at 0, so that its first increase is visible.
        self._counts: CounterSeries = {
            name: {} if counter.label else {(): 0} for name, counter in COUNTERS.items()
        }
        self._counts["rota_dead_letters_total"] = {
            (state.value,): 0 for state in sorted(DEAD_LETTER_STATES)
        }
        self._gauges = dict.fromkeys(GAUGES, 0.0)
        self._histograms = {
            name: HistogramSeries(spec.labels, bounds=spec.bounds)
            for name, spec in HISTOGRAMS.items()
        }
        self._collectors: list[Collector] = []

    def __call__(self, event: RuntimeEvent | EngineEvent) -> None:
        # An event that is not listed is only logged; it must not crash the process.
        counts = INCREMENTS_BY_EVENT.get(type(event), lambda _: ())(event)
        with self._lock:
            for count in counts:
                self._add(count)
            self._measure(event)

    def add_collector(self, collect: Collector) -> None:
        """Include what `collect` returns at each scrape. Any thread may call it."""
        self._collectors.append(collect)

    def observe_statement(self, statement: str, seconds: float) -> None:
        """Record how long a statement took. Costs about 0.7 µs."""
        with self._lock:
            self._histograms[STATEMENT_DURATION].find(statement).observe(seconds)

    def observe_request(self, operation: str, code: int, seconds: float) -> None:
        """Record how long a request took."""
        with self._lock:
            self._histograms[REQUEST_DURATION].find(operation, str(code)).observe(seconds)

    def list_families(self) -> list[MetricFamily]:
        """Return all metrics of this process as of now."""
        with self._lock:
            counts = {name: dict(series) for name, series in self._counts.items()}
            gauges = dict(self._gauges)
            histograms = {name: series.copy() for name, series in self._histograms.items()}
        # Rendered without the lock, because the hot path waits for it.
        families = [family for collect in self._collectors for family in collect()]
        families += build_counters(counts)
        families += [
            MetricFamily(
                name=name,
                metric_type=MetricType.GAUGE,
                help_text=about,
                samples=[Sample(gauges[name])],
            )
            for name, about in GAUGES.items()
        ]
        families += [
            MetricFamily(
                name=name,
                metric_type=MetricType.HISTOGRAM,
                help_text=spec.help_text,
                samples=histograms[name].samples(),
            )
            for name, spec in HISTOGRAMS.items()
        ]
        return families

    def render(self) -> str:
        """Render the metrics of this process in the text format."""
        return render_families(self.list_families())

    def _measure(self, event: RuntimeEvent | EngineEvent) -> None:
        match event:
            case log_events.RunsClaimed():
                self._measure_claim(event)
            case log_events.AttemptsEnded():
                self._measure_attempts(event)
            case log_events.TicksFired():
                late = event.late_by.total_seconds()
                self._histograms[FIRE_DELAY].find().observe(late, times=event.count)
            case log_events.ClockMeasured():
                self._gauges[CLOCK_OFFSET] = event.by.total_seconds()
            case log_events.TargetDown() | log_events.TargetUp():
                self._gauges[TARGETS_DOWN] = float(event.down)
            case runtime_events.ProcessDraining():
                self._gauges[PROCESS_DRAINING] = 1.0
            case _:
                pass

    def _measure_claim(self, event: log_events.RunsClaimed) -> None:
        self._histograms[CLAIM_DURATION].find().observe(event.took_s)
        if event.longest_run_id is not None:
            waits = self._histograms[RUN_WAIT].find(event.queue)
            waits.observe_all(event.waits)
            longest = max(event.waits)
            waits.set_exemplar(Exemplar(event.longest_run_id.hex, longest, self._now().timestamp()))

    def _measure_attempts(self, event: log_events.AttemptsEnded) -> None:
        for group in event.groups:
            if group.slowest_run_id is None:
                continue
            durations = self._histograms[RUN_DURATION].find(group.task, group.outcome)
            durations.observe_all(group.durations)
            slowest = max(group.durations)
            durations.set_exemplar(
                Exemplar(group.slowest_run_id.hex, slowest, self._now().timestamp())
            )

    def _add(self, count: CounterIncrement) -> None:
        series = self._counts[count.name]
        values: tuple[str, ...] = () if count.value is None else (count.value,)
        if count.second_value is not None:
            values = (*values, count.second_value)
        if values not in series and len(series) >= LABEL_VALUES_MAX:
            values = (OTHER_LABEL, *values[1:])
        series[values] = series.get(values, 0) + count.amount


def build_counters(counts: CounterSeries) -> list[MetricFamily]:
    return [
        build_counter(
            name,
            counter.help_text,
            [
                Sample(amount, tuple(zip(counter.labels, values, strict=True)))
                for values, amount in counts[name].items()
            ],
        )
        for name, counter in COUNTERS.items()
    ]
