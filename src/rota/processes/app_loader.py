"""Loads the app or the handlers at `module:attribute`.

The module is user code: it may be missing, broken, or raise anything. Separate from
executor_factory.py, because `--reload` checks an app without importing the executors.
"""

import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from rota.core.errors import InvalidInput, RotaError, UnusableInput
from rota.executors.python import Handlers
from rota.sdk.app import App

PACKAGE_ROOT: Final = Path(__file__).parents[1]


class LoadedHandlers(NamedTuple):
    """The loaded handlers. `source` is where child processes find them; `app` is None for bare
    handlers, which have no schedules.
    """

    handlers: Handlers
    source: str
    app: App | None


def load_handlers(app: str) -> LoadedHandlers:
    """Load the app or the handlers at `module:attribute`, also from the current folder."""
    found = load_object(app)
    if isinstance(found, App):
        return LoadedHandlers(found.handlers, f"{app}.handlers", found)
    if isinstance(found, Handlers):
        return LoadedHandlers(found, app, None)
    wanted = f"expected a rota.App or a Handlers object, got {type(found)}"
    raise InvalidInput("app", app, wanted)


def load_object(app: str) -> object:
    """Import the object at `module:attribute`."""
    module, colon, attribute = app.partition(":")
    if not (module and colon and attribute):
        raise InvalidInput("app", app, "expected module:attribute, such as jobs:app")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: object = getattr(import_module(module), attribute)
    except Exception as error:  # user code may raise anything
        raise UnusableInput(
            "app", app, f"cannot import {app!r}: {describe_import_error(error)}"
        ) from error
    return found


def describe_import_error(error: Exception) -> str:
    """Describe an import error in one line, with the file and line of the user's code."""
    text = (
        str(error)
        if isinstance(error, ImportError | AttributeError | SyntaxError | RotaError)
        else repr(error)
    )
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "importlib" not in frame.filename][1:]
    # Point at the user's line, not at the line of Rota that raised.
    own = [frame for frame in own if not Path(frame.filename).is_relative_to(PACKAGE_ROOT)] or own
    return f"{text} ({own[-1].filename}, line {own[-1].lineno})" if own else text
