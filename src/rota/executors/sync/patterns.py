"""Which paths a pattern means. Room: executors/sync.

A pattern is compared with the whole path below the folder that a job names, name by name: `*`, `?`
and `[…]` stay within one name, `**` stands for any number of folders. No pattern takes more than
(its parts) × (names of the path) comparisons.
"""

import fnmatch
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rota.core.errors import InvalidInput

DEEP = "**"


@dataclass(frozen=True, slots=True)
class Pattern:
    text: str
    parts: tuple[Callable[[str], object] | None, ...]

    def matches(self, names: Sequence[str]) -> bool:
        reached = self._past_deep({0})
        for name in names:
            after = set()
            for place in reached:
                if place == len(self.parts):
                    continue
                part = self.parts[place]
                if part is None:
                    after.add(place)
                elif part(name):
                    after.add(place + 1)
            reached = self._past_deep(after)
        return len(self.parts) in reached

    def _past_deep(self, places: set[int]) -> set[int]:
        """`**` may stand for no folder at all."""
        for place in sorted(places):
            onward = place
            while onward < len(self.parts) and self.parts[onward] is None:
                onward += 1
                places.add(onward)
        return places


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The files of a job: what is included, unless it is excluded. Nothing included is all."""

    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()

    def takes(self, path: str) -> bool:
        if not self.include and not self.exclude:
            return True
        names = path.split("/")
        if self.include and not any(one.matches(names) for one in self.include):
            return False
        return not any(one.matches(names) for one in self.exclude)


def read_patterns(field: str, texts: Sequence[str]) -> tuple[Pattern, ...]:
    return tuple(read_pattern(f"{field}[{place}]", text) for place, text in enumerate(texts))


def read_pattern(field: str, text: str) -> Pattern:
    wanted = "a pattern such as **/*.jpg, without a leading slash"
    if "\0" in text:
        raise InvalidInput(field, text, wanted)
    parts = text.split("/")
    if any(part in {"", ".", ".."} for part in parts):
        raise InvalidInput(field, text, wanted)
    return Pattern(text, tuple(None if part == DEEP else name_like(part) for part in parts))


def name_like(part: str) -> Callable[[str], object]:
    return re.compile(fnmatch.translate(part)).match
