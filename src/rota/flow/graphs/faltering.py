"""Remembers graph runs that could not be advanced, and how often that was tried. Room: flow/graphs.

An error that nobody foresaw may be of the moment, of this process or of the graph run itself, and
nobody can tell. So it is tried a few times with a pause between them, in which other nodes try too;
then it is taken to be the graph run's own. Its marks stay meanwhile: nothing is lost by waiting.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

TRIES: Final = 3
# Seconds between two of them: long enough for a node with other code to come by, which looks for
# marks every second.
PAUSE: Final = 5.0
# Graph runs that are remembered; beyond them the oldest begins anew, which costs it some tries.
MOST: Final = 10_000


class Trouble(NamedTuple):
    tries: int
    until: float


@dataclass(slots=True, kw_only=True)
class Faltering:
    monotonic: Callable[[], float]
    _known: dict[UUID, Trouble] = field(default_factory=dict)

    def ready(self, ids: Sequence[UUID]) -> Sequence[UUID]:
        """Those of these that need not wait."""
        if not self._known:
            return ids
        now = self.monotonic()
        return [id_ for id_ in ids if id_ not in self._known or self._known[id_].until <= now]

    def note(self, run_id: UUID) -> int:
        """It could not be advanced; returns how often that is by now."""
        before = self._known.pop(run_id, None)
        if len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        tries = 1 if before is None else before.tries + 1
        self._known[run_id] = Trouble(tries, self.monotonic() + PAUSE)
        return tries

    def forget(self, ids: Iterable[UUID]) -> None:
        """These are well again, or over."""
        if self._known:
            for id_ in ids:
                self._known.pop(id_, None)
