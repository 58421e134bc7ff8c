"""Describes the errors of a file and their positions."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

from rota.core.errors import InvalidInput


class Spot(NamedTuple):
    """A position in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Wrong(NamedTuple):
    spot: Spot
    to_values: str

    def __str__(self) -> str:
        return f"{self.spot}: {self.to_values}"


class FileRefused(InvalidInput):
    """A file has errors. The message lists all of them, one per line."""

    def __init__(self, wrongs: Sequence[Wrong]) -> None:
        super().__init__("file", str(wrongs[0].spot.file), wrongs[0].to_values)
        self.wrongs = tuple(wrongs)

    def __str__(self) -> str:
        return "\n".join(str(wrong) for wrong in self.wrongs)


def unknown(word: str, known: Sequence[str], what: str = "field") -> str:
    """Describe an unknown field and suggest a similar one, or list the known fields."""
    close = get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
    return f"unknown {what} {word[:80]!r}; {hint}"
