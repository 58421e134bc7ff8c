"""Wakes the server monitor when it must stop.

It is a pipe, because a thread or a signal handler can write to it, and the monitor can wait for it
together with a process.
"""

import os
import select


class StopRequested(Exception):
    """The last user is gone, or the monitor was asked to stop."""


class WakePipe:
    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()

    def wake(self) -> None:
        os.write(self._write_end, b".")

    def wait(self, seconds: float, *also: int) -> None:
        """Wait for a time or for one of the descriptors; raise `StopRequested` once it is rung."""
        readable, _, _ = select.select([self._read_end, *also], [], [], seconds)
        if self._read_end in readable:
            raise StopRequested
