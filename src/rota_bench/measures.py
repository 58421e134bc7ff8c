"""Lists every measure with its target, for the report, the JSON and the plot.

Figures are flat internally, `fire_lag_ms.100.p50` → 1.4, so that merging parts and taking medians
of rounds are one line each; `to_plain` returns the nested form that is published.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Final

Figures = Mapping[str, float]

RATES: Final = (100, 1000, 5000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure with its text and unit. `target` is None for information only."""

    key: str
    text: str
    unit: str
    target: float | None = None
    more_is_better: bool = False

    def is_met(self, figure: float) -> bool | None:
        if self.target is None:
            return None
        return figure >= self.target if self.more_is_better else figure <= self.target


def build_spread_measures(
    key: str, words: str, *, p50: float | None = None, p99: float | None = None
) -> tuple[Measure, ...]:
    """Return the p50, p99 and maximum measures of a distribution in milliseconds."""
    return (
        Measure(key=f"{key}.p50", text=f"{words}, p50", unit="ms", target=p50),
        Measure(key=f"{key}.p99", text=f"{words}, p99", unit="ms", target=p99),
        Measure(key=f"{key}.max", text=f"{words}, longest", unit="ms"),
    )


def build_comparison_measures(
    key: str,
    words: str,
    unit: str,
    *,
    lowest_percent: float | None = None,
    highest_percent: float | None = None,
) -> tuple[Measure, ...]:
    """Return the measures of jobs without expectations, with conditions that the ends of runs
    decide, and with deadlines of every tick too. The ratios have the target.
    """
    levels = {
        "unwatched": "unwatched",
        "ends": "watched by their ends",
        "deadlines": "watched by deadlines too",
    }
    measures = [
        Measure(key=f"{key}.{level}", text=f"{words}, {name}", unit=unit)
        for level, name in levels.items()
    ]
    for level in ("ends", "deadlines"):
        ratio = f"{key}.{level}_percent"
        measures += [
            Measure(
                key=ratio,
                text=f"… {levels[level]}, relative to unwatched",
                unit="%",
                target=highest_percent if lowest_percent is None else lowest_percent,
                more_is_better=lowest_percent is not None,
            ),
            Measure(key=f"{ratio}_lowest", text="… lowest round", unit="%"),
            Measure(key=f"{ratio}_highest", text="… highest round", unit="%"),
        ]
    return tuple(measures)


def build_write_measures(key: str, words: str) -> tuple[Measure, ...]:
    """Return the measures of rows and WAL per submission."""
    return (
        Measure(
            key=f"{key}_written.rows", text=f"rows per submission, {words}", unit="rows", target=1
        ),
        Measure(key=f"{key}_written.wal_bytes", text=f"WAL per submission, {words}", unit="bytes"),
    )


