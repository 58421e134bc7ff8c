"""Finds what `module:attribute` names: an app, or handlers alone. Room: node.

The module is the user's: it may be missing, broken, or raise anything. Apart from plugins.py,
because whoever only wants to know whether an app can be loaded needs no executors.
"""

import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from rota.core.errors import InvalidInput, RotaError, UnusableInput
from rota.executors.python import Handlers
from rota.sdk.app import App

OURS: Final = Path(__file__).parents[1]


class Served(NamedTuple):
    """What `module:attribute` names. `source` is where child processes find the handlers; `app` is
    None if it names handlers alone, which have no schedules.
    """

    handlers: Handlers
    source: str
    app: App | None


def load_served(app: str) -> Served:
    """The app or the handlers that `module:attribute` names, also in the current folder."""
    found = load(app)
    if isinstance(found, App):
        return Served(found.handlers, f"{app}.handlers", found)
    if isinstance(found, Handlers):
        return Served(found, app, None)
    wanted = f"the name of a Handlers object or of a rota.App, not of {type(found)}"
    raise InvalidInput("app", app, wanted)


def load(app: str) -> object:
    """What `module:attribute` names."""
    module, colon, attribute = app.partition(":")
    if not (module and colon and attribute):
        raise InvalidInput("app", app, "module:attribute, for example jobs:app")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: object = getattr(import_module(module), attribute)
    except Exception as error:  # the module is the user's and may raise anything
        raise UnusableInput("app", app, f"cannot import {app!r}: {said(error)}") from error
    return found


def said(error: Exception) -> str:
    """What went wrong, and where: one line must be enough to find it."""
    text = (
        str(error)
        if isinstance(error, ImportError | AttributeError | SyntaxError | RotaError)
        else repr(error)
    )
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "importlib" not in frame.filename][1:]
    # What we refuse is wrong where they said it, not where we found it.
    own = [frame for frame in own if not Path(frame.filename).is_relative_to(OURS)] or own
    return f"{text} ({own[-1].filename}, line {own[-1].lineno})" if own else text
