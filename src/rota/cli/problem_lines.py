"""Renders the problems that exist now, for `rota status`."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from rota.cli import times
from rota.cli.tables import Screen, colour_text, format_cell

SEVERITY_MOODS: Final = {"info": "busy", "warning": "waits", "page": "bad"}
INDENT: Final = " " * 9


def render_problems(problems: Sequence[Any], now: datetime, screen: Screen) -> Iterator[str]:
    """Render each problem with its cause and its remedy."""
    if not problems:
        yield colour_text("No problems", "good", screen)
        return
    for problem in problems:
        severity = colour_text(f"{problem.severity:<8}", SEVERITY_MOODS[problem.severity], screen)
        since = "" if problem.since is None else f" (for {times.format_since(problem.since, now)})"
        yield f"{severity} {format_cell(problem.sentence)}{since}"
        if problem.cause is not None:
            yield f"{INDENT}{format_cell(problem.cause)}"
        yield f"{INDENT}→ {format_cell(problem.remedy)}"


def has_bad(problems: Sequence[Any]) -> bool:
    """Tell whether a problem is a warning or worse."""
    return any(problem.severity != "info" for problem in problems)
