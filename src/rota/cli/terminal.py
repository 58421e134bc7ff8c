"""The one writer for standard output and standard error. Room: cli.

Names, error messages and output that others wrote end up in what a command prints. While a command
runs, `sys.stdout` and `sys.stderr` are streams that escape control characters, so no `print` and no
library can pass them on by mistake. `raw_output` is the way around, for cursor movements of our own
and for bytes that a caller asked for; a test counts who uses it.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rota.core.terminal_text import escape_controls


class EscapingStream:
    """Stands in for a text stream. Colours pass on a terminal and nowhere else."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(escape_controls(text, keep_colours=self.stream.isatty()))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def escaped_output() -> Iterator[None]:
    """Escape what is written to the standard streams while inside."""
    before = sys.stdout, sys.stderr
    escape_standard_streams()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def escape_standard_streams() -> None:
    """Escape what is written to the standard streams from now on, also by a traceback."""
    sys.stdout, sys.stderr = _escaping(sys.stdout), _escaping(sys.stderr)


def raw_output() -> TextIO:
    """Standard output without escapes. Whoever writes to it answers for each character."""
    found = sys.stdout
    return found.stream if isinstance(found, EscapingStream) else found


def _escaping(stream: Any) -> Any:
    # None is what a process without standard streams has.
    is_done = stream is None or isinstance(stream, EscapingStream)
    return stream if is_done else EscapingStream(stream)
