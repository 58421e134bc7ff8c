"""A real terminal for a program: what it draws, what is typed, and how it is left behind."""

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 60.0
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\r")


@dataclass(kw_only=True)
class Terminal:
    """The other side of a pseudo terminal in which a process runs."""

    process: subprocess.Popen[bytes]
    screen: int
    keyboard: int
    raw: str = ""

    def until(self, text: str) -> str:
        """What was drawn up to now, once this text was drawn."""
        while text not in self.text:
            assert self._read(), f"it ended without {text!r}: {self.text}"
        return self.text

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def end(self) -> int:
        """Wait for its end, and return its exit code."""
        while self.process.poll() is None:
            self._read(0.05)
        while self._read(0):
            pass
        return self.process.returncode

    @property
    def text(self) -> str:
        return ESCAPE.sub("", self.raw)

    @property
    def attributes(self) -> list[Any]:
        return termios.tcgetattr(self.keyboard)

    def _read(self, patience: float = PATIENCE) -> bool:
        if not select.select([self.screen], [], [], patience)[0]:
            return False
        self.raw += os.read(self.screen, 65_536).decode(errors="replace")
        return True


@contextmanager
def in_terminal(
    words: list[str], *, folder: Path, environment: dict[str, str], width: int = 100
) -> Iterator[Terminal]:
    """The program with a terminal of its own, which Ctrl-C reaches as from a keyboard."""
    screen, keyboard = os.openpty()
    fcntl.ioctl(keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", 30, width, 0, 0))
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=environment | {"TERM": "xterm-256color"},
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - one system call
    )
    try:
        yield Terminal(process=process, screen=screen, keyboard=keyboard)
    finally:
        process.kill()
        process.wait()
        os.close(screen)
        os.close(keyboard)
