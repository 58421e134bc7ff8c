"""The built-in kind `graph`: claimed like any run, and not carried out. Room: flow/execute.

Every worker serves it. A graph run takes no slot and never comes to the stage: that it was claimed
is all there is to do, and recording lets it wait for its steps (flow/graphs).
"""

from collections.abc import Sequence
from typing import Any, Final

from rota.core.executor import Context
from rota.core.graphs.graph import KIND
from rota.core.outcome import Outcome, Unfolded


class Unfolding:
    """Keeps the contract of an executor, so that an attempt of it is like any other."""

    kinds: Sequence[str] = (KIND,)

    def read(self, kind: str, payload: Any) -> Any:  # noqa: ARG002 — the contract
        return payload

    async def run(self, spec: Any, context: Context) -> Outcome:  # noqa: ARG002 — the contract
        return Unfolded()

    async def open(self) -> None: ...

    async def close(self) -> None: ...


UNFOLDING: Final = Unfolding()
