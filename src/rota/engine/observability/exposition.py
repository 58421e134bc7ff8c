"""Renders metrics in the Prometheus text format, version 0.0.4.

The format is five lines of grammar, so this module implements it instead of using
prometheus_client. That library brings a process-wide registry, its own collectors, and counters
that cannot be set from database values; only its last ten lines would be used. Units are seconds,
counter names end in _total, and a family is written once with all its series, as the format
requires.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
METRIC_NAME: Final = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
# Bucket bounds from a millisecond, which a start should take, to an hour.
DURATION_BUCKETS_S: Final = (
    0.001,
    0.005,
    0.01,
    0.05,
    0.1,
    0.5,
    1.0,
    5.0,
    10.0,
    60.0,
    300.0,
    3600.0,
)

Labels = tuple[tuple[str, str], ...]


class MetricType(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Sample(NamedTuple):
    """One line: the suffix of its name, its labels, its value."""

    value: float
    labels: Labels = ()
    suffix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFamily:
    """A metric with all of its series."""

    name: str
    metric_type: MetricType
    help_text: str
    samples: Sequence[Sample] = ()

    def __post_init__(self) -> None:
        if not METRIC_NAME.fullmatch(self.name):
            raise ValueError(f"{self.name}: invalid metric name")
        if (self.metric_type is MetricType.COUNTER) != self.name.endswith("_total"):
            raise ValueError(f"{self.name}: counter names, and only they, must end in _total")


@dataclass(slots=True)
class Histogram:
    """Counts values into buckets. Not thread-safe: its owner holds the lock."""

    bounds: tuple[float, ...] = DURATION_BUCKETS_S
    total: float = 0.0
    counts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if list(self.bounds) != sorted(set(self.bounds)):
            raise ValueError("histogram bounds must be strictly increasing")
        # One more than the bounds, for values above all of them.
        self.counts = [0] * (len(self.bounds) + 1)

    def observe(self, value: float, *, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.total += value * times

    def observe_all(self, values: Sequence[float]) -> None:
        bounds, counts = self.bounds, self.counts
        for value in values:
            counts[bisect_left(bounds, value)] += 1
        self.total += sum(values)

    def samples(self, labels: Labels = ()) -> list[Sample]:
        """Return cumulative buckets, the sum and the count."""
        found: list[Sample] = []
        below = 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            below += count
            found.append(Sample(below, (*labels, ("le", format_number(bound))), "_bucket"))
        return [*found, Sample(self.total, labels, "_sum"), Sample(below, labels, "_count")]


def build_gauge(name: str, help_text: str, value: float) -> MetricFamily:
    """Return a family of one series without labels."""
    return MetricFamily(
        name=name, metric_type=MetricType.GAUGE, help_text=help_text, samples=(Sample(value),)
    )


def build_gauges(
    name: str, help_text: str, label: str, values: Mapping[str, float]
) -> MetricFamily:
    """Return a family with one label."""
    samples = [Sample(value, ((label, name_),)) for name_, value in values.items()]
    return MetricFamily(
        name=name, metric_type=MetricType.GAUGE, help_text=help_text, samples=samples
    )


def render_families(families: Iterable[MetricFamily]) -> str:
    """Render families as text. Parts with different families may be concatenated."""
    lines: list[str] = []
    for family in families:
        lines.append(f"# HELP {family.name} {escape_text(family.help_text)}")
        lines.append(f"# TYPE {family.name} {family.metric_type}")
        lines += [_line(family.name, sample) for sample in family.samples]
    return "".join(f"{line}\n" for line in lines)


def format_number(value: float) -> str:
    """Format a number as Go parses it: integers without a point, infinities with a sign."""
    if value != value:  # noqa: PLR0124 — only NaN differs from itself
        return "NaN"
    if value in {float("inf"), float("-inf")}:
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def escape_text(text: str, *, is_quoted: bool = False) -> str:
    """Escape a text for one line; label values also have their quotes escaped."""
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if is_quoted else text


def _line(name: str, sample: Sample) -> str:
    inside = ",".join(
        f'{key}="{escape_text(value, is_quoted=True)}"' for key, value in sample.labels
    )
    labels = f"{{{inside}}}" if inside else ""
    return f"{name}{sample.suffix}{labels} {format_number(sample.value)}"
