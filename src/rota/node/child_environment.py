"""The environment of handlers in a process of their own, from the worker's settings. Room: node."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from rota.config.references import REFERENCE, VARIABLE
from rota.config.settings import Settings
from rota.core.child_environment import (
    CLIENT_INHERITED,
    CLIENT_ON_REQUEST,
    ROTA_PREFIX,
    inherited_environment,
)
from rota.core.errors import InvalidSetting

SETTING: Final = "worker.pass_environment"
CLIENT: Final = (*CLIENT_INHERITED, *CLIENT_ON_REQUEST)


def check_passed_environment(settings: Settings) -> None:
    """Refuse a name that would hand a secret of Rota to handlers."""
    referenced = find_referenced(settings)
    for pattern in settings.worker.pass_environment:
        if pattern.startswith(ROTA_PREFIX) and pattern not in CLIENT:
            wanted = (
                "variables of Rota hold its settings and passwords and are never passed; of these, "
                f"handlers can get {', '.join(CLIENT)}"
            )
            raise InvalidSetting(SETTING, pattern, wanted)
        if pattern in referenced:
            wanted = (
                f"{referenced[pattern]} refers to it, and what settings refer to is never passed: "
                "give handlers a variable of another name, or a secret of Rota"
            )
            raise InvalidSetting(SETTING, pattern, wanted)


def child_environment(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """What a handler with isolation="process" finds in its environment."""
    return inherited_environment(
        environment, passed=settings.worker.pass_environment, withheld=find_referenced(settings)
    )


def find_referenced(settings: Settings) -> dict[str, str]:
    """The variables that settings refer to as ${NAME}, each with the path of one such setting."""
    plain = msgspec.to_builtins(settings, str_keys=True, enc_hook=str)
    return {
        found: path
        for path, text in _texts(plain, "")
        for found in REFERENCE.findall(text)
        if VARIABLE.fullmatch(found)
    }


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(each, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each, path)
