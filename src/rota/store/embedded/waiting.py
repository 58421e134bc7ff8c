"""Waits for what another process does. Room: store/embedded.

Between processes there is often nothing to wait on but a file or a lock: no event, no handle. The
one pause of this room is here, so that every wait has a condition and a deadline.
"""

import time
from collections.abc import Callable

PAUSE = 0.01


def until(condition: Callable[[], bool], *, seconds: float, pause: float = PAUSE) -> bool:
    """Ask again and again; say whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)  # noqa: TID251  (the state of another process sends no event)
    return True
