"""Counts events of this process as Prometheus counters.

A Meter receives the same events as the log. Labels are Rota's own words, and kinds up to a limit: a
process never has more than a few hundred series. cluster_metrics.py has the metrics of the cluster.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

from rota.core import log_events
from rota.core.errors import LeaseLost
from rota.core.log_events import EngineEvent
from rota.engine.observability.exposition import (
    Histogram,
    Labels,
    MetricFamily,
    MetricType,
    Sample,
    render_families,
)
from rota.runtime import events as runtime_events
from rota.runtime.events import RuntimeEvent

LABEL_VALUES_MAX: Final = 50
OTHER_LABEL: Final = "other"


class CounterIncrement(NamedTuple):
    """An amount to add to a counter, with its label value if it has one."""

    name: str
    amount: int = 1
    value: str | None = None


class CounterSpec(NamedTuple):
    help_text: str
    label: str | None = None


COUNTERS: Final[dict[str, CounterSpec]] = {
    "rota_attempts_ended_total": CounterSpec("Attempts that ended, by outcome.", "outcome"),
    "rota_attempts_failed_total": CounterSpec("Attempts that failed, by kind of job.", "kind"),
    "rota_attempts_stuck_total": CounterSpec(
        "Attempts given up because they did not stop.", "kind"
    ),
    "rota_dead_runs_total": CounterSpec("Failed attempts that were the last of their run.", "kind"),
    "rota_events_taken_total": CounterSpec("Events taken from sources.", "source"),
    "rota_fires_total": CounterSpec("Ticks fired by this scheduler."),
    "rota_fires_refused_total": CounterSpec("Ticks that another scheduler had already decided."),
    "rota_jobs_quarantined_total": CounterSpec(
        "Jobs quarantined because they cannot be scheduled."
    ),
    "rota_leases_lost_total": CounterSpec("Leases that expired while they were held.", "thing"),
    "rota_loops_blocked_total": CounterSpec("Times that a handler blocked the attempt loop."),
    "rota_messages_refused_total": CounterSpec(
        "Messages from sources that are not valid events.", "source"
    ),
    "rota_requests_failed_total": CounterSpec("Requests that failed with an unexpected error."),
    "rota_rescues_failed_total": CounterSpec("Times that lost runs could not be reclaimed."),
    "rota_advances_put_off_total": CounterSpec(
        "Passes over a graph run that failed and are retried."
    ),
    "rota_advances_failed_total": CounterSpec("Graph runs that could not advance and were ended."),
    "rota_results_refused_total": CounterSpec("Ended attempts whose run had been reclaimed."),
    "rota_set_aside_total": CounterSpec("Jobs and runs that wait for a newer version.", "thing"),
    "rota_runs_expired_total": CounterSpec("Waiting runs ended because of their deadline."),
    "rota_runs_reclaimed_total": CounterSpec("Runs reclaimed from lost workers.", "outcome"),
    "rota_services_cancelled_total": CounterSpec("Services that did not stop in time.", "service"),
    "rota_services_failed_total": CounterSpec("Services that failed.", "service"),
    "rota_sessions_buried_total": CounterSpec(
        "Sessions expired because their process sent no heartbeat."
    ),
    "rota_worker_cut_offs_total": CounterSpec(
        "Times that a worker lost the database until its lease was about to expire."
    ),
    "rota_sessions_opened_total": CounterSpec("Sessions opened by this process.", "role"),
    "rota_shards_released_total": CounterSpec("Shards released to other schedulers."),
    "rota_shards_taken_total": CounterSpec("Shards taken."),
    "rota_sources_failed_total": CounterSpec("Times that a source could not be read.", "source"),
    "rota_spans_lost_total": CounterSpec("Spans of traces that did not reach the collector."),
    "rota_store_away_total": CounterSpec("Passes that did not reach the database.", "duty"),
    "rota_store_back_total": CounterSpec("Times the database was reached again.", "duty"),
    "rota_target_failures_total": CounterSpec("Times that a target was found down."),
    "rota_target_recoveries_total": CounterSpec("Times that a target recovered."),
    "rota_ticks_caught_up_total": CounterSpec("Late ticks that still ran."),
    "rota_ticks_recorded_total": CounterSpec("Late ticks that were recorded but did not run."),
}

FIRE_DELAY: Final = "rota_fire_delay_seconds"
ATTEMPT_DURATION: Final = "rota_attempt_duration_seconds"
HISTOGRAMS: Final[dict[str, str]] = {
    FIRE_DELAY: "How late ticks were fired, measured by the first tick of each batch.",
    ATTEMPT_DURATION: "How long attempts ran.",
}

CLOCK_OFFSET: Final = "rota_clock_offset_seconds"
PROCESS_DRAINING: Final = "rota_node_draining"
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
    name = "rota_runs_reclaimed_total"
    return [
        CounterIncrement(name, event.waiting, "waiting"),
        CounterIncrement(name, event.ended, "ended"),
    ]


def _count_ended(event: log_events.AttemptsEnded) -> list[CounterIncrement]:
    name = "rota_attempts_ended_total"
    return [CounterIncrement(name, number, outcome) for outcome, number in event.outcomes.items()]


def _count_failed(event: log_events.AttemptFailed) -> list[CounterIncrement]:
    found = [CounterIncrement("rota_attempts_failed_total", 1, event.kind)]
    if event.retry_in is None:
        found.append(CounterIncrement("rota_dead_runs_total", 1, event.kind))
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
    log_events.JobsDeclared: lambda _: [],
    log_events.JobUndeclared: lambda _: [],
    log_events.ShardsMoved: _count_shards,
    log_events.TicksFired: lambda e: [CounterIncrement("rota_fires_total", e.count)],
    log_events.TicksRejected: lambda e: [CounterIncrement("rota_fires_refused_total", e.count)],
    log_events.TicksCaughtUp: _count_caught_up,
    log_events.JobQuarantined: lambda _: [CounterIncrement("rota_jobs_quarantined_total")],
    log_events.JobSetAside: lambda _: [CounterIncrement("rota_set_aside_total", 1, "job")],
    log_events.RunSetAside: lambda _: [CounterIncrement("rota_set_aside_total", 1, "run")],
    log_events.WorkersExpired: lambda e: [
        CounterIncrement("rota_sessions_buried_total", len(e.names))
    ],
    log_events.WorkerIsolated: lambda _: [CounterIncrement("rota_worker_cut_offs_total")],
    log_events.LeaseOverrun: lambda _: [],
    log_events.RunsReclaimed: _count_reclaimed,
    log_events.RescueFailed: lambda _: [CounterIncrement("rota_rescues_failed_total")],
    log_events.GraphAdvanceDelayed: lambda _: [CounterIncrement("rota_advances_put_off_total")],
    log_events.GraphAdvanceFailed: lambda _: [CounterIncrement("rota_advances_failed_total")],
    log_events.RunsExpired: lambda e: [CounterIncrement("rota_runs_expired_total", e.count)],
    log_events.ResultsDiscarded: lambda e: [
        CounterIncrement("rota_results_refused_total", e.count)
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
    log_events.MessageSkipped: lambda e: [
        CounterIncrement("rota_messages_refused_total", value=e.source)
    ],
    log_events.EventsIngested: lambda e: [
        CounterIncrement("rota_events_taken_total", e.count, e.source)
    ],
    # A process without a schema serves no metrics yet; these are for its log.
    log_events.MigrationWaiting: lambda _: [],
    log_events.MigrationRunning: lambda _: [],
    log_events.MigrationDelayed: lambda _: [],
    log_events.MigrationApplied: lambda _: [],
    runtime_events.DatabaseLost: lambda e: [CounterIncrement("rota_store_away_total", 1, e.duty)],
    runtime_events.DatabaseRecovered: lambda e: [
        CounterIncrement("rota_store_back_total", 1, e.duty)
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


class Meter:
    """The counters of one process. Thread-safe: the heartbeat calls it from its own thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        # A counter without a label starts at 0, so that its first increase is visible.
        self._counts: dict[str, dict[str, int]] = {
            name: {} if counter.label else {"": 0} for name, counter in COUNTERS.items()
        }
        self._gauges = dict.fromkeys(GAUGES, 0.0)
        self._histograms = {name: Histogram() for name in HISTOGRAMS}

    def __call__(self, event: RuntimeEvent | EngineEvent) -> None:
        # An event that is not listed is only logged; it must not crash the process.
        counts = INCREMENTS_BY_EVENT.get(type(event), lambda _: ())(event)
        with self._lock:
            for count in counts:
                self._add(count)
            match event:
                case log_events.TicksFired():
                    late = event.late_by.total_seconds()
                    self._histograms[FIRE_DELAY].observe(late, times=event.count)
                case log_events.AttemptsEnded():
                    self._histograms[ATTEMPT_DURATION].observe_all(event.lasted)
                case log_events.ClockMeasured():
                    self._gauges[CLOCK_OFFSET] = event.by.total_seconds()
                case log_events.TargetDown() | log_events.TargetUp():
                    self._gauges[TARGETS_DOWN] = float(event.down)
                case runtime_events.ProcessDraining():
                    self._gauges[PROCESS_DRAINING] = 1.0
                case _:
                    pass

    def render(self) -> str:
        """Render the metrics of this process."""
        with self._lock:
            return render_families([*self._counter_families(), *self._other_families()])

    def _add(self, count: CounterIncrement) -> None:
        series = self._counts[count.name]
        value = count.value or ""
        if value not in series and len(series) >= LABEL_VALUES_MAX:
            value = OTHER_LABEL
        series[value] = series.get(value, 0) + count.amount

    def _counter_families(self) -> list[MetricFamily]:
        return [
            MetricFamily(
                name=name,
                metric_type=MetricType.COUNTER,
                help_text=counter.help_text,
                samples=[
                    Sample(amount, _labels(counter.label, value))
                    for value, amount in self._counts[name].items()
                ],
            )
            for name, counter in COUNTERS.items()
        ]

    def _other_families(self) -> list[MetricFamily]:
        found = [
            MetricFamily(
                name=name,
                metric_type=MetricType.GAUGE,
                help_text=about,
                samples=[Sample(self._gauges[name])],
            )
            for name, about in GAUGES.items()
        ]
        found += [
            MetricFamily(
                name=name,
                metric_type=MetricType.HISTOGRAM,
                help_text=about,
                samples=self._histograms[name].samples(),
            )
            for name, about in HISTOGRAMS.items()
        ]
        return found


def _labels(label: str | None, value: str) -> Labels:
    return () if label is None else ((label, value),)
