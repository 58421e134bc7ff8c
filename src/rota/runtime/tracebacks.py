"""Reads the traceback of an exception, bounded, and identifies the user's own frames.

Never raises: an exception's own `__str__` may be broken, and source files may be missing. Columns
are not read: for them Python 3.11 parses source lines, and its parser is not safe in two threads at
once.

A frame is the user's own unless its file belongs to Rota, Python or an installed package. Users
also install their jobs as a package: so the first frame of a traceback that is neither Rota's nor
Python's is the handler's, and its package is the user's own wherever it is installed.
"""

import linecache
import os
import re
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Final

from rota.core.tracebacks import Relation, TracedError, TracedFrame

ERRORS_MAX: Final = 8
FRAMES_MAX: Final = 30
# Outermost frames that are kept of a deep recursion, besides the innermost ones.
FIRST_FRAMES_KEPT: Final = 5
TEXT_CHARS_MAX: Final = 200
MESSAGE_CHARS_MAX: Final = 8_000
CHAINED_MESSAGE_CHARS_MAX: Final = 1_000
# Total length of the texts of one traceback.
TRACEBACK_CHARS_MAX: Final = 16_000


def _with_real_paths(folders: Iterable[str]) -> tuple[str, ...]:
    """Return each folder as given and resolved: a module's file may be either."""
    return tuple(
        {path + os.sep for folder in folders for path in (folder, os.path.realpath(folder))}
    )


# The example jobs of `rota up --demo` count as the user's own.
DEMO_FOLDER: Final = f"processes{os.sep}demo{os.sep}"
ROTA_FOLDERS: Final = _with_real_paths([str(Path(__file__).parents[1])])
PYTHON_FOLDERS: Final = _with_real_paths(
    found for name in ("stdlib", "platstdlib") if (found := sysconfig.get_paths().get(name))
)
INSTALLED: Final = re.compile(r".*?[\\/](?:site|dist)-packages[\\/][^\\/]+")


def trace_error(error: BaseException) -> tuple[TracedError, ...]:
    """Return the raised error, then its causes, then the members of groups."""
    try:
        return _Tracer(error).trace()
    except Exception:  # noqa: BLE001 — reporting a failure must not fail
        return ()


def render_message(error: BaseException, limit: int = MESSAGE_CHARS_MAX) -> str:
    """Return the message of the error, shortened to the storable length."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 — the error's own __str__ is foreign code and may be broken
        text = "an error that cannot be shown"
    return _storable(text, limit)


def locate_error(error: BaseException) -> str | None:
    """Return the innermost frame of the user's own code, `module:function`, or None."""
    try:
        package = handler_package(error)
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        own = (frame for frame in reversed(frames) if is_own(frame.f_code.co_filename, package))
        found = next(own, None)
        return None if found is None else name_frame(found)
    except Exception:  # noqa: BLE001 — reporting a failure must not fail
        return None


def name_frame(frame: FrameType) -> str:
    """Return the module and the function; a script is named by its file."""
    module = frame.f_globals.get("__name__")
    if not isinstance(module, str) or module == "__main__":
        module = Path(frame.f_code.co_filename).stem
    return _storable(f"{module}:{frame.f_code.co_qualname}", TEXT_CHARS_MAX)


class _Tracer:
    def __init__(self, error: BaseException) -> None:
        self._error = error
        self._own_package = handler_package(error)
        self._left = TRACEBACK_CHARS_MAX
        self._seen: set[int] = set()
        self._found: list[TracedError] = []

    def trace(self) -> tuple[TracedError, ...]:
        self._visit(self._error, "raised", 0)
        return tuple(self._found)

    def _visit(self, error: BaseException, relation: Relation, depth: int) -> None:
        if id(error) in self._seen or len(self._found) == ERRORS_MAX or self._left <= 0:
            return
        self._seen.add(id(error))
        message = None if relation == "raised" else render_message(error, CHAINED_MESSAGE_CHARS_MAX)
        frames, omitted = self._frames(error)
        self._left -= sum(len(f.file) + len(f.function) + len(f.code) for f in frames)
        self._left -= len(message or "")
        self._found.append(
            TracedError(
                relation=relation,
                type=_storable(type(error).__name__, TEXT_CHARS_MAX),
                message=message,
                depth=depth,
                frames=frames,
                omitted_frames=omitted,
            )
        )
        if error.__cause__ is not None:
            self._visit(error.__cause__, "cause", depth)
        elif error.__context__ is not None and not error.__suppress_context__:
            self._visit(error.__context__, "context", depth)
        if isinstance(error, BaseExceptionGroup):
            for member in error.exceptions:
                self._visit(member, "member", depth + 1)

    def _frames(self, error: BaseException) -> tuple[tuple[TracedFrame, ...], int]:
        calls = list(traceback.walk_tb(error.__traceback__))
        last = max(0, len(calls) - FRAMES_MAX + FIRST_FRAMES_KEPT)
        kept = [*calls[:FIRST_FRAMES_KEPT], *calls[last:]] if len(calls) > FRAMES_MAX else calls
        frames: list[TracedFrame] = []
        room = self._left
        # From the error outwards, as far as the limit allows.
        for frame, line in reversed(kept):
            traced = self._frame(frame, line)
            room -= len(traced.file) + len(traced.function) + len(traced.code)
            if room < 0 and frames:
                break
            frames.append(traced)
        return tuple(reversed(frames)), len(calls) - len(frames)

    def _frame(self, frame: FrameType, line: int) -> TracedFrame:
        file = frame.f_code.co_filename
        return TracedFrame(
            file=_storable(file, TEXT_CHARS_MAX),
            line=line,
            function=_storable(frame.f_code.co_qualname, TEXT_CHARS_MAX),
            code=_storable(linecache.getline(file, line, frame.f_globals).strip(), TEXT_CHARS_MAX),
            is_own=is_own(file, self._own_package),
        )


def handler_package(error: BaseException) -> str | None:
    """Return the folder or file in site-packages that holds the handler, or None."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not is_machinery(file):
            found = INSTALLED.match(file)
            return None if found is None else found[0]
    return None


def is_machinery(file: str) -> bool:
    """Return whether the file is Rota's or Python's own."""
    if file.startswith(("<frozen", *ROTA_FOLDERS)):
        return not file.startswith(tuple(folder + DEMO_FOLDER for folder in ROTA_FOLDERS))
    return file.startswith(PYTHON_FOLDERS) and INSTALLED.match(file) is None


def is_own(file: str, own_package: str | None) -> bool:
    if is_machinery(file):
        return False
    found = INSTALLED.match(file)
    return found is None or found[0] == own_package


def _storable(text: str, limit: int) -> str:
    """Return the text shortened to the limit, without characters that PostgreSQL cannot store."""
    text = text.replace("\x00", "\ufffd").encode(errors="replace").decode(errors="replace")
    return text if len(text) <= limit else f"{text[:limit]}…"
