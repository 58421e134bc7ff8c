"""Loads an object from a module of the user."""

import importlib
from typing import Any

from rota.core.errors import InvalidInput, UnusableInput

OBJECT_PATH_EXPECTED = "expected module:name, such as shop.tasks:app"


def load_object(object_path: str) -> Any:
    """Load the object `module:name`; an error of the module becomes a one-line message."""
    module, colon, names = object_path.partition(":")
    if not colon or not module or not names:
        raise InvalidInput("place", object_path, OBJECT_PATH_EXPECTED)
    try:
        value = importlib.import_module(module)
        for name in names.split("."):
            value = getattr(value, name)
    except ModuleNotFoundError as error:
        wanted = f"cannot import {module!r}: no module named {error.name!r}"
        raise UnusableInput("place", object_path, wanted) from None
    except AttributeError as error:
        raise UnusableInput(
            "place", object_path, f"cannot import {object_path!r}: {error}"
        ) from None
    except Exception as error:  # noqa: BLE001 — a user's module may raise anything
        wanted = f"cannot import {module!r}: {type(error).__name__}: {error}"
        raise UnusableInput("place", object_path, wanted) from None
    return value
