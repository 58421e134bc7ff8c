"""How long a worker may believe that its runs are its own. Room: flow/execute."""

from dataclasses import dataclass
from math import inf


@dataclass(slots=True)
class Trust:
    """The time, by the monotonic clock, at which the lease is no longer to be trusted. Written by
    the heartbeat's thread, read wherever something begins that must not begin after it.
    """

    until: float = inf
