"""Runs a command as if nobody were between it and whoever started it. Room: sdk/outside.

Its input is ours, its output is passed on as it comes, and the signals that we get are its signals.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from types import FrameType
from typing import IO, Final

FORWARDED: Final = (
    *(signal.SIGTERM, signal.SIGINT, signal.SIGHUP),
    *(signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2),
)
CHUNK: Final = 65_536
# As the shell and timeout(1) have them.
NOT_FOUND: Final = 127
NOT_EXECUTABLE: Final = 126
TIMED_OUT: Final = 124
BY_SIGNAL: Final = 128

Write = Callable[[str, bytes], None]


class Command:
    """A command that was started. `heard` is told what it writes, by the name of the stream."""

    def __init__(self, argv: Sequence[str], heard: Write) -> None:
        self._early: list[int] | None = []
        # Before there is a command: a signal that comes while it is started is for it as well.
        for each in FORWARDED:
            # What nohup or a shell's background has us ignore, the command ignores as well.
            if signal.getsignal(each) is not signal.SIG_IGN:
                signal.signal(each, self._forward)
        self._process = subprocess.Popen(
            list(argv), stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self._heard = heard
        self._readers = [
            self._reading("stdout", self._process.stdout, sys.stdout.fileno()),
            self._reading("stderr", self._process.stderr, sys.stderr.fileno()),
        ]
        early, self._early = self._early, None
        for number in early or ():
            self.send(number)

    def wait(self, seconds: float) -> bool:
        """Wait for its end, at most so long; True if it has ended."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    def drain(self, seconds: float) -> None:
        """Read what is left in the pipes. What it left running may hold them open for ever."""
        for reader in self._readers:
            reader.join(seconds)

    @property
    def exit_code(self) -> int:
        code = self._process.returncode
        return BY_SIGNAL - code if code < 0 else code

    @property
    def why(self) -> str:
        code = self._process.returncode
        if code >= 0:
            return f"exit code {code}"
        with suppress(ValueError):
            return f"ended by {signal.Signals(-code).name}"
        return f"ended by signal {-code}"

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        # A terminal sends Ctrl-C to everybody in front of it: the command has it already.
        if number == signal.SIGINT and os.isatty(0):
            return
        if self._early is not None:
            self._early.append(number)
        else:
            self.send(number)

    def _reading(self, name: str, pipe: IO[bytes] | None, ours: int) -> Thread:
        def read() -> None:
            if pipe is None:
                return
            is_open = True
            while chunk := os.read(pipe.fileno(), CHUNK):
                self._heard(name, chunk)
                if is_open:
                    is_open = pass_on(ours, chunk)

        reader = Thread(target=read, name=f"reading {name}", daemon=True)
        reader.start()
        return reader


def pass_on(file: int, chunk: bytes) -> bool:
    """Write all of it; False if nobody reads any more."""
    try:
        while chunk:
            chunk = chunk[os.write(file, chunk) :]
    except OSError:
        return False
    return True


def failure_of(error: OSError, program: str) -> tuple[int, str]:
    """The exit code and the sentence for a command that could not be started."""
    if isinstance(error, FileNotFoundError):
        return NOT_FOUND, f"{program}: there is no such command"
    return NOT_EXECUTABLE, f"{program}: {error.strerror}"