MEASURES: Final[tuple[Measure, ...]] = (
    Measure(
        key="drain_runs_per_s",
        text="draining a backlog",
        unit="runs/s",
        target=40_000,
        more_is_better=True,
    ),
    Measure(
        key="throughput_runs_per_s",
        text="due to recorded, firing included",
        unit="runs/s",
        target=20_000,
        more_is_better=True,
    ),
    *build_spread_measures("fire_lag_ms.100", "due to started, 100 per second", p50=2, p99=5),
    *build_spread_measures("fire_lag_ms.1000", "due to started, 1,000 per second", p50=2, p99=5),
    *build_spread_measures("fire_lag_ms.5000", "due to started, 5,000 per second", p99=50),
    *build_spread_measures("pickup_ms", "submitted to started, idle system", p50=3, p99=8),
    Measure(key="herd_10000_s", text="10,000 due at one instant, all started", unit="s", target=2),
    Measure(
        key="cron_10000_per_s.fired_percent",
        text="10,000 cron entries every second, fired",
        unit="%",
        target=100,
        more_is_better=True,
    ),
    Measure(
        key="cron_10000_per_s.accounted_percent",
        text="10,000 cron entries every second, recorded",
        unit="%",
        target=100,
        more_is_better=True,
    ),
    Measure(
        key="cron_10000_per_s.p99_ms",
        text="10,000 cron entries every second, p99 delay",
        unit="ms",
        target=100,
    ),
    Measure(
        key="neighbour_ratio",
        text="wait next to a noisy tenant / idle wait, p99",
        unit="×",
        target=2,
    ),
    *build_spread_measures("neighbour_ms.idle", "wait of a single tenant"),
    *build_spread_measures("neighbour_ms.busy", "wait next to another tenant's backlog of 100,000"),
    Measure(
        key="in_flight",
        text="runs in flight in one process",
        unit="runs",
        target=1000,
        more_is_better=True,
    ),
    *build_spread_measures("api_submit_ms", "submission over REST, 500 per second", p99=8),
    Measure(
        key="api_submits_per_s",
        text="submissions over REST, one by one, one process",
        unit="jobs/s",
        target=3_000,
        more_is_better=True,
    ),
    Measure(
        key="api_events_per_s",
        text="events over REST, one by one, one process",
        unit="events/s",
        target=1_000,
        more_is_better=True,
    ),
    Measure(
        key="api_bulk_jobs_per_s",
        text="submissions over REST, 1,000 per request",
        unit="jobs/s",
        target=45_000,
        more_is_better=True,
    ),
    Measure(
        key="python_bulk_jobs_per_s",
        text="submissions from Python, 1,000 per transaction",
        unit="jobs/s",
        target=60_000,
        more_is_better=True,
    ),
    *build_write_measures("api_submit", "one by one"),
    *build_write_measures("api_bulk", "1,000 per request"),
    Measure(
        key="graph_runs_per_s",
        text="graphs of five steps, creation included",
        unit="runs/s",
        target=12_000,
        more_is_better=True,
    ),
    Measure(
        key="graph_percent_of_throughput",
        text="graphs relative to fired jobs",
        unit="%",
        target=60,
        more_is_better=True,
    ),
    Measure(key="graph_cpu_us_per_run.rota", text="CPU time per graph run, Rota", unit="µs"),
    Measure(
        key="graph_cpu_us_per_run.postgres",
        text="CPU time per graph run, PostgreSQL",
        unit="µs",
    ),
    Measure(key="graph_cpu_us_per_run.all", text="CPU time per graph run, total", unit="µs"),
    Measure(
        key="graph_start_s",
        text="1,000 steps and 5,000 edges, submitted to started",
        unit="s",
        target=1,
    ),
    Measure(
        key="map_members_per_s",
        text="map members, creation included",
        unit="runs/s",
        target=10_000,
        more_is_better=True,
    ),
    Measure(
        key="map_percent_of_drain",
        text="map members relative to a drained backlog",
        unit="%",
        target=50,
        more_is_better=True,
    ),
    Measure(key="map_cpu_us.plain", text="CPU time per plain run, before the map", unit="µs"),
    Measure(key="map_cpu_us.member", text="CPU time per map member", unit="µs"),
    Measure(key="map_memory_mb", text="additional memory of a map, all processes", unit="MB"),
    Measure(
        key="relay_runs_per_s.failures",
        text="relay catching up, finished runs, only failures asked for",
        unit="runs/s",
        target=20_000,
        more_is_better=True,
    ),
    Measure(
        key="relay_runs_per_s.everything",
        text="relay catching up, finished runs, every success asked for",
        unit="runs/s",
        target=20_000,
        more_is_better=True,
    ),
    *build_spread_measures(
        "relay_pass_ms.failures", "relay, pass at 20,000 runs per second, only failures"
    ),
    *build_spread_measures(
        "relay_pass_ms.everything", "relay, pass at 20,000 runs per second, every success"
    ),
    *build_comparison_measures(
        "watched_drain", "draining a backlog beside 1,000 runs/s", "runs/s", lowest_percent=98
    ),
    *build_comparison_measures(
        "watched_fire", "jobs due at one instant, started", "runs/s", lowest_percent=98
    ),
    *build_comparison_measures(
        "watched_lag_p50", "due to started, 1,000 per second, p50", "ms", highest_percent=102
    ),
    *build_comparison_measures(
        "watched_lag_p99", "due to started, 1,000 per second, p99", "ms", highest_percent=102
    ),
    *build_comparison_measures("watched_cpu", "CPU time per second, 1,000 runs per second", "s"),
    *build_spread_measures("alert_ms", "failed run to alert message", p99=5000),
    Measure(key="alert_storm.incidents", text="incidents of a storm", unit="incidents"),
    Measure(key="alert_storm.opened_s", text="storm: failed to all incidents open", unit="s"),
    Measure(
        key="alert_storm.messages",
        text="storm: messages until 30 s later",
        unit="messages",
        target=12,
    ),
    Measure(
        key="failover_scheduler_s",
        text="scheduler killed: all its jobs fire again",
        unit="s",
        target=8,
    ),
    Measure(
        key="failover_worker_s",
        text="worker killed: all its runs restart",
        unit="s",
        target=13,
    ),
    Measure(key="cpu_us_per_run.rota", text="CPU time per run, Rota", unit="µs"),
    Measure(key="cpu_us_per_run.postgres", text="CPU time per run, PostgreSQL", unit="µs"),
    Measure(key="cpu_us_per_run.all", text="CPU time per run, total", unit="µs", target=35),
)


def compute_spread(key: str, milliseconds: Sequence[float]) -> dict[str, float]:
    """Return the figures of `build_spread_measures` for these times."""
    return {
        f"{key}.p50": compute_percentile(milliseconds, 50),
        f"{key}.p99": compute_percentile(milliseconds, 99),
        f"{key}.max": max(milliseconds),
    }


def compute_percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least `percent` of all values do not exceed.

    Always a measured value: with 20 samples the p99 is the worst one, and interpolation would look
    better than any measurement.
    """
    ranked = sorted(values)
    return ranked[max(0, ceil(len(ranked) * percent / 100) - 1)]


def compute_medians(rounds: Sequence[Figures]) -> dict[str, float]:
    """Return the median of each figure over the rounds that have it."""
    keys = dict.fromkeys(key for figures in rounds for key in figures)
    return {key: median(figures[key] for figures in rounds if key in figures) for key in keys}


def to_plain(figures: Figures) -> dict[str, object]:
    """Return the published form: nested, every key present, null for missing figures."""
    plain: dict[str, object] = {}
    for name, members in _groups(measure.key for measure in MEASURES).items():
        plain[name] = _nested(name, members, figures)
    return plain


def _groups(keys: Iterable[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for key in keys:
        name, _, rest = key.partition(".")
        groups.setdefault(name, []).append(rest)
    return groups


def _nested(prefix: str, members: list[str], figures: Figures) -> object:
    if members == [""]:
        return _rounded(figures.get(prefix))
    inner = {
        name: _nested(f"{prefix}.{name}", rest, figures) for name, rest in _groups(members).items()
    }
    return None if all(value is None for value in inner.values()) else inner


def _rounded(figure: float | None) -> float | None:
    """Round to four significant digits; more is noise."""
    if figure is None:
        return None
    return round(figure) if abs(figure) >= 1000 else float(f"{figure:.4g}")
