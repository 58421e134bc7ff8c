"""Graph runs of the storm: unfolded by whoever claims them, advanced by whoever ends a step.

Like the workers these nodes die at any moment; what they leave lying, others find.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from rota.contract.graph import read_graph
from rota.core.graphs import to_graph_json
from rota.engine.graphs.advancer import GraphAdvancer
from rota.engine.graphs.plans import PlanCache
from rota.store import graphs
from rota.store.driver import Connection
from tests.chaos.menu import graph_of
from tests.chaos.storm.sea import Sea


def definition(kind: str) -> str:
    return to_graph_json(read_graph(graph_of((kind,))))


class Only:
    """A source of one connection."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        yield self._conn


def node(sea: Sea, conn: Connection, plans: PlanCache) -> GraphAdvancer:
    return GraphAdvancer(
        source=Only(conn),
        on_runs_created=lambda: None,
        on_gates_freed=lambda: None,
        wake=lambda: None,
        monotonic=sea.ledger.clock.monotonic,
        emit=lambda event: sea.ledger.surprises.append(str(event)),
        plans=plans,
    )


async def unfold(
    sea: Sea, conn: Connection, session: UUID, runs: Sequence[tuple[UUID, int]], plans: PlanCache
) -> None:
    """Graph runs that were claimed; sometimes nobody goes on with them at once."""
    moved = await graphs.expand_graphs(conn, session_id=session, runs=runs)
    sea.ledger.count("graph runs", len(moved))
    await advance(sea, conn, [run.id for run in moved], plans)


async def advance(sea: Sea, conn: Connection, ids: Sequence[UUID], plans: PlanCache) -> None:
    if ids and not sea.happens(0.2):
        await node(sea, conn, plans).advance(conn, ids)


@dataclass(kw_only=True)
class Advancer:
    """A node that looks for marks which nobody took."""

    sea: Sea

    async def live(self) -> None:
        async with self.sea.opened() as conn:
            advancing = node(self.sea, conn, PlanCache())
            while not self.sea.is_over:
                advancing.scan_soon()
                await advancing.tick()
                await self.sea.ledger.pause(0.03)
