"""Builds the executors of a worker: the built-in ones and those of other packages.

Each is an entry point of the group `rota.executors`: a callable that returns an executor
(core/executor.py). A callable with a required parameter receives an `ExecutorSetup`, from which the
built-in executors read their settings (built_in_executors.py); it returns None if this worker needs
no such executor. Executors belong to one event loop, so each attempt loop gets new ones.
"""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from rota.config.settings import Settings
from rota.core.errors import InvalidInput
from rota.core.executor import Executor
from rota.processes.app_loader import LoadedHandlers, load_handlers
from rota.processes.child_environment import check_passed_environment
from rota.processes.plugins import find_entry_points, load_entry_point

ENTRY_POINT_GROUP: Final = "rota.executors"
POSITIONAL: Final = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)

ExecutorFactory = Callable[[], tuple[Executor, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSetup:
    """What executors are built from. `handlers` is None if the worker serves no app."""

    settings: Settings
    environment: Mapping[str, str]
    handlers: LoadedHandlers | None = None


def build_executor_factory(settings: Settings, *, app: str | None = None) -> ExecutorFactory:
    """Return a factory of the worker's executors; `app` is `module:attribute` of its handlers."""
    check_passed_environment(settings)
    setup = ExecutorSetup(
        settings=settings,
        environment=os.environ,
        handlers=None if app is None else load_handlers(app),
    )
    builders = [
        bind_setup(load_entry_point(entry), setup) for entry in find_entry_points(ENTRY_POINT_GROUP)
    ]

    def make() -> tuple[Executor, ...]:
        built = [build() for build in builders]
        executors = [executor for executor in built if executor is not None]
        reject_duplicate_kinds(executors)
        return tuple(executors)

    return make


def bind_setup(
    builder: Callable[..., Executor | None], setup: ExecutorSetup
) -> Callable[[], Executor | None]:
    """Return a builder without parameters."""
    return partial(builder, setup) if has_required_parameter(builder) else builder


def has_required_parameter(builder: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(builder).parameters.values()
    except (TypeError, ValueError):  # Python cannot tell, as for some classes written in C
        return False
    return any(each.kind in POSITIONAL and each.default is each.empty for each in parameters)


def reject_duplicate_kinds(executors: list[Executor]) -> None:
    seen: dict[str, Executor] = {}
    for executor in executors:
        for kind in executor.kinds:
            if kind in seen:
                both = f"{type(seen[kind]).__name__} and {type(executor).__name__}"
                raise InvalidInput("kind", kind, f"two executors serve it: {both}; remove one")
            seen[kind] = executor
