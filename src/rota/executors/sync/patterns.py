"""Matches paths against patterns.

A pattern is matched against the whole path below the job's folder, name by name: `*`, `?` and `[…]`
match within one name, `**` matches any number of folders. A match takes at most
(parts of the pattern) × (names of the path) comparisons.
"""

import fnmatch
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rota.core.errors import InvalidInput

DEEP_PATTERN = "**"


@dataclass(frozen=True, slots=True)
class PathPattern:
    text: str
    parts: tuple[Callable[[str], object] | None, ...]

    def matches(self, names: Sequence[str]) -> bool:
        states = self._skip_deep({0})
        for name in names:
            following = set()
            for index in states:
                if index == len(self.parts):
                    continue
                part = self.parts[index]
                if part is None:
                    following.add(index)
                elif part(name):
                    following.add(index + 1)
            states = self._skip_deep(following)
        return len(self.parts) in states

    def _skip_deep(self, states: set[int]) -> set[int]:
        """Add the states after each `**`, which may match no folder at all."""
        for index in sorted(states):
            after = index
            while after < len(self.parts) and self.parts[after] is None:
                after += 1
                states.add(after)
        return states


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSelection:
    """Selects the files of a job: included and not excluded. No `include` means all files."""

    include: tuple[PathPattern, ...] = ()
    exclude: tuple[PathPattern, ...] = ()

    def includes(self, path: str) -> bool:
        if not self.include and not self.exclude:
            return True
        names = path.split("/")
        if self.include and not any(pattern.matches(names) for pattern in self.include):
            return False
        return not any(pattern.matches(names) for pattern in self.exclude)


def read_patterns(field: str, texts: Sequence[str]) -> tuple[PathPattern, ...]:
    return tuple(read_pattern(f"{field}[{index}]", text) for index, text in enumerate(texts))


def read_pattern(field: str, text: str) -> PathPattern:
    wanted = "expected a pattern such as **/*.jpg, without a leading slash"
    if "\0" in text:
        raise InvalidInput(field, text, wanted)
    parts = text.split("/")
    if any(part in {"", ".", ".."} for part in parts):
        raise InvalidInput(field, text, wanted)
    return PathPattern(
        text, tuple(None if part == DEEP_PATTERN else compile_part(part) for part in parts)
    )


def compile_part(part: str) -> Callable[[str], object]:
    return re.compile(fnmatch.translate(part)).match
