"""What is wrong with a file, and where. Room: sdk/code."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

from rota.core.errors import InvalidInput


class Spot(NamedTuple):
    """A place in a file, counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Wrong(NamedTuple):
    spot: Spot
    said: str

    def __str__(self) -> str:
        return f"{self.spot}: {self.said}"


class FileRefused(InvalidInput):
    """A file that cannot be used: everything that is wrong with it, a line each."""

    def __init__(self, wrongs: Sequence[Wrong]) -> None:
        super().__init__("file", str(wrongs[0].spot.file), wrongs[0].said)
        self.wrongs = tuple(wrongs)

    def __str__(self) -> str:
        return "\n".join(str(each) for each in self.wrongs)


def unknown(word: str, known: Sequence[str], what: str = "field") -> str:
    """That nobody knows this word, and which one may have been meant."""
    near = get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    meant = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
    return f"unknown {what} {word[:80]!r}; {meant}"
