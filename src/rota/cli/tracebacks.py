"""Renders the traceback of a failed run, the user's frames first.

The error message is left out: the caller has already printed it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rota.cli.tables import colour_text, detect_screen, format_cell

# Shown for an error that never reached the user's code.
LIBRARY_FRAMES_SHOWN: Final = 3
RELATIONS: Final = {"cause": "caused by", "context": "while handling", "member": "member"}


def render_traceback(errors: Sequence[Any] | None, run_id: str) -> Iterator[str]:
    """Return the raised error, then its causes; in each, the innermost call comes first."""
    if not errors:
        return
    yield ""
    folded = 0
    for error in errors:
        own = [frame for frame in error.frames if frame.is_own]
        kept = own or error.frames[-LIBRARY_FRAMES_SHOWN:]
        folded += len(error.frames) - len(kept) + error.omitted_frames
        yield from _error_lines(error, kept)
    if folded:
        hint = f"{folded} more frames of Rota and libraries: `rota runs logs {run_id}` shows all"
        yield colour_text(f"  {hint}", "faint", detect_screen())


def _error_lines(error: Any, frames: Sequence[Any]) -> Iterator[str]:
    screen, indent = detect_screen(), "  " * error.depth
    if error.relation != "raised":
        summary = f"{error.type}: {error.message}" if error.message else error.type
        yield f"{indent}{RELATIONS.get(error.relation, error.relation)} {format_cell(summary)}"
    for frame in reversed(frames):
        place = f"{frame.file}:{frame.line} in {frame.function}"
        style = "head" if frame.is_own else "faint"
        yield f"{indent}  {colour_text(format_cell(place), style, screen)}"
        if frame.code:
            yield f"{indent}      {format_cell(frame.code)}"
