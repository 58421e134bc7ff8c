"""Reads the options of a source, and refuses what is wrong by its name. Room: sources.

Every kind asks for its options one by one; what nobody asked for is refused at the end, because a
misspelt option that is ignored would be found when it is too late.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from importlib import import_module
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.time import durations

LONGEST_TEXT: Final = 4096
# Options whose text may hold a password are not shown in a refusal.
HIDDEN: Final = "***"


class Options:
    """The options of one source. A default of None says that the option may be left out."""

    def __init__(self, given: object) -> None:
        if not isinstance(given, Mapping):
            raise InvalidInput("options", type(given).__name__, "it must be a table of options")
        self._given = dict(given)
        self._known: list[str] = []

    def text(self, name: str, *, wanted: str, secret: bool = False) -> str:
        """A text that must be there."""
        value = self._take(name)
        return self._text(name, value, wanted, secret=secret)

    def text_or(self, name: str, default: str | None, *, wanted: str) -> str | None:
        value = self._take(name)
        return default if value is None else self._text(name, value, wanted)

    def texts(self, name: str, *, wanted: str, most: int = 100) -> tuple[str, ...]:
        """A list of texts, at least one; a single text is a list of one."""
        value = self._take(name)
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, Sequence) or not 1 <= len(listed) <= most:
            raise InvalidInput(name, value, f"it must be {wanted}")
        return tuple(self._text(name, each, wanted) for each in listed)

    def choice(self, name: str, default: str, *others: str) -> str:
        value = self._take(name)
        if value is None:
            return default
        if value not in {default, *others}:
            raise InvalidInput(name, value, f"it must be one of {', '.join((default, *others))}")
        return str(value)

    def duration(
        self, name: str, default: timedelta, *, shortest: timedelta, longest: timedelta
    ) -> timedelta:
        value = self._take(name)
        if value is None:
            return default
        return durations.parse(value, field=name, shortest=shortest, longest=longest)

    def settings(self, name: str) -> dict[str, str]:
        """A table of texts that a library understands; numbers and truth become texts."""
        value = self._take(name)
        if value is None:
            return {}
        wanted = "it must be a table of texts, numbers, true and false"
        if not isinstance(value, Mapping):
            raise InvalidInput(name, HIDDEN, wanted)
        if not all(isinstance(each, str | int | float) for each in value.values()):
            raise InvalidInput(name, HIDDEN, wanted)
        return {
            str(key): str(each).lower() if isinstance(each, bool) else str(each)
            for key, each in value.items()
        }

    def finish(self) -> None:
        """Refuse what nobody asked for."""
        for name in self._given:
            if name not in self._known:
                wanted = f"there is no such option; it has {', '.join(self._known)}"
                raise InvalidInput(str(name), str(name), wanted)

    def _take(self, name: str) -> Any:
        self._known.append(name)
        return self._given.get(name)

    def _text(self, name: str, value: object, wanted: str, *, secret: bool = False) -> str:
        good = isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT and "\0" not in value
        if not good:
            shown = HIDDEN if secret and value is not None else value
            raise InvalidInput(name, shown, f"it must be {wanted}")
        return str(value)


def library(module: str, *, extra: str) -> Any:
    """A library that is not there with every Rota, or a sentence that says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        wanted = f"this kind needs the package {module}: install rota[{extra}]"
        raise InvalidInput("kind", extra, wanted) from None
