"""Runs a command transparently: as if the caller had started it directly.

The command inherits standard input, its output is forwarded at once, and signals to this process
are forwarded to it.
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

FORWARDED_SIGNALS: Final = (
    *(signal.SIGTERM, signal.SIGINT, signal.SIGHUP),
    *(signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2),
)
READ_CHUNK_BYTES: Final = 65_536
# Exit codes of the shell and of timeout(1).
NOT_FOUND_EXIT_CODE: Final = 127
NOT_EXECUTABLE_EXIT_CODE: Final = 126
TIMED_OUT_EXIT_CODE: Final = 124
SIGNAL_EXIT_CODE_BASE: Final = 128

OutputCallback = Callable[[str, bytes], None]


class ExternalCommand:
    """A running command. `heard` is called with the stream's name and each chunk of output."""

    def __init__(self, argv: Sequence[str], on_output: OutputCallback) -> None:
        self._early: list[int] | None = []
        # Install before the start: signals that arrive meanwhile are forwarded too.
        for number in FORWARDED_SIGNALS:
            # The command inherits ignored signals, such as those of nohup.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._forward)
        self._process = subprocess.Popen(
            list(argv), stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self._heard = on_output
        self._readers = [
            self._start_reader("stdout", self._process.stdout, sys.stdout.fileno()),
            self._start_reader("stderr", self._process.stderr, sys.stderr.fileno()),
        ]
        early, self._early = self._early, None
        for received in early or ():
            self.send_signal(received)

    def wait(self, seconds: float) -> bool:
        """Wait at most this long for the command to end; True if it has ended."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    def drain(self, seconds: float) -> None:
        """Read the rest of the pipes, at most this long: background children may hold them open."""
        for reader in self._readers:
            reader.join(seconds)

    @property
    def exit_code(self) -> int:
        code = self._process.returncode
        return SIGNAL_EXIT_CODE_BASE - code if code < 0 else code

    @property
    def exit_reason(self) -> str:
        code = self._process.returncode
        if code >= 0:
            return f"exit code {code}"
        with suppress(ValueError):
            return f"ended by {signal.Signals(-code).name}"
        return f"ended by signal {-code}"

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        # A terminal sends Ctrl-C to its whole foreground group: the command already received it.
        if number == signal.SIGINT and os.isatty(0):
            return
        if self._early is not None:
            self._early.append(number)
        else:
            self.send_signal(number)

    def _start_reader(self, name: str, pipe: IO[bytes] | None, target: int) -> Thread:
        def read() -> None:
            if pipe is None:
                return
            is_open = True
            while chunk := os.read(pipe.fileno(), READ_CHUNK_BYTES):
                self._heard(name, chunk)
                if is_open:
                    is_open = write_all(target, chunk)

        reader = Thread(target=read, name=f"reading {name}", daemon=True)
        reader.start()
        return reader


def write_all(file: int, chunk: bytes) -> bool:
    """Write the whole chunk; False if the reader is gone."""
    try:
        while chunk:
            chunk = chunk[os.write(file, chunk) :]
    except OSError:
        return False
    return True


def describe_start_failure(error: OSError, program: str) -> tuple[int, str]:
    """The exit code and the message for a command that could not be started."""
    if isinstance(error, FileNotFoundError):
        return NOT_FOUND_EXIT_CODE, f"{program}: command not found"
    return NOT_EXECUTABLE_EXIT_CODE, f"{program}: {error.strerror}"
