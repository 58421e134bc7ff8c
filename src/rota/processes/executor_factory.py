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
from rota.executors.http import HttpExecutor, TargetGuard
from rota.executors.python import PythonExecutor, PythonLimits
from rota.executors.shell import ShellExecutor
from rota.processes.app_loader import describe_import_error, load_handlers
from rota.processes.child_environment import build_child_environment, check_passed_environment
from rota.processes.resource_executors import (
    build_notify_executor,
    build_sql_executors,
    build_sync_executor,
    build_webhook_executor,
)

ENTRY_POINT_GROUP: Final = "rota.executors"

ExecutorFactory = Callable[[], tuple[Executor, ...]]


def build_executor_factory(settings: Settings, *, app: str | None = None) -> ExecutorFactory:
    """Return a factory of the worker's executors; `app` is `module:attribute` of its handlers."""
    check_passed_environment(settings)
    served = None if app is None else load_handlers(app)
    plugins = [load_plugin(entry) for entry in entry_points(group=ENTRY_POINT_GROUP)]

    allowed = settings.executors
    # A claimed run must not wait for a thread or child process while its timeout runs.
    limits = PythonLimits(threads=settings.worker.slots, children=settings.worker.slots)

    def make() -> tuple[Executor, ...]:
        guard = TargetGuard(
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
            build_notify_executor(allowed, os.environ),
            build_sync_executor(allowed, os.environ),
            build_webhook_executor(allowed, os.environ, guard),
        ]
        # A worker without such resources leaves these kinds to other workers.
        if allowed.connections or allowed.data_folder is not None:
            executors += build_sql_executors(allowed, os.environ)
        if served is not None:
            executors.append(
                PythonExecutor(
                    served.handlers,
                    source=served.source,
                    limits=limits,
                    environment=partial(build_child_environment, settings, os.environ),
                )
            )
        executors += [plugin() for plugin in plugins]
        reject_duplicate_kinds(executors)
        return tuple(executors)

    return make


def load_plugin(entry: EntryPoint) -> Callable[[], Executor]:
    try:
        factory: Callable[[], Executor] = entry.load()
    except Exception as error:  # a plug-in may raise anything
        wanted = (
            f"cannot load this entry point of {ENTRY_POINT_GROUP}: {describe_import_error(error)}"
        )
        raise InvalidInput("plug-in", entry.value, wanted) from error
    return factory


def reject_duplicate_kinds(executors: list[Executor]) -> None:
    seen: dict[str, Executor] = {}
    for executor in executors:
        for kind in executor.kinds:
            if kind in seen:
                both = f"{type(seen[kind]).__name__} and {type(executor).__name__}"
                raise InvalidInput("kind", kind, f"two executors serve it: {both}; remove one")
            seen[kind] = executor
