"""The cluster that the state machine plays with: nodes, their unfinished duties, and the checks.

A duty goes on, or a client asks for something (clients.py); then `look` reads the tables and raises
what may not have happened as `Violation`.
"""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

from rota.core.errors import LeaseLost, StoreUnavailable
from rota.core.outcome import Failed, Failure, Outcome
from rota.store.driver import Connection
from tests.simulation import tables
from tests.simulation.changes import wrong_changes
from tests.simulation.ledger import Act, Ledger
from tests.simulation.nodes import LONG_AGO, Node, SchedulerNode, WorkerNode
from tests.simulation.standing import wrong_standing
from tests.simulation.tables import Tables
from tests.simulation.wire import Died, Mishap, Story, Wire
from tests.support.world import World

APART = {"A": 0.0, "B": -3.0, "X": 0.0, "Y": 1.5}
MOST_TOLD = 5
SCHEDULERS = ("A", "B")
WORKERS = ("X", "Y")
# Firing looks closer at what is late in a pass of its own, and fires what comes of it in another.
PASSES = {"firing": 3, "letting go": 0}


class Violation(AssertionError):
    """The engine did what it promises not to do."""


@dataclass(slots=True, kw_only=True)
class Cluster:
    world: World
    wire: Wire
    seen: Tables
    ledger: Ledger = field(default_factory=Ledger)
    said: int = 0
    nodes: dict[str, Node] = field(default_factory=dict)
    # Duties that stand before a statement, by node and duty.
    stories: dict[tuple[Node, str], Story] = field(default_factory=dict)

    @classmethod
    async def open(cls, conn: Connection) -> "Cluster":
        """An empty database at noon, and every node freshly started."""
        await conn.execute(tables.EMPTY)
        # A world of its own: its ids are counted, so the same story has the same ids.
        world = await World(conn).begin()
        seen = await tables.read(world.conn, world.now)
        cluster = cls(world=world, wire=Wire(world.conn), seen=seen)
        for name in (*SCHEDULERS, *WORKERS):
            await cluster.start(name)
        return cluster

    async def start(self, name: str) -> None:
        """Start a process; one that has the name already goes on as a ghost."""
        if name in self.nodes:
            self.nodes[f"{name}'"] = self.nodes[name]
        apart = timedelta(seconds=APART[name])
        node: Node
        if name in SCHEDULERS:
            node = SchedulerNode(name, self.world, self.wire, apart=apart)
        else:
            # Before the first outage everybody has seen the database for long. One who starts after
            # it cannot know that there was none.
            since = -LONG_AGO if self.ledger.outage_ended is None else None
            node = worker = WorkerNode(name, self.world, self.wire, apart=apart, seen_since=since)
            await worker.register()
            self.ledger.workers[worker.session_id] = worker
        self.nodes[name] = node
        await self.look(Act(what="starting", node=node))

    def node(self, name: str) -> Node:
        """The node of that name; the living one if it has no ghost."""
        return self.nodes.get(name) or self.nodes[name.rstrip("'")]

    def find(self, which: tuple[str, str]) -> tuple[Node, str]:
        name, duty = which
        return self.node(name), duty

    def worker(self, name: str) -> WorkerNode:
        node = self.node(name)
        assert isinstance(node, WorkerNode)
        return node

    async def act(
        self, node: Node, duty: str, *, statements: int | None = None, mishap: Mishap | None = None
    ) -> None:
        """Let a duty go on from where it stands, or begin a pass of it."""
        story = self.stories.pop((node, duty), None)
        if story is None:
            story = self.wire.begin(duty, node.duties[duty](), mishap)
        is_over = is_gone = False
        try:
            await story.go(statements)
            is_over = story.task.done()
        except StoreUnavailable:
            is_over = True
        except (LeaseLost, Died):
            is_over = is_gone = True
        if not is_over:
            self.stories[node, duty] = story
        if self.wire.said != self.said:
            self.said = self.wire.said
            await self.look(Act(what=duty, node=node))
        if is_gone:
            await self.bury(node)
        elif duty == "recording" and story.succeeded:
            self.check_recorded(node)

    async def let_go(self, name: str) -> None:
        """Give all shards back; a node waits for a pass of leasing that is under way."""
        node = self.node(name)
        if (node, "leasing") not in self.stories:
            await self.act(node, "letting go")

    async def bury(self, node: Node) -> None:
        """A process is gone, or knows that it must go. It is replaced, and may haunt."""
        for story in [self.stories.pop(key) for key in list(self.stories) if key[0] is node]:
            await story.end()
        if self.nodes[node.name] is node:
            await self.start(node.name)

    def check_recorded(self, node: Node) -> None:
        """What was sent and was still ours is not alive in our name any more."""
        assert isinstance(node, WorkerNode)
        for run_id, attempt in node.sent:
            run = self.seen.alive.get(run_id)
            if run is not None and (run.session_id, run.attempt) == (node.session_id, attempt):
                raise Violation(f"I7 the ending of attempt {attempt} of run {run_id} was dropped")

    async def look(self, act: Act) -> None:
        """Read the tables and hold them against what was done and what is known."""
        before, self.seen = self.seen, await tables.read(self.world.conn, self.world.now)
        wrong = [
            *wrong_changes(before, self.seen, act, self.ledger),
            *wrong_standing(self.seen, self.ledger),
        ]
        if wrong:
            raise Violation("\n".join(wrong[:MOST_TOLD]))

    async def wait(self, seconds: float) -> None:
        await self.world.advance(seconds=seconds)
        await self.look(Act(what="waiting"))

    async def suffer_outage(self, seconds: float) -> None:
        """The database is away: duties under way break off, and those who look see nothing."""
        await self.close()
        self.wire.is_down = True
        for node in list(self.nodes.values()):
            if isinstance(node, WorkerNode):
                await self.act(node, "rescuing")
        await self.wait(seconds)
        self.wire.is_down = False
        self.ledger.outage_ended = self.world.now

    async def work(self, name: str) -> None:
        """A whole round of one node, each duty until it has nothing more to do at once."""
        node = self.node(name)
        for duty in node.duties:
            for _ in range(PASSES.get(duty, 1)):
                if (node, duty) not in self.stories:
                    await self.act(node, duty)

    def performing(self) -> list[tuple[WorkerNode, tuple[UUID, int]]]:
        """The attempts that are under way, on all workers that still exist."""
        workers = [node for node in self.nodes.values() if isinstance(node, WorkerNode)]
        return [(worker, attempt) for worker in workers for attempt in sorted(worker.performing)]

    def end_attempt(self, worker: WorkerNode, attempt: tuple[UUID, int], outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            failure = Failure(type="Chosen", message=worker.mark(attempt))
            outcome = replace(outcome, failure=failure)
        worker.end(attempt, outcome)

    async def close(self) -> None:
        """Leave nothing under way."""
        for story in self.stories.values():
            await story.end()
        self.stories.clear()
