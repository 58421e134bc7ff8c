"""Escapes control characters in everything that a command prints.

Output contains untrusted names, error messages and logs. While a command runs, `sys.stdout` and
`sys.stderr` are streams that escape control characters, so no `print` and no library can pass them
on by mistake. `raw_output` bypasses this, for cursor movements and for bytes that the user asked
for; a test counts its callers.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rota.core.terminal_text import escape_controls


class EscapingStream:
    """Wraps a text stream. Colours pass at a terminal only."""

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
def escape_output() -> Iterator[None]:
    """Escape output to the standard streams within the block."""
    before = sys.stdout, sys.stderr
    escape_standard_streams()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def escape_standard_streams() -> None:
    """Escape output to the standard streams from now on, tracebacks included."""
    sys.stdout, sys.stderr = _escaping(sys.stdout), _escaping(sys.stderr)


def raw_output() -> TextIO:
    """Return standard output without escaping. The caller must write trusted text only."""
    out = sys.stdout
    return out.stream if isinstance(out, EscapingStream) else out


def _escaping(stream: Any) -> Any:
    # A process without standard streams has None.
    is_done = stream is None or isinstance(stream, EscapingStream)
    return stream if is_done else EscapingStream(stream)
