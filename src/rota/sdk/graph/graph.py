"""A graph of jobs: defined once, then submitted and scheduled like a job. Room: sdk/graph."""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, Unpack

from rota.contract.graph import read_graph
from rota.core.errors import InvalidInput
from rota.core.graphs import graph_plain
from rota.core.graphs.graph import KIND
from rota.core.submission import check_name, within
from rota.core.time import moments
from rota.sdk.app import declaring
from rota.sdk.app.arguments import Arguments
from rota.sdk.app.declaring import Declaration, Declared
from rota.sdk.app.job import Job
from rota.sdk.app.submission import Submission
from rota.sdk.graph.building import INPUT, Building, building
from rota.sdk.graph.current import BUILDING
from rota.sdk.graph.values import Value

if TYPE_CHECKING:
    from rota.sdk.app.app import AnyJob, App

OF_JOBS: Final = ("kind", "isolation", "memory")
# What the payload of a map's member is made of.
item: Final[Any] = Value("item")
index: Final[Any] = Value("index")


class Graph:
    """Steps that wait for each other. Either a function whose calls of jobs are the steps, or a
    block: `with rota.Graph("nightly", cron="0 2 * * *", app=app): extract >> [a, b] >> load`.
    """

    def __init__(
        self,
        label: str,
        function: Callable[..., Any] | None = None,
        /,
        *,
        app: "App | None" = None,
        **given: Unpack[Declaration],
    ) -> None:
        for field in OF_JOBS:
            if field in given:
                raise InvalidInput(field, given.get(field), "left out: it is about one job")
        self.label = check_name(label, "name")
        self.function = function
        self.declared: Declared = declaring.read(given)
        self._app: App | None = None
        self._arguments = None if function is None else Arguments(function)
        self._block: ExitStack | None = None
        self._built: Mapping[str, Any] | None = None
        self._jobs: Mapping[str, AnyJob] = {}
        if app is not None:
            app.add_graph(self)
        if function is not None and self.declared.schedule is not None:
            with within("args"):
                self._payload((), self.declared.args)

    def __repr__(self) -> str:
        return f"<graph {self.label}>"

    @property
    def input(self) -> Value:
        """The payload of the graph run."""
        return INPUT

    @property
    def has_app(self) -> bool:
        return self._app is not None

    @property
    def app(self) -> "App":
        if self._app is None:
            raise InvalidInput("graph", self.label, "a graph of an app: rota.Graph(…, app=app)")
        return self._app

    @app.setter
    def app(self, app: "App") -> None:
        if self._app is not None and self._app is not app:
            wanted = f"a graph of no other app: it belongs to {self._app.name!r}"
            raise InvalidInput("graphs", self.label, wanted)
        self._app = app

    @property
    def name(self) -> str:
        """The name of the scheduled job: `<app>.<graph>` unless it was said."""
        return self.declared.name or f"{self.app.name}.{self.label}"

    @property
    def definition(self) -> Mapping[str, Any]:
        """The steps, as JSON has them; `InvalidInput` says what is wrong with them."""
        if self._built is None:
            if self.function is None:
                raise InvalidInput("graph", self.label, "steps: they are made in a with block")
            with building() as made:
                self.function(**self._inputs())
            self._keep(made)
        return self._built or {}

    @property
    def jobs(self) -> "Mapping[str, AnyJob]":
        """The jobs that its steps and those of its sub-graphs are of, by kind."""
        return self._jobs if self.definition else {}

    def _keep(self, made: Building) -> None:
        self._built, self._jobs = graph_plain(read_graph(made.definition())), made.jobs

    def __enter__(self) -> Self:
        if self.function is not None or self._built is not None or self._block is not None:
            raise InvalidInput("graph", self.label, "a graph that has no steps yet")
        self._block = ExitStack()
        self._made = self._block.enter_context(building())
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
            self._keep(self._made)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """In another graph: a sub-graph, as one step. Elsewhere: the function, here and now."""
        outer = BUILDING.get()
        if outer is None:
            if self.function is None:
                raise InvalidInput("graph", self.label, "another graph around it, or submit")
            return self.function(*args, **kwargs)
        if self._arguments is None:
            return outer.sub(self, _only_named(args, kwargs))
        return outer.sub(self, self._arguments.partly(args, kwargs, unknown=Value, whole=True))

    def draft(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The request that `submit` would send."""
        said = {**self.app.defaults, **self.declared.options}
        return {
            **said,
            "kind": KIND,
            "graph": self.definition,
            "payload": self._payload(args, kwargs),
        }

    def declaration(self) -> dict[str, Any] | None:
        """The scheduled job as a request; None if nothing was said about when."""
        declared = self.declared
        if declared.schedule is None:
            return None
        options = {**self.app.defaults, **declared.options}
        options.pop("unique", None)  # that is about submissions
        return {
            **options,
            "name": self.name,
            "kind": KIND,
            "graph": self.definition,
            "schedule": declared.schedule,
            "payload": self._payload((), declared.args),
        }

    def submit(self, *args: Any, **kwargs: Any) -> Submission[Any]:
        """Run it as soon as a worker is free."""
        return self._send(self.draft(*args, **kwargs))

    def at(self, when: datetime | str, /, *args: Any, **kwargs: Any) -> Submission[Any]:
        """Run it once, at this time."""
        moment = moments.rfc3339(moments.parse(when, field="when"))
        return self._send({**self.draft(*args, **kwargs), "schedule": {"at": moment}})

    def after(self, delay: str | timedelta, /, *args: Any, **kwargs: Any) -> Submission[Any]:
        """Run it once, after this time."""
        schedule = declaring.schedule_of({"after": delay})
        return self._send({**self.draft(*args, **kwargs), "schedule": schedule})

    async def submit_async(self, *args: Any, **kwargs: Any) -> Submission[Any]:
        return await asyncio.to_thread(self.submit, *args, **kwargs)

    @property
    def queues(self) -> frozenset[str]:
        """The queues that the graph and its steps wait in."""
        usual = self.declared.options.get("queue", self.app.defaults.get("queue", "default"))
        return frozenset({usual, *_queues(self.definition)})

    def _send(self, draft: Mapping[str, Any]) -> Submission[Any]:
        made = self.app.sender.create(draft, idempotency_key=None)
        return Submission(
            job_id=made.job_id,
            run_id=made.run_id,
            deduplicated=made.deduplicated,
            sender=self.app.sender,
            convert=lambda result: result,
        )

    def _payload(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if self._arguments is None:
            return _only_named(args, kwargs)
        return self._arguments.payload(args, kwargs, whole=True)

    def _inputs(self) -> dict[str, Value]:
        names = () if self._arguments is None else self._arguments.names
        return {name: INPUT[name] for name in names}


def _only_named(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    if args:
        raise InvalidInput("arguments", args, "arguments by name: they are the graph's input")
    return dict(kwargs)


def _queues(definition: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    for step in definition["steps"]:
        found |= {step["queue"]} if "queue" in step else set()
        found |= _queues(step["graph"]) if "graph" in step else set()
    return found


class GraphDecorator:
    """Turns a function whose calls of jobs are the steps into a `Graph`."""

    def __init__(self, app: "App", given: Declaration) -> None:
        self._app = app
        self._given = given

    def __call__(self, function: Callable[..., Any], /) -> Graph:
        if isinstance(function, Graph | Job) or inspect.iscoroutinefunction(function):
            raise InvalidInput("graph", function, "a plain function: its calls are the steps")
        label = getattr(function, "__name__", type(function).__name__)
        return Graph(label, function, app=self._app, **self._given)
