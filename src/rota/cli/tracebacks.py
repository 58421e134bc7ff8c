"""The traceback of a failed run on the terminal: the user's frames first. Room: cli.

The message is not repeated: whoever calls this has just printed it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rota.cli.tables import coloured, screen_of, shown

# Of an error that never reached the user's code.
LIBRARY_FRAMES_SHOWN: Final = 3
RELATIONS: Final = {"cause": "caused by", "context": "while handling", "member": "member"}


def traceback_lines(errors: Sequence[Any] | None, run_id: str) -> Iterator[str]:
    """What was raised, then what led to it; in each the innermost call first."""
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
        said = f"{folded} more frames of Rota and libraries: `rota runs logs {run_id}` shows all"
        yield coloured(f"  {said}", "faint", screen_of())


def _error_lines(error: Any, frames: Sequence[Any]) -> Iterator[str]:
    screen, indent = screen_of(), "  " * error.depth
    if error.relation != "raised":
        said = f"{error.type}: {error.message}" if error.message else error.type
        yield f"{indent}{RELATIONS.get(error.relation, error.relation)} {shown(said)}"
    for frame in reversed(frames):
        place = f"{frame.file}:{frame.line} in {frame.function}"
        yield f"{indent}  {coloured(shown(place), 'head' if frame.is_own else 'faint', screen)}"
        if frame.code:
            yield f"{indent}      {shown(frame.code)}"
