"""Renders the figures as a text table."""

from math import floor

from rota_bench.measures import MEASURES, Figures, Measure

HEADINGS = ("measure", "target", "measured", "met")


def render_report(figures: Figures) -> str:
    """Return one line per measured figure, with its target."""
    rows = [
        (measure.text, _target(measure), _format_figure(figures[measure.key], measure.unit), mark)
        for measure in MEASURES
        if measure.key in figures
        for mark in [_mark(measure.is_met(figures[measure.key]))]
    ]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *rows, strict=True)]
    rule = tuple("─" * width for width in widths)
    return "\n".join(_line(row, widths) for row in (HEADINGS, rule, *rows))


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    first, *others = row
    cells = [first.ljust(widths[0])]
    cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
    return "  ".join(cells).rstrip()


def _target(measure: Measure) -> str:
    if measure.target is None:
        return ""
    return (
        f"{'≥' if measure.more_is_better else '≤'} {_format_figure(measure.target, measure.unit)}"
    )


def _mark(is_met: bool | None) -> str:  # noqa: FBT001 - the result of is_met
    return {True: "yes", False: "no", None: ""}[is_met]


def _format_figure(figure: float, unit: str) -> str:
    if unit == "%":
        # Never round up: 99.999 % is not 100 %.
        return f"{floor(figure * 100) / 100:g} %"
    if figure >= 100 or figure == round(figure):
        return f"{figure:,.0f} {unit}"
    return f"{figure:,.2f} {unit}" if figure < 10 else f"{figure:,.1f} {unit}"
