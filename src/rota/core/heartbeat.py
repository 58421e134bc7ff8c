"""Decides whether Rota works well enough to send its heartbeat (a dead man's switch).

An outside monitor alerts when the heartbeat stops. So it must stop, or report a failure, whenever
jobs would not run or alerts would not be sent.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.core.errors import RotaError
from rota.core.time.durations import to_words

FIRING_LAG_MAX: Final = timedelta(seconds=30)
RELAY_LAG_MAX: Final = timedelta(minutes=2)


class HeartbeatFailed(RotaError):
    """The monitor did not accept the heartbeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryFigures:
    """What one look at the database shows. `relay_lag` is None if the relay has never run."""

    shards_unowned: int
    firing_lag: timedelta
    relay_lag: timedelta | None


def find_canary_problems(figures: CanaryFigures) -> list[str]:
    """Return what is wrong; empty if all is well."""
    problems = []
    if figures.shards_unowned:
        problems.append(f"{figures.shards_unowned} shards have no scheduler")
    if figures.firing_lag > FIRING_LAG_MAX:
        problems.append(f"ticks are fired {to_words(figures.firing_lag)} late")
    if figures.relay_lag is None:
        problems.append("the event relay has never run")
    elif figures.relay_lag > RELAY_LAG_MAX:
        problems.append(f"the event relay is {to_words(figures.relay_lag)} behind")
    return problems
