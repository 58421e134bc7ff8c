"""Errors of the benchmark."""

from dataclasses import dataclass

from rota.core.errors import RotaError


@dataclass(eq=False)
class BenchFailed(RotaError):
    """A part could not be measured; `said` is the end of a process's output."""

    who: str
    reason: str
    detail: str = ""

    def __str__(self) -> str:
        ending = f"; its output:\n{self.detail}" if self.detail else ""
        return f"{self.who} {self.reason}{ending}"


class JobsWrittenTooLate(BenchFailed):
    """Some jobs were due before all were written; a retry with more time may succeed."""
