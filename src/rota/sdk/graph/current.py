"""Holds the graph that is being built in the current thread or task, if any.

A job checks it when it is called: while a graph is built, a call adds a step. Jobs that other
threads or tasks call at the same time run as usual.
"""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from rota.core.errors import InvalidInput

if TYPE_CHECKING:
    from rota.sdk.graph.builder import GraphBuilder

CURRENT_BUILDER: Final[ContextVar["GraphBuilder | None"]] = ContextVar("rota_graph", default=None)


def require_builder() -> "GraphBuilder":
    graph = CURRENT_BUILDER.get()
    if graph is None:
        wanted = (
            "steps can be used only in a function under @app.graph() or in `with rota.Graph(…)`"
        )
        raise InvalidInput("graph", ">>", wanted)
    return graph
