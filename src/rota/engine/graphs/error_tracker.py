"""Tracks graph runs that could not be advanced, and the number of tries.

The cause of an unexpected error may be temporary, in this process or in the graph run itself. So
the graph run is tried a few times, with pauses in which other nodes try too. After that, the graph
run itself counts as the cause. Its step completions stay meanwhile, so nothing is lost.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

ADVANCE_TRIES_MAX: Final = 3
# Seconds between two tries: long enough for a node with other code to try, because every node scans
# for step completions once a second.
RETRY_PAUSE_S: Final = 5.0
# Graph runs that are tracked. Beyond this number the tries of the oldest are counted from zero.
TRACKED_RUNS_MAX: Final = 10_000


class FailedAdvance(NamedTuple):
    """The failed tries of a graph run. `until` is when the next try may begin (monotonic)."""

    tries: int
    until: float


@dataclass(slots=True, kw_only=True)
class GraphErrorTracker:
    """Counts the failed tries of graph runs and enforces the pause between them."""

    monotonic: Callable[[], float]
    _known: dict[UUID, FailedAdvance] = field(default_factory=dict)

    def select_ready(self, ids: Sequence[UUID]) -> Sequence[UUID]:
        """Return the graph runs that do not have to wait."""
        if not self._known:
            return ids
        now = self.monotonic()
        return [id_ for id_ in ids if id_ not in self._known or self._known[id_].until <= now]

    def record_failure(self, run_id: UUID) -> int:
        """Record that a graph run could not be advanced; return the number of tries."""
        before = self._known.pop(run_id, None)
        if len(self._known) >= TRACKED_RUNS_MAX:
            del self._known[next(iter(self._known))]
        tries = 1 if before is None else before.tries + 1
        self._known[run_id] = FailedAdvance(tries, self.monotonic() + RETRY_PAUSE_S)
        return tries

    def remove(self, ids: Iterable[UUID]) -> None:
        """Remove graph runs that were advanced or have ended."""
        if self._known:
            for id_ in ids:
                self._known.pop(id_, None)
