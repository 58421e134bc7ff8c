"""Loads an object from a module of the user."""

import importlib
from typing import Any

from rota.core.errors import InvalidInput, UnusableInput

WANTED = "expected module:name, such as shop.tasks:app"


def load(place: str) -> Any:
    """Load the object `module:name`; an error of the module becomes a one-line message."""
    module, colon, names = place.partition(":")
    if not colon or not module or not names:
        raise InvalidInput("place", place, WANTED)
    try:
        value = importlib.import_module(module)
        for name in names.split("."):
            value = getattr(value, name)
    except ModuleNotFoundError as error:
        wanted = f"cannot import {module!r}: no module named {error.name!r}"
        raise UnusableInput("place", place, wanted) from None
    except AttributeError as error:
        raise UnusableInput("place", place, f"cannot import {place!r}: {error}") from None
    except Exception as error:  # noqa: BLE001 — a user's module may raise anything
        wanted = f"cannot import {module!r}: {type(error).__name__}: {error}"
        raise UnusableInput("place", place, wanted) from None
    return value
