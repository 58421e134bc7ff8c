"""Reads and checks the options of a source.

Every kind takes its options one by one; `finish` then refuses all others, because a misspelt option
that is silently ignored would be noticed too late.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from importlib import import_module
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.time import durations

OPTION_CHARACTERS_MAX: Final = 4096
# Shown in errors in place of options that may contain a password.
HIDDEN_VALUE: Final = "***"


class SourceOptions:
    """The options of one source. An option with a default of None may be omitted."""

    def __init__(self, values: object) -> None:
        if not isinstance(values, Mapping):
            raise InvalidInput("options", type(values).__name__, "must be a table of options")
        self._values = dict(values)
        self._known: list[str] = []

    def read_text(self, name: str, *, wanted: str, secret: bool = False) -> str:
        """A required string."""
        value = self._take(name)
        return self._text(name, value, wanted, secret=secret)

    def read_optional_text(self, name: str, default: str | None, *, wanted: str) -> str | None:
        value = self._take(name)
        return default if value is None else self._text(name, value, wanted)

    def read_texts(self, name: str, *, wanted: str, limit: int = 100) -> tuple[str, ...]:
        """A list of at least one string; a single string is a list of one."""
        value = self._take(name)
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, Sequence) or not 1 <= len(items) <= limit:
            raise InvalidInput(name, value, f"must be {wanted}")
        return tuple(self._text(name, item, wanted) for item in items)

    def read_choice(self, name: str, default: str, *others: str) -> str:
        value = self._take(name)
        if value is None:
            return default
        if value not in {default, *others}:
            raise InvalidInput(name, value, f"must be one of {', '.join((default, *others))}")
        return str(value)

    def read_number(self, name: str, default: int, *, minimum: int, maximum: int) -> int:
        value = self._take(name)
        if value is None:
            return default
        is_valid = isinstance(value, int) and not isinstance(value, bool)
        if not is_valid or not minimum <= value <= maximum:
            raise InvalidInput(name, value, f"must be an integer from {minimum:,} to {maximum:,}")
        return int(value)

    def read_duration(
        self, name: str, default: timedelta, *, shortest: timedelta, longest: timedelta
    ) -> timedelta:
        value = self._take(name)
        if value is None:
            return default
        return durations.parse(value, field=name, minimum=shortest, maximum=longest)

    def read_settings(self, name: str) -> dict[str, str]:
        """A table of settings for a library; numbers and booleans become strings."""
        value = self._take(name)
        if value is None:
            return {}
        wanted = "must be a table of strings, numbers, true and false"
        if not isinstance(value, Mapping):
            raise InvalidInput(name, HIDDEN_VALUE, wanted)
        if not all(isinstance(setting, str | int | float) for setting in value.values()):
            raise InvalidInput(name, HIDDEN_VALUE, wanted)
        return {
            str(key): str(setting).lower() if isinstance(setting, bool) else str(setting)
            for key, setting in value.items()
        }

    def refuse_others(self) -> None:
        """Refuse options that were not read."""
        for name in self._values:
            if name not in self._known:
                wanted = f"unknown option; known options: {', '.join(self._known)}"
                raise InvalidInput(str(name), str(name), wanted)

    def _take(self, name: str) -> Any:
        self._known.append(name)
        return self._values.get(name)

    def _text(self, name: str, value: object, wanted: str, *, secret: bool = False) -> str:
        is_valid = (
            isinstance(value, str) and 0 < len(value) <= OPTION_CHARACTERS_MAX and "\0" not in value
        )
        if not is_valid:
            shown = HIDDEN_VALUE if secret and value is not None else value
            raise InvalidInput(name, shown, f"must be {wanted}")
        return str(value)


def import_library(module: str, *, extra: str) -> Any:
    """Import an optional library; the error says which extra to install."""
    try:
        return import_module(module)
    except ImportError:
        wanted = f"package {module} is not installed; install rota[{extra}]"
        raise InvalidInput("kind", extra, wanted) from None
