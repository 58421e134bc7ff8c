"""Why a benchmark has no figure. Room: node/bench."""

from dataclasses import dataclass

from rota.core.errors import RotaError


@dataclass(eq=False)
class BenchFailed(RotaError):
    """Something that should have happened did not; `said` is the end of a process's output."""

    who: str
    reason: str
    said: str = ""

    def __str__(self) -> str:
        ending = f"; it said:\n{self.said}" if self.said else ""
        return f"{self.who} {self.reason}{ending}"


class WrittenTooLate(BenchFailed):
    """The jobs were due before all of them were written; with more time it may be done."""
