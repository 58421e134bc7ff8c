"""What is measured, with its target: one table for the report, the JSON and the plot.

Room: node/bench. Figures are flat inside, `fire_lag_ms.100.p50` → 1.4, so that merging parts and
taking medians of rounds are one line each; `to_plain` gives the nested form that is published.
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
    """`target` is None for a figure that is shown for its own sake."""

    key: str
    words: str
    unit: str
    target: float | None = None
    more_is_better: bool = False

    def is_met(self, figure: float) -> bool | None:
        if self.target is None:
            return None
        return figure >= self.target if self.more_is_better else figure <= self.target


def spread_of(
    key: str, words: str, *, p50: float | None = None, p99: float | None = None
) -> tuple[Measure, ...]:
    """The three figures of a distribution in milliseconds."""
    return (
        Measure(key=f"{key}.p50", words=f"{words}, p50", unit="ms", target=p50),
        Measure(key=f"{key}.p99", words=f"{words}, p99", unit="ms", target=p99),
        Measure(key=f"{key}.max", words=f"{words}, longest", unit="ms"),
    )


def written_by(key: str, words: str) -> tuple[Measure, ...]:
    """What a submission costs the database."""
    return (
        Measure(
            key=f"{key}_written.rows", words=f"rows a submission, {words}", unit="rows", target=1
        ),
        Measure(key=f"{key}_written.wal_bytes", words=f"WAL a submission, {words}", unit="bytes"),
    )


MEASURES: Final[tuple[Measure, ...]] = (
    Measure(
        key="drain_runs_per_s",
        words="draining a backlog",
        unit="runs/s",
        target=40_000,
        more_is_better=True,
    ),
    Measure(
        key="throughput_runs_per_s",
        words="from due to recorded, firing included",
        unit="runs/s",
        target=20_000,
        more_is_better=True,
    ),
    *spread_of("fire_lag_ms.100", "due to started, 100 a second", p50=2, p99=5),
    *spread_of("fire_lag_ms.1000", "due to started, 1,000 a second", p50=2, p99=5),
    *spread_of("fire_lag_ms.5000", "due to started, 5,000 a second", p99=50),
    *spread_of("pickup_ms", "submitted to started, idle system", p50=3, p99=8),
    Measure(key="herd_10000_s", words="10,000 due at one instant, all started", unit="s", target=2),
    Measure(
        key="cron_10000_per_s.fired_percent",
        words="10,000 cron entries every second, fired",
        unit="%",
        target=100,
        more_is_better=True,
    ),
    Measure(
        key="cron_10000_per_s.accounted_percent",
        words="10,000 cron entries every second, on record",
        unit="%",
        target=100,
        more_is_better=True,
    ),
    Measure(
        key="cron_10000_per_s.p99_ms",
        words="10,000 cron entries every second, p99 late",
        unit="ms",
        target=100,
    ),
    Measure(
        key="neighbour_ratio",
        words="wait beside a noisy tenant to idle wait, p99",
        unit="×",
        target=2,
    ),
    *spread_of("neighbour_ms.idle", "wait of a tenant alone"),
    *spread_of("neighbour_ms.busy", "wait beside 100,000 waiting of another"),
    Measure(
        key="in_flight",
        words="runs in flight in one process",
        unit="runs",
        target=1000,
        more_is_better=True,
    ),
    *spread_of("api_submit_ms", "a submission over REST, 500 a second", p99=8),
    Measure(
        key="api_submits_per_s",
        words="submissions over REST, one by one, one process",
        unit="jobs/s",
        target=3_000,
        more_is_better=True,
    ),
    Measure(
        key="api_events_per_s",
        words="events over REST, one by one, one process",
        unit="events/s",
        target=1_000,
        more_is_better=True,
    ),
    Measure(
        key="api_bulk_jobs_per_s",
        words="submissions over REST, 1,000 a request",
        unit="jobs/s",
        target=45_000,
        more_is_better=True,
    ),
    Measure(
        key="python_bulk_jobs_per_s",
        words="submissions from Python, 1,000 a transaction",
        unit="jobs/s",
        target=60_000,
        more_is_better=True,
    ),
    *written_by("api_submit", "one by one"),
    *written_by("api_bulk", "1,000 a request"),
    Measure(
        key="graph_runs_per_s",
        words="diamonds of five steps, making them included",
        unit="runs/s",
        target=12_000,
        more_is_better=True,
    ),
    Measure(
        key="graph_percent_of_throughput",
        words="diamonds to jobs that are fired",
        unit="%",
        target=60,
        more_is_better=True,
    ),
    Measure(key="graph_cpu_us_per_run.rota", words="processor time a graph's run, Rota", unit="µs"),
    Measure(
        key="graph_cpu_us_per_run.postgres",
        words="processor time a graph's run, PostgreSQL",
        unit="µs",
    ),
    Measure(
        key="graph_cpu_us_per_run.all", words="processor time a graph's run, in all", unit="µs"
    ),
    Measure(
        key="graph_start_s",
        words="1,000 steps and 5,000 edges, handed in to started",
        unit="s",
        target=1,
    ),
    Measure(
        key="map_members_per_s",
        words="members of a map, making them included",
        unit="runs/s",
        target=10_000,
        more_is_better=True,
    ),
    Measure(
        key="map_percent_of_drain",
        words="members of a map to a drained backlog",
        unit="%",
        target=50,
        more_is_better=True,
    ),
    Measure(key="map_cpu_us.plain", words="processor time a plain run, beside a map", unit="µs"),
    Measure(key="map_cpu_us.member", words="processor time a member of a map", unit="µs"),
    Measure(key="map_memory_mb", words="memory that a map adds, all processes", unit="MB"),
    Measure(
        key="failover_scheduler_s",
        words="a scheduler is killed: all its jobs fire again",
        unit="s",
        target=8,
    ),
    Measure(
        key="failover_worker_s",
        words="a worker is killed: all its runs start again",
        unit="s",
        target=13,
    ),
    Measure(key="cpu_us_per_run.rota", words="processor time a run, Rota", unit="µs"),
    Measure(key="cpu_us_per_run.postgres", words="processor time a run, PostgreSQL", unit="µs"),
    Measure(key="cpu_us_per_run.all", words="processor time a run, in all", unit="µs", target=35),
)


def spread(key: str, milliseconds: Sequence[float]) -> dict[str, float]:
    """The figures of `spread_of` for these times."""
    return {
        f"{key}.p50": percentile(milliseconds, 50),
        f"{key}.p99": percentile(milliseconds, 99),
        f"{key}.max": max(milliseconds),
    }


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` of all values do not exceed.

    A value that was really measured: with 20 samples the p99 is the worst one, and interpolating
    would make it look better than anything that happened.
    """
    ranked = sorted(values)
    return ranked[max(0, ceil(len(ranked) * percent / 100) - 1)]


def medians(rounds: Sequence[Figures]) -> dict[str, float]:
    """Figure by figure, the median of the rounds that have it."""
    keys = dict.fromkeys(key for figures in rounds for key in figures)
    return {key: median(each[key] for each in rounds if key in each) for key in keys}


def to_plain(figures: Figures) -> dict[str, object]:
    """The published form: nested, every key present, null for what was not measured."""
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
    """Four digits that mean something, and no more of a figure on a noisy machine."""
    if figure is None:
        return None
    return round(figure) if abs(figure) >= 1000 else float(f"{figure:.4g}")
