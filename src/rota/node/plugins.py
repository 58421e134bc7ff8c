"""Builds the executors of a worker: the built-in ones, its handlers, and plug-ins.

A plug-in is an entry point of the group `rota.executors`: a callable without arguments that returns
an executor (core/executor.py). Executors belong to one event loop, so each attempt loop gets new
ones.
"""

import os
from collections.abc import Callable
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from rota.config.settings import Settings
from rota.core.errors import InvalidInput
from rota.core.executor import Executor
from rota.executors.http import Guard, HttpExecutor
from rota.executors.python import Limits, PythonExecutor
from rota.executors.shell import ShellExecutor
from rota.node.child_environment import check_passed_environment, child_environment
from rota.node.loading import load_served, said
from rota.node.named import notify_of, sql_of, sync_of, webhook_of

GROUP: Final = "rota.executors"

MakeExecutors = Callable[[], tuple[Executor, ...]]


def executors_of(settings: Settings, *, app: str | None = None) -> MakeExecutors:
    """Return a factory of the worker's executors; `app` is `module:attribute` of its handlers."""
    check_passed_environment(settings)
    served = None if app is None else load_served(app)
    plugins = [load_plugin(entry) for entry in entry_points(group=GROUP)]

    allowed = settings.executors
    # A claimed run must not wait for a thread or child process while its timeout runs.
    limits = Limits(threads=settings.worker.slots, children=settings.worker.slots)

    def make() -> tuple[Executor, ...]:
        guard = Guard(
            allow_networks=allowed.http_allow_networks,
            allow_hosts=allowed.http_allow_hosts,
            allow_ports=allowed.http_allow_ports,
            deny_networks=allowed.http_deny_networks,
        )
        executors: list[Executor] = [
            HttpExecutor(guard=guard, guard_tenants=allowed.http_allow_tenants),
            ShellExecutor(
                allow=allowed.shell_allow,
                user=allowed.shell_user,
                tenants=allowed.shell_tenants,
            ),
            notify_of(allowed, os.environ),
            sync_of(allowed, os.environ),
            webhook_of(allowed, os.environ, guard),
        ]
        # A worker without such resources leaves these kinds to other workers.
        if allowed.connections or allowed.data_folder is not None:
            executors += sql_of(allowed, os.environ)
        if served is not None:
            executors.append(
                PythonExecutor(
                    served.handlers,
                    source=served.source,
                    limits=limits,
                    environment=partial(child_environment, settings, os.environ),
                )
            )
        executors += [plugin() for plugin in plugins]
        refuse_doubles(executors)
        return tuple(executors)

    return make


def load_plugin(entry: EntryPoint) -> Callable[[], Executor]:
    try:
        factory: Callable[[], Executor] = entry.load()
    except Exception as error:  # a plug-in may raise anything
        wanted = f"cannot load this entry point of {GROUP}: {said(error)}"
        raise InvalidInput("plug-in", entry.value, wanted) from error
    return factory


def refuse_doubles(executors: list[Executor]) -> None:
    seen: dict[str, Executor] = {}
    for executor in executors:
        for kind in executor.kinds:
            if kind in seen:
                both = f"{type(seen[kind]).__name__} and {type(executor).__name__}"
                raise InvalidInput("kind", kind, f"two executors serve it: {both}; remove one")
            seen[kind] = executor
