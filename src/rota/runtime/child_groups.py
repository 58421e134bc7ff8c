"""The process groups that this process has started and must not leave behind. Room: runtime.

A process that ends itself in a hurry runs no clean-up. Whoever starts a group that would live on
names it here, so that the last act of the process is to end it.
"""

import os
import signal
from contextlib import suppress
from typing import Final

# Adding, discarding and copying are each atomic: threads share it without a lock.
_GROUPS: Final[set[int]] = set()


def add(group: int) -> None:
    _GROUPS.add(group)


def discard(group: int) -> None:
    """Call it before the leader of the group is reaped: its number may then pass to another."""
    _GROUPS.discard(group)


def kill_all() -> None:
    """End every group at once, by SIGKILL. Safe to call from any thread."""
    for group in _GROUPS.copy():
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
