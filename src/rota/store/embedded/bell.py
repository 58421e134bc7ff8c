"""Tells the keeper that it is time to go. Room: store/embedded.

A pipe, because it can be rung from a thread or a signal handler and waited on together with a
process.
"""

import os
import select


class NobodyLeft(Exception):
    """The last user is gone, or the keeper was told to stop."""


class Bell:
    def __init__(self) -> None:
        self._hearing, self._ringing = os.pipe()

    def ring(self) -> None:
        os.write(self._ringing, b".")

    def rest(self, seconds: float, *also: int) -> None:
        """Wait for a time or for one of the descriptors; raise as soon as nobody is left."""
        heard, _, _ = select.select([self._hearing, *also], [], [], seconds)
        if self._hearing in heard:
            raise NobodyLeft
