"""Draws the figures as an SVG, for a page or a pull request.

Two panels: above, rates as bars with a line at their target; below, times as dots (p50, p99,
longest) on a logarithmic axis, so that 2 ms and 2 s are both readable.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from textwrap import wrap
from typing import Final

from rota_bench.measures import MEASURES, Figures, Measure

WIDTH: Final = 860
LABELS: Final = 330
RIGHT: Final = 90
ROW: Final = 30
TOP: Final = 64
GAP: Final = 58
FOOT: Final = 32
LINE: Final = 16
NOTE: Final = 130
AXIS: Final = WIDTH - LABELS - RIGHT

INK, FAINT, BAR, GOAL = "#1c2733", "#d5dbe1", "#3b7dd8", "#c2410c"
DOTS: Final = {"p50": "#3b7dd8", "p99": "#7c3aed", "max": "#94a3b8"}
BY_KEY: Final = {measure.key: measure for measure in MEASURES}
# Times with a single figure, and the factor to milliseconds.
SINGLE: Final = {
    "cron_10000_per_s.p99_ms": 1.0,
    "herd_10000_s": 1000.0,
    "failover_scheduler_s": 1000.0,
    "failover_worker_s": 1000.0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotDot:
    kind: str
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotRow:
    """A row of the lower panel; `target` belongs to its p99, or to its only dot."""

    text: str
    dots: tuple[PlotDot, ...]
    target: float | None


def draw_svg(figures: Figures, *, title: str, note: str) -> str:
    """Return the text of the SVG file."""
    rates = [measure for measure in MEASURES if measure.key in figures and _is_rate(measure)]
    times = list(_times(figures))
    lines = wrap(note, NOTE)
    below = TOP + len(rates) * ROW + GAP
    foot = below + len(times) * ROW + FOOT
    height = foot + len(lines) * LINE + 8
    parts = [
        _opening(height),
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(16, 26, title, size=16),
        *_bars(rates, figures),
        *_scatter(times, top=below),
        *(_text(16, foot + (n + 0.5) * LINE, line, size=11) for n, line in enumerate(lines)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _opening(height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        f' width="{WIDTH}" height="{height}" font-family="system-ui, sans-serif" font-size="13"'
        f' fill="{INK}" role="img">'
    )


def _is_rate(measure: Measure) -> bool:
    return measure.more_is_better and measure.target is not None


def _bars(rates: list[Measure], figures: Figures) -> Iterator[str]:
    """Scale each bar to its own target, so that one vertical line marks all targets."""
    longest = max([1.25, *(figures[rate.key] / (rate.target or 1) for rate in rates)])
    for number, rate in enumerate(rates):
        share = figures[rate.key] / (rate.target or 1)
        y, length = TOP + number * ROW, AXIS * share / longest
        yield _text(LABELS - 10, y + 14, rate.text, anchor="end")
        yield f'<rect x="{LABELS}" y="{y + 2}" width="{length:.1f}" height="17" fill="{BAR}"/>'
        yield _text(LABELS + length + 6, y + 15, f"{figures[rate.key]:,.0f} {rate.unit}", size=12)
    if rates:
        x = LABELS + AXIS / longest
        yield _rule(x, TOP - 6, TOP + len(rates) * ROW, GOAL)
        yield _text(x, TOP - 10, "target", size=11, anchor="middle", colour=GOAL)


def _times(figures: Figures) -> Iterator[PlotRow]:
    groups: dict[str, dict[str, str]] = {}
    for key in figures:
        head, _, last = key.rpartition(".")
        if last in DOTS and key in BY_KEY:
            groups.setdefault(head, {})[last] = key
    for keys in groups.values():
        first = BY_KEY[next(iter(keys.values()))]
        target = BY_KEY[keys["p99"]].target if "p99" in keys else None
        dots = tuple(PlotDot(kind=kind, milliseconds=figures[key]) for kind, key in keys.items())
        yield PlotRow(text=first.text.rpartition(", ")[0], dots=dots, target=target)
    for key, factor in SINGLE.items():
        if key in figures:
            measure, kind = BY_KEY[key], "p99" if factor == 1.0 else "max"
            dot = PlotDot(kind=kind, milliseconds=figures[key] * factor)
            goal = None if measure.target is None else measure.target * factor
            yield PlotRow(text=measure.text, dots=(dot,), target=goal)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogScale:
    """A logarithmic axis of whole decades, so that the grid has round numbers."""

    low: int
    high: int

    def x(self, milliseconds: float) -> float:
        place = log10(max(milliseconds, 10.0**self.low)) - self.low
        return LABELS + AXIS * place / (self.high - self.low)


def _scatter(times: list[PlotRow], *, top: int) -> Iterator[str]:
    if not times:
        return
    values = [max(dot.milliseconds, 0.1) for row in times for dot in row.dots]
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    scale = LogScale(low=low, high=max(high, low + 1))
    bottom = top + len(times) * ROW
    for decade in range(scale.low, scale.high + 1):
        x = scale.x(10.0**decade)
        yield _rule(x, top - 6, bottom, FAINT)
        yield _text(x, bottom + 14, f"{10.0**decade:g} ms", size=11, anchor="middle")
    yield from _legend(top - 16)
    for number, row in enumerate(times):
        yield from _row_of_dots(row, top + number * ROW, scale)


def _row_of_dots(row: PlotRow, y: int, scale: LogScale) -> Iterator[str]:
    yield _text(LABELS - 10, y + 14, row.text, anchor="end")
    if row.target is not None:
        yield _rule(scale.x(row.target), y, y + 20, GOAL)
    for dot in row.dots:
        x = scale.x(dot.milliseconds)
        shown = f"{dot.kind} {dot.milliseconds:.4g} ms"
        yield (
            f'<circle cx="{x:.1f}" cy="{y + 10}" r="5" fill="{DOTS[dot.kind]}">'
            f"<title>{escape(shown)}</title></circle>"
        )


def _legend(y: int) -> Iterator[str]:
    names = {"p50": "p50", "p99": "p99", "max": "longest"}
    for number, (kind, colour) in enumerate(DOTS.items()):
        x = LABELS + number * 80
        yield f'<circle cx="{x + 5}" cy="{y - 4}" r="5" fill="{colour}"/>'
        yield _text(x + 16, y, names[kind], size=11)
    yield _text(LABELS + 240, y, "│ p99 target", size=11, colour=GOAL)


def _text(
    x: float, y: float, words: str, *, size: int = 13, anchor: str = "start", colour: str = INK
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
        f' fill="{colour}">{escape(words)}</text>'
    )


def _rule(x: float, top: float, bottom: float, colour: str) -> str:
    return (
        f'<line x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{bottom:.1f}"'
        f' stroke="{colour}" stroke-width="1.5"/>'
    )
