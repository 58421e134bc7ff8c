"""Collects jobs, and knows where the server is. Room: sdk/app.

A worker is told `module:app`: it serves the app's handlers and registers its schedules
(node/registering.py). A program that only submits imports the same module; nothing is connected
before the first submission.
"""

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Never, Unpack

from rota.core.describing import TaskDescription, summarize_docstring
from rota.core.errors import InvalidInput
from rota.core.submission import check_name
from rota.executors.python import Handlers
from rota.sdk.app import declaring
from rota.sdk.app.declaring import Declaration, Options
from rota.sdk.app.job import Decorator, Job, refuse_bare
from rota.sdk.app.sending import ClientSender, Sender

if TYPE_CHECKING:
    from rota.sdk.graph.graph import Graph, GraphDecorator

AnyJob = Job[..., Any, ..., Any]


class App:
    """Jobs that are deployed together. The name is part of their kinds.

    `url` and `key` are for submitting; without them it is `ROTA_URL` and `ROTA_API_KEY`, then what
    `rota up` made in this folder. Options that are given here hold for jobs that do not say
    otherwise. `tenant` is where a worker registers the schedules.
    """

    def __init__(
        self,
        name: str,
        *,
        url: str | None = None,
        key: str | None = None,
        tenant: str = "default",
        jobs: Iterable[AnyJob] = (),
        **defaults: Unpack[Options],
    ) -> None:
        self.name = check_name(name, "name", most=60)
        self.tenant = check_name(tenant, "tenant")
        self.defaults = declaring.defaults_of(defaults)
        self.handlers = Handlers()
        self.sender: Sender = ClientSender(url, key)
        self._jobs: dict[str, AnyJob] = {}
        self._graphs: dict[Graph, None] = {}
        for each in jobs:
            self.add(each)

    def __repr__(self) -> str:
        return f"<app {self.name} of {len(self._jobs)} jobs>"

    def __iter__(self) -> Iterator[AnyJob]:
        return iter(self._jobs.values())

    def job(self, /, *bare: Never, **given: Unpack[Declaration]) -> Decorator:
        """Declare a job of this app: `@app.job(cron="0 9 * * 1-5")`."""
        refuse_bare(bare)
        return Decorator(declaring.read(given), adopt=self.add)

    def add(self, job: AnyJob) -> None:
        """Take in a job that was declared with `rota.job`."""
        if not isinstance(job, Job):
            raise InvalidInput("jobs", job, "functions that were declared with rota.job")
        if job.home.app is self:
            return
        if job.home.app is not None:
            wanted = f"a job of no other app: it belongs to {job.home.app.name!r}"
            raise InvalidInput("jobs", job.__name__, wanted)
        declared = job.declared
        kind = declared.kind or f"{self.name}.{job.__name__}"
        self._refuse_taken_name(job, kind)
        register = self.handlers.handler(
            kind,
            isolation=declared.isolation,
            memory=declared.memory,
            check=job.arguments.read,
            schema=job.arguments.schema(),
            description=TaskDescription(
                text=summarize_docstring(job.function.__doc__),
                default_policy={**self.defaults, **declared.options},
            ),
        )
        register(job.handler)
        job.home.app = self
        self._jobs[kind] = job

    def graph(self, /, *bare: Never, **given: Unpack[Declaration]) -> "GraphDecorator":
        """Declare a graph of this app: a function whose calls of jobs are its steps."""
        from rota.sdk.graph.graph import GraphDecorator  # noqa: PLC0415 — who has none needs none

        if bare:
            raise InvalidInput("graph", bare[0], "parentheses after it: @app.graph()")
        return GraphDecorator(self, given)

    def add_graph(self, graph: "Graph") -> None:
        """Take in a graph."""
        for each in self._graphs:
            if each.label == graph.label and each is not graph:
                raise InvalidInput("name", graph.label, "a name that no other graph of it has")
        graph.app = self
        self._graphs[graph] = None

    @property
    def graphs(self) -> "tuple[Graph, ...]":
        return tuple(self._graphs)

    def include(self, module: ModuleType) -> None:
        """Take in all jobs that a module has declared with `rota.job`, and its graphs."""
        from rota.sdk.graph.graph import Graph  # noqa: PLC0415 — as above

        found = [each for each in vars(module).values() if isinstance(each, Job)]
        graphs = [each for each in vars(module).values() if isinstance(each, Graph)]
        for graph in graphs:
            if not graph.has_app:
                self.add_graph(graph)
        if not found and not graphs:
            raise InvalidInput("module", module.__name__, "a module with a function under rota.job")
        for each in found:
            # What another module has already put into an app is only imported there.
            if each.home.app is None:
                self.add(each)

    @property
    def queues(self) -> tuple[str, ...]:
        """The queues that its jobs wait in."""
        usual = self.defaults.get("queue", "default")
        found = {each.declared.options.get("queue", usual) for each in self}
        return tuple(sorted(found.union(*(graph.queues for graph in self._graphs))))

    def declarations(self) -> list[dict[str, Any]]:
        """Its scheduled jobs and graphs, each as a request."""
        everything = (*self, *self._graphs)
        found = [said for each in everything if (said := each.declaration()) is not None]
        names = [said["name"] for said in found]
        for name in names:
            if names.count(name) > 1:
                raise InvalidInput("name", name, "a job and a graph of different names")
        return found

    def close(self) -> None:
        """Let connections go; the next submission makes new ones."""
        if isinstance(self.sender, ClientSender):
            self.sender.close()

    def _refuse_taken_name(self, job: AnyJob, kind: str) -> None:
        wanted = job.declared.name or kind
        if job.declared.schedule is None:
            return
        for each in self:
            if each.declared.schedule is not None and each.name == wanted:
                raise InvalidInput("name", wanted, f"a name that {each.__name__} does not have")
