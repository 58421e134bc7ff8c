"""Which graph is being built here and now, if any. Room: sdk/graph.

Jobs ask when they are called: in a graph a call is a step. It belongs to the thread and task that
builds, so that jobs that are called elsewhere at the same time just run.
"""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from rota.core.errors import InvalidInput

if TYPE_CHECKING:
    from rota.sdk.graph.building import Building

BUILDING: Final[ContextVar["Building | None"]] = ContextVar("rota_graph", default=None)


def current() -> "Building":
    found = BUILDING.get()
    if found is None:
        raise InvalidInput("graph", ">>", "a graph around it: @app.graph() or with rota.Graph(…)")
    return found
