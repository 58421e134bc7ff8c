"""Builds the environment of handlers that run in their own process, from the worker's settings."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from rota.config.secret_references import REFERENCE, VARIABLE
from rota.config.settings import Settings
from rota.core.child_environment import (
    CLIENT_VARIABLES,
    CLIENT_VARIABLES_ON_REQUEST,
    ROTA_PREFIX,
    select_environment,
)
from rota.core.errors import InvalidSetting

SETTING: Final = "worker.pass_environment"
ALL_CLIENT_VARIABLES: Final = (*CLIENT_VARIABLES, *CLIENT_VARIABLES_ON_REQUEST)


def check_passed_environment(settings: Settings) -> None:
    """Reject a variable that would expose a secret of Rota to handlers."""
    referenced = find_referenced(settings)
    for pattern in settings.worker.pass_environment:
        if pattern.startswith(ROTA_PREFIX) and pattern not in ALL_CLIENT_VARIABLES:
            wanted = (
                "ROTA_ variables hold settings and passwords and are never passed; handlers can "
                f"get only {', '.join(ALL_CLIENT_VARIABLES)}"
            )
            raise InvalidSetting(SETTING, pattern, wanted)
        if pattern in referenced:
            wanted = (
                f"{referenced[pattern]} references it, and variables that settings reference are "
                "never passed; use a variable of another name, or a Rota secret"
            )
            raise InvalidSetting(SETTING, pattern, wanted)


def build_child_environment(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a handler with isolation="process"."""
    return select_environment(
        environment, passed=settings.worker.pass_environment, withheld=find_referenced(settings)
    )


def find_referenced(settings: Settings) -> dict[str, str]:
    """Return the variables that settings reference as ${NAME}, each with one such setting."""
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
        for name, member in value.items():
            yield from _texts(member, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, path)
