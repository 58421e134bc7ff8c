"""Defines `Graph`: steps that are submitted and scheduled like a job."""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, Unpack

from rota.contract.graph import read_graph
from rota.core.errors import InvalidInput
from rota.core.graphs import to_plain_graph
from rota.core.graphs.graph import GRAPH_KIND
from rota.core.submissions import check_name, prefix_errors
from rota.core.time import moments
from rota.sdk.app import declaration
from rota.sdk.app.declaration import DeclarationOptions, JobDeclaration
from rota.sdk.app.handlers import Arguments
from rota.sdk.app.job import Job
from rota.sdk.app.submission import Submission
from rota.sdk.graph.builder import GRAPH_INPUT, GraphBuilder, build_graph
from rota.sdk.graph.current import CURRENT_BUILDER
from rota.sdk.graph.values import Value

if TYPE_CHECKING:
    from rota.sdk.app.app import AnyJob, App

JOB_ONLY_OPTIONS: Final = ("kind", "isolation", "memory")
# Placeholders for a member of a map: its item and its index.
item: Final[Any] = Value("item")
index: Final[Any] = Value("index")


class Graph:
    """A graph of steps. Its steps come from a function that calls jobs, or from a block:
    `with rota.Graph("nightly", cron="0 2 * * *", app=app): extract >> [a, b] >> load`.
    """

    def __init__(
        self,
        label: str,
        function: Callable[..., Any] | None = None,
        /,
        *,
        app: "App | None" = None,
        **options: Unpack[DeclarationOptions],
    ) -> None:
        for field in JOB_ONLY_OPTIONS:
            if field in options:
                wanted = f"a graph has no {field}; set it on the jobs of its steps"
                raise InvalidInput(field, options.get(field), wanted)
        self.label = check_name(label, "name")
        self.function = function
        self.declared: JobDeclaration = declaration.read_declaration(options)
        self._app: App | None = None
        self._arguments = None if function is None else Arguments(function)
        self._block: ExitStack | None = None
        self._built: Mapping[str, Any] | None = None
        self._jobs: Mapping[str, AnyJob] = {}
        if app is not None:
            app.add_graph(self)
        if function is not None and self.declared.schedule is not None:
            with prefix_errors("args"):
                self._payload((), self.declared.args)

    def __repr__(self) -> str:
        return f"<graph {self.label}>"

    @property
    def input(self) -> Value:
        """The payload of the graph run."""
        return GRAPH_INPUT

    @property
    def has_app(self) -> bool:
        return self._app is not None

    @property
    def app(self) -> "App":
        if self._app is None:
            wanted = "the graph belongs to no app; add it with rota.Graph(…, app=app)"
            raise InvalidInput("graph", self.label, wanted)
        return self._app

    @app.setter
    def app(self, app: "App") -> None:
        if self._app is not None and self._app is not app:
            wanted = f"it already belongs to app {self._app.name!r}; a graph has one app"
            raise InvalidInput("graphs", self.label, wanted)
        self._app = app

    @property
    def name(self) -> str:
        """The name of the scheduled job. Default: `<app>.<graph>`."""
        return self.declared.name or f"{self.app.name}.{self.label}"

    @property
    def definition(self) -> Mapping[str, Any]:
        """The definition as JSON values. Raises `InvalidInput` if the steps are invalid."""
        if self._built is None:
            if self.function is None:
                wanted = "the graph has no steps; add them in a with block"
                raise InvalidInput("graph", self.label, wanted)
            with build_graph() as steps:
                self.function(**self._inputs())
            self._store(steps)
        return self._built or {}

    @property
    def jobs(self) -> "Mapping[str, AnyJob]":
        """The jobs of its steps and of the steps of its sub-graphs, by kind."""
        return self._jobs if self.definition else {}

    def _store(self, steps: GraphBuilder) -> None:
        self._built, self._jobs = to_plain_graph(read_graph(steps.definition())), steps.jobs

    def __enter__(self) -> Self:
        if self.function is not None or self._built is not None or self._block is not None:
            wanted = "its steps are already defined; a graph is built once"
            raise InvalidInput("graph", self.label, wanted)
        self._block = ExitStack()
        self._steps = self._block.enter_context(build_graph())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._block is not None:
            self._block.close()
        self._block = None
        if error is None:
            self._store(self._steps)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """In another graph: add this graph as one step. Elsewhere: call the function."""
        outer = CURRENT_BUILDER.get()
        if outer is None:
            if self.function is None:
                wanted = "call it inside another graph, or run it with submit()"
                raise InvalidInput("graph", self.label, wanted)
            return self.function(*args, **kwargs)
        if self._arguments is None:
            return outer.add_subgraph(self, _only_named(args, kwargs))
        return outer.add_subgraph(
            self, self._arguments.bind_partial(args, kwargs, placeholder=Value, with_defaults=True)
        )

    def draft(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The request body that `submit` would send."""
        options = {**self.app.defaults, **self.declared.options}
        return {
            **options,
            "kind": GRAPH_KIND,
            "graph": self.definition,
            "payload": self._payload(args, kwargs),
        }

    def declaration(self) -> dict[str, Any] | None:
        """The scheduled job as a request body; None if it has no schedule."""
        declared = self.declared
        if declared.schedule is None:
            return None
        options = {**self.app.defaults, **declared.options}
        options.pop("unique", None)  # applies to submissions only
        return {
            **options,
            "name": self.name,
            "kind": GRAPH_KIND,
            "graph": self.definition,
            "schedule": declared.schedule,
            "payload": self._payload((), declared.args),
        }

    def submit(self, *args: Any, **kwargs: Any) -> Submission[Any]:
        """Submit a run that starts as soon as a worker is free."""
        return self._send(self.draft(*args, **kwargs))

    def at(self, when: datetime | str, /, *args: Any, **kwargs: Any) -> Submission[Any]:
        """Submit a run for this time: an aware datetime, or a string with a UTC offset."""
        moment = moments.to_rfc3339(moments.parse(when, field="when"))
        return self._send({**self.draft(*args, **kwargs), "schedule": {"at": moment}})

    def after(self, delay: str | timedelta, /, *args: Any, **kwargs: Any) -> Submission[Any]:
        """Submit a run that starts after this delay: a timedelta, or a string such as 10m."""
        schedule = declaration.build_schedule({"after": delay})
        return self._send({**self.draft(*args, **kwargs), "schedule": schedule})

    async def submit_async(self, *args: Any, **kwargs: Any) -> Submission[Any]:
        return await asyncio.to_thread(self.submit, *args, **kwargs)

    @property
    def queues(self) -> frozenset[str]:
        """The queues that the graph and its steps use."""
        default = self.declared.options.get("queue", self.app.defaults.get("queue", "default"))
        return frozenset({default, *_queues(self.definition)})

    def _send(self, draft: Mapping[str, Any]) -> Submission[Any]:
        created = self.app.sender.create(draft, idempotency_key=None)
        return Submission(
            job_id=created.job_id,
            run_id=created.run_id,
            deduplicated=created.deduplicated,
            sender=self.app.sender,
            convert=lambda result: result,
        )

    def _payload(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if self._arguments is None:
            return _only_named(args, kwargs)
        return self._arguments.to_payload(args, kwargs, with_defaults=True)

    def _inputs(self) -> dict[str, Value]:
        names = () if self._arguments is None else self._arguments.names
        return {name: GRAPH_INPUT[name] for name in names}


def _only_named(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    if args:
        wanted = "pass arguments by name; they are the graph's input"
        raise InvalidInput("arguments", args, wanted)
    return dict(kwargs)


def _queues(definition: Mapping[str, Any]) -> set[str]:
    queues: set[str] = set()
    for step in definition["steps"]:
        queues |= {step["queue"]} if "queue" in step else set()
        queues |= _queues(step["graph"]) if "graph" in step else set()
    return queues


class GraphDecorator:
    """Turns a function into a `Graph`; its calls of jobs are the steps."""

    def __init__(self, app: "App", options: DeclarationOptions) -> None:
        self._app = app
        self._given = options

    def __call__(self, function: Callable[..., Any], /) -> Graph:
        if isinstance(function, Graph | Job) or inspect.iscoroutinefunction(function):
            wanted = "expected a plain function; its calls of jobs are the steps"
            raise InvalidInput("graph", function, wanted)
        label = getattr(function, "__name__", type(function).__name__)
        return Graph(label, function, app=self._app, **self._given)
