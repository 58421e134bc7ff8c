"""Tracks the process groups that this process has started and must not leave behind.

A process that ends itself abruptly runs no clean-up. Code that starts a process group registers it
here, so that the process kills it as its last act.
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
    """Unregister a group. Call this before its leader is reaped: the number may be reused after."""
    _GROUPS.discard(group)


def kill_all() -> None:
    """Kill every group with SIGKILL. Safe to call from any thread."""
    for group in _GROUPS.copy():
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
