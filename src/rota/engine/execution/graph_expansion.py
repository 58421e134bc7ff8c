"""Implements the built-in kind `graph`, which workers claim but do not execute.

Every worker serves it. A graph run takes no slot and never reaches the attempt loop: once it is
claimed, recording lets it wait for its steps (engine/graphs).
"""

from collections.abc import Sequence
from typing import Any, Final

from rota.core.executor import AttemptContext
from rota.core.graphs.graph import GRAPH_KIND
from rota.core.outcome import GraphExpanded, Outcome


class GraphKindExecutor:
    """Implements the executor contract, so that attempts of it are like any other."""

    kinds: Sequence[str] = (GRAPH_KIND,)

    def read(self, kind: str, payload: Any) -> Any:  # noqa: ARG002 — the contract
        return payload

    async def run(self, spec: Any, context: AttemptContext) -> Outcome:  # noqa: ARG002 — the contract
        return GraphExpanded()

    async def open(self) -> None: ...

    async def close(self) -> None: ...


GRAPH_KIND_EXECUTOR: Final = GraphKindExecutor()
