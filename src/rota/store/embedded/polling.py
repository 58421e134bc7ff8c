"""Waits for a condition that another process fulfils.

Between processes there is often only a file or a lock to watch, no event and no handle. All polling
of this package is here, so that every wait has a condition and a deadline.
"""

import time
from collections.abc import Callable

POLL_PAUSE_S = 0.01


def wait_until(
    condition: Callable[[], bool], *, seconds: float, pause: float = POLL_PAUSE_S
) -> bool:
    """Poll a condition; return whether it became true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)  # noqa: TID251  (the state of another process sends no event)
    return True
