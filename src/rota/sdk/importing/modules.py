"""Loads what somebody's module has under a name. Room: sdk/importing."""

import importlib
from typing import Any

from rota.core.errors import InvalidInput, UnusableInput

WANTED = "module:name, such as shop.tasks:app"


def load(place: str) -> Any:
    """The object of `module:name`. Whatever the module raises is told in one sentence."""
    module, colon, names = place.partition(":")
    if not colon or not module or not names:
        raise InvalidInput("place", place, WANTED)
    try:
        found = importlib.import_module(module)
        for name in names.split("."):
            found = getattr(found, name)
    except ModuleNotFoundError as error:
        wanted = f"cannot import {module!r}: no module named {error.name!r}"
        raise UnusableInput("place", place, wanted) from None
    except AttributeError as error:
        raise UnusableInput("place", place, f"cannot import {place!r}: {error}") from None
    except Exception as error:  # noqa: BLE001 — the code of others may raise anything
        wanted = f"cannot import {module!r}: {type(error).__name__}: {error}"
        raise UnusableInput("place", place, wanted) from None
    return found
