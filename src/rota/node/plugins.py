"""Which executors a worker has: the built-in ones, its handlers, and plug-ins. Room: node.

A plug-in is an entry point of the group `rota.executors` that names a callable without arguments;
it makes an executor (core/executor.py). Executors belong to one event loop, so they are made anew
for each stage.
"""

import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final

from rota.config.settings import Settings
from rota.core.errors import InvalidInput
from rota.core.executor import Executor
from rota.executors.http import Guard, HttpExecutor
from rota.executors.python import Handlers, Limits, PythonExecutor
from rota.executors.shell import ShellExecutor

GROUP: Final = "rota.executors"

MakeExecutors = Callable[[], tuple[Executor, ...]]


def executors_of(settings: Settings, *, app: str | None = None) -> MakeExecutors:
    """How to make the executors of a worker; `app` is `module:attribute` of its handlers."""
    handlers = None if app is None else load_handlers(app)
    plugins = [load_plugin(entry) for entry in entry_points(group=GROUP)]

    allowed = settings.executors
    # A claimed run must not wait for a thread or a child while its time runs.
    limits = Limits(threads=settings.worker.slots, children=settings.worker.slots)

    def make() -> tuple[Executor, ...]:
        guard = Guard(
            allow_networks=allowed.http_allow_networks,
            allow_hosts=allowed.http_allow_hosts,
            allow_ports=allowed.http_allow_ports,
            deny_networks=allowed.http_deny_networks,
        )
        made: list[Executor] = [
            HttpExecutor(guard=guard),
            ShellExecutor(allow=allowed.shell_allow, user=allowed.shell_user),
        ]
        if handlers is not None:
            made.append(PythonExecutor(handlers, source=app, limits=limits))
        made += [plugin() for plugin in plugins]
        refuse_doubles(made)
        return tuple(made)

    return make


def load_handlers(app: str) -> Handlers:
    """The handlers that `module:attribute` names, looked for in the current folder, too."""
    module, colon, attribute = app.partition(":")
    if not (module and colon and attribute):
        raise InvalidInput("app", app, "module:attribute, for example jobs:handlers")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:  # the module is the user's and may raise anything
        raise InvalidInput("app", app, f"a module that can be imported: {said(error)}") from error
    if not isinstance(found, Handlers):
        raise InvalidInput("app", app, f"the name of a Handlers object, not of {type(found)}")
    return found


def load_plugin(entry: EntryPoint) -> Callable[[], Executor]:
    try:
        made: Callable[[], Executor] = entry.load()
    except Exception as error:  # foreign code, too
        wanted = f"an entry point of {GROUP} that can be loaded: {said(error)}"
        raise InvalidInput("plug-in", entry.value, wanted) from error
    return made


def said(error: Exception) -> str:
    """What went wrong, and where: one line must be enough to find it."""
    text = (
        str(error) if isinstance(error, ImportError | AttributeError | SyntaxError) else repr(error)
    )
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "importlib" not in frame.filename][1:]
    return f"{text} ({own[-1].filename}, line {own[-1].lineno})" if own else text


def refuse_doubles(executors: list[Executor]) -> None:
    seen: dict[str, Executor] = {}
    for executor in executors:
        for kind in executor.kinds:
            if kind in seen:
                both = f"{type(seen[kind]).__name__} and {type(executor).__name__}"
                raise InvalidInput("kind", kind, f"one executor for it, not {both}")
            seen[kind] = executor
