"""Renders aligned tables without frames, cut to the width of the terminal.

Output to a file or pipe is neither cut nor coloured. Line breaks and escape sequences in untrusted
text (names, error messages) are escaped.
"""

import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from rota.core.terminal_text import escape_controls
from rota.core.time import moments

T = TypeVar("T")

GAP: Final = "  "
ELLIPSIS: Final = "…"
# A column is never cut below this width, so that its rows stay distinguishable.
COLUMN_WIDTH_MIN: Final = 8
RESET: Final = "\x1b[0m"
COLOURS: Final[Mapping[str, str]] = {
    "good": "\x1b[32m",
    "busy": "\x1b[36m",
    "waits": "\x1b[33m",
    "bad": "\x1b[31m",
    "faint": "\x1b[2m",
    "head": "\x1b[1m",
}
MOODS: Final[Mapping[str, str]] = {
    "succeeded": "good",
    "active": "good",
    "ok": "good",
    "reading": "good",
    "running": "busy",
    "cancelling": "busy",
    "queued": "waits",
    "retrying": "waits",
    "blocked": "waits",
    "paused": "waits",
    "warning": "waits",
    "idle": "waits",
    "dead": "bad",
    "lost": "bad",
    "quarantined": "bad",
    "failing": "bad",
    "bad": "bad",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Width and colour support of the output."""

    width: int | None = None
    colours: bool = False


PLAIN_SCREEN: Final = Screen()


@dataclass(frozen=True, slots=True)
class TableColumn(Generic[T]):
    """`flexible` columns shrink on a narrow screen; `mood` colours a cell by its text."""

    head: str
    cell: Callable[[T], object]
    flexible: bool = False
    right: bool = False
    mood: bool = False


def detect_screen(stream: Any = None) -> Screen:
    """Return the screen of a stream. Default: standard output."""
    out = sys.stdout if stream is None else stream
    if not out.isatty():
        return PLAIN_SCREEN
    return Screen(
        width=shutil.get_terminal_size().columns,
        colours="NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
    )


def render_table(
    columns: Sequence[TableColumn[T]], rows: Iterable[T], screen: Screen = PLAIN_SCREEN
) -> Iterator[str]:
    """Return the lines of a table, headings first."""
    texts = [[format_cell(column.cell(row)) for column in columns] for row in rows]
    heads = [column.head for column in columns]
    widths = [max(map(measure_width, cells)) for cells in zip(heads, *texts, strict=True)]
    widths = fit_widths(widths, columns, screen.width)
    yield colour_text(
        render_line(heads, widths, columns, Screen(width=screen.width)), "head", screen
    )
    for cells in texts:
        yield render_line(cells, widths, columns, screen)


def fit_widths(
    widths: list[int], columns: Sequence[TableColumn[Any]], max_width: int | None
) -> list[int]:
    """Shrink the widest flexible column, one character at a time, until the table fits."""
    found = list(widths)
    flexible = [place for place, column in enumerate(columns) if column.flexible]
    while max_width is not None and sum(found) + len(GAP) * (len(found) - 1) > max_width:
        widest = max(flexible, key=lambda place: found[place], default=None)
        if widest is None or found[widest] <= COLUMN_WIDTH_MIN:
            return found
        found[widest] -= 1
    return found


def render_line(
    cells: Sequence[str], widths: Sequence[int], columns: Sequence[TableColumn[Any]], screen: Screen
) -> str:
    parts = []
    used = 0
    for cell, width, column in zip(cells, widths, columns, strict=True):
        left = None if screen.width is None else screen.width - used
        text = pad_text(truncate_text(cell, width), width, right=column.right)
        if left is not None and measure_width(text) > left:
            text = truncate_text(text, left)
        used += measure_width(text) + len(GAP)
        parts.append(colour_text(text, MOODS.get(cell), screen) if column.mood else text)
    return GAP.join(parts).rstrip()


def pad_text(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - measure_width(text))
    return space + text if right else text + space


def truncate_text(text: str, width: int) -> str:
    """Cut text to `width`; an ellipsis marks the cut."""
    if measure_width(text) <= width:
        return text
    kept = ""
    for character in text:
        if measure_width(kept) + measure_width(character) > width - 1:
            break
        kept += character
    return kept + ELLIPSIS if width > 0 else ""


def measure_width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def colour_text(text: str, mood: str | None, screen: Screen) -> str:
    if mood is None or not screen.colours:
        return text
    return f"{COLOURS[mood]}{text}{RESET}"


def format_cell(value: object) -> str:
    """Return a cell as text on one line, with control characters escaped."""
    if value is None:
        return ""
    text = _text(value)
    if text.isprintable():
        return text
    return escape_controls(" ".join(text.split()))


def _text(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case datetime():
            return moments.to_rfc3339(value.replace(microsecond=0))
        case dict() | list():
            return json.dumps(value, ensure_ascii=False, default=str)
        case _:
            return str(value)


def render_pairs(
    rows: Iterable[tuple[str, object]], screen: Screen = PLAIN_SCREEN
) -> Iterator[str]:
    """Return one line per name and value; empty values are left out."""
    cells = [(name, format_cell(value)) for name, value in rows if value not in (None, "", [], {})]
    wide = max((len(name) for name, _ in cells), default=0)
    for name, text in cells:
        label = colour_text(name.ljust(wide), "faint", screen)
        yield f"{label}{GAP}{colour_text(text, MOODS.get(text), screen)}"
