"""Collects the jobs of an application and holds its connection settings.

A worker that is started with `module:app` serves the app's handlers and registers its schedules
(processes/schedule_registration.py). A program that only submits imports the same module; the app
connects with the first submission.
"""

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Never, Unpack

from rota.core.errors import InvalidInput
from rota.core.kind_descriptions import TaskDescription, summarize_docstring
from rota.core.submissions import check_name
from rota.executors.python import Handlers
from rota.sdk.app import declaration
from rota.sdk.app.declaration import DeclarationOptions, JobOptions
from rota.sdk.app.job import Job, JobDecorator, refuse_missing_parentheses
from rota.sdk.app.sender import ClientSender, Sender

if TYPE_CHECKING:
    from rota.sdk.graph.graph import Graph, GraphDecorator

AnyJob = Job[..., Any, ..., Any]


class App:
    """Collects jobs that are deployed together. The app's name is the prefix of their kinds.

    `url` and `key` are used to submit. Default: `ROTA_URL` and `ROTA_API_KEY`, then the address and
    key that `rota up` wrote into this folder. `tenant` is the tenant in which a worker registers
    the schedules. All other options are defaults for the app's jobs.
    """

    def __init__(
        self,
        name: str,
        *,
        url: str | None = None,
        key: str | None = None,
        tenant: str = "default",
        jobs: Iterable[AnyJob] = (),
        **defaults: Unpack[JobOptions],
    ) -> None:
        self.name = check_name(name, "name", max_length=60)
        self.tenant = check_name(tenant, "tenant")
        self.defaults = declaration.read_app_defaults(defaults)
        self.handlers = Handlers()
        self.sender: Sender = ClientSender(url, key)
        self._jobs: dict[str, AnyJob] = {}
        self._graphs: dict[Graph, None] = {}
        for job in jobs:
            self.add(job)

    def __repr__(self) -> str:
        return f"<app {self.name} of {len(self._jobs)} jobs>"

    def __iter__(self) -> Iterator[AnyJob]:
        return iter(self._jobs.values())

    def job(self, /, *bare: Never, **options: Unpack[DeclarationOptions]) -> JobDecorator:
        """Declare a job of this app: `@app.job(cron="0 9 * * 1-5")`."""
        refuse_missing_parentheses(bare)
        return JobDecorator(declaration.read_declaration(options), register=self.add)

    def add(self, job: AnyJob) -> None:
        """Add a job that was declared with `rota.job`."""
        if not isinstance(job, Job):
            raise InvalidInput("jobs", job, "expected functions declared with @rota.job()")
        if job.app_reference.app is self:
            return
        if job.app_reference.app is not None:
            wanted = f"it already belongs to app {job.app_reference.app.name!r}; a job has one app"
            raise InvalidInput("jobs", job.__name__, wanted)
        declared = job.declared
        kind = declared.kind or f"{self.name}.{job.__name__}"
        self._refuse_taken_name(job, kind)
        register = self.handlers.handler(
            kind,
            isolation=declared.isolation,
            memory=declared.memory,
            check=job.arguments.from_payload,
            schema=job.arguments.schema(),
            description=TaskDescription(
                text=summarize_docstring(job.function.__doc__),
                default_policy={**self.defaults, **declared.options},
            ),
        )
        register(job.handler)
        job.app_reference.app = self
        self._jobs[kind] = job

    def graph(self, /, *bare: Never, **options: Unpack[DeclarationOptions]) -> "GraphDecorator":
        """Declare a graph of this app: a function whose calls of jobs are its steps."""
        from rota.sdk.graph.graph import GraphDecorator  # noqa: PLC0415 — only apps with graphs

        if bare:
            raise InvalidInput("graph", bare[0], "add parentheses: @app.graph()")
        return GraphDecorator(self, options)

    def add_graph(self, graph: "Graph") -> None:
        """Add a graph to this app."""
        for known in self._graphs:
            if known.label == graph.label and known is not graph:
                wanted = f"another graph of app {self.name!r} has this name; names must be unique"
                raise InvalidInput("name", graph.label, wanted)
        graph.app = self
        self._graphs[graph] = None

    @property
    def graphs(self) -> "tuple[Graph, ...]":
        return tuple(self._graphs)

    def include(self, module: ModuleType) -> None:
        """Add all jobs that a module declares with `rota.job`, and its graphs."""
        from rota.sdk.graph.graph import Graph  # noqa: PLC0415 — only apps with graphs

        jobs = [value for value in vars(module).values() if isinstance(value, Job)]
        graphs = [value for value in vars(module).values() if isinstance(value, Graph)]
        for graph in graphs:
            if not graph.has_app:
                self.add_graph(graph)
        if not jobs and not graphs:
            wanted = "expected a module with at least one function declared with @rota.job()"
            raise InvalidInput("module", module.__name__, wanted)
        for job in jobs:
            # A job that already has an app was only imported into this module.
            if job.app_reference.app is None:
                self.add(job)

    @property
    def queues(self) -> tuple[str, ...]:
        """The queues that this app's jobs and graphs use."""
        default = self.defaults.get("queue", "default")
        queues = {job.declared.options.get("queue", default) for job in self}
        return tuple(sorted(queues.union(*(graph.queues for graph in self._graphs))))

    def declarations(self) -> list[dict[str, Any]]:
        """The app's scheduled jobs and graphs, each as a request body."""
        members = (*self, *self._graphs)
        requests = [request for one in members if (request := one.declaration()) is not None]
        names = [request["name"] for request in requests]
        for name in names:
            if names.count(name) > 1:
                wanted = "a job and a graph of this app have the same name; rename one of them"
                raise InvalidInput("name", name, wanted)
        return requests

    def close(self) -> None:
        """Close the connections; the next submission opens new ones."""
        if isinstance(self.sender, ClientSender):
            self.sender.close()

    def _refuse_taken_name(self, job: AnyJob, kind: str) -> None:
        name = job.declared.name or kind
        if job.declared.schedule is None:
            return
        for known in self:
            if known.declared.schedule is not None and known.name == name:
                wanted = f"the job of function {known.__name__} has this name; names must be unique"
                raise InvalidInput("name", name, wanted)
