"""Describes the errors of a file and their positions."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

from rota.core.errors import InvalidInput


class FilePosition(NamedTuple):
    """A position in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class FileProblem(NamedTuple):
    position: FilePosition
    message: str

    def __str__(self) -> str:
        return f"{self.position}: {self.message}"


class InvalidFile(InvalidInput):
    """A file has errors. The message lists all of them, one per line."""

    def __init__(self, problems: Sequence[FileProblem]) -> None:
        super().__init__("file", str(problems[0].position.file), problems[0].message)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(str(wrong) for wrong in self.problems)


def describe_unknown_field(name: str, known: Sequence[str], description: str = "field") -> str:
    """Describe an unknown field and suggest a similar one, or list the known fields."""
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
    return f"unknown {description} {name[:80]!r}; {hint}"
