"""Collects the steps of a graph while it is built, and writes its definition."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rota.core.errors import InvalidInput
from rota.core.submissions import check_name
from rota.sdk.graph.current import CURRENT_BUILDER, require_builder
from rota.sdk.graph.steps import STEP_OPTIONS, Step, StepFields
from rota.sdk.graph.values import Value

if TYPE_CHECKING:
    from rota.sdk.app.job import Job
    from rota.sdk.graph.graph import Graph

    AnyJob = Job[..., Any, ..., Any]

GRAPH_INPUT: Final = Value("input")


class GraphBuilder:
    """Collects steps in the order of their creation."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._named: dict[int, Step] = {}
        # By kind, for tests that run the graph without a worker.
        self.jobs: dict[str, AnyJob] = {}

    def add_job_step(self, job: "AnyJob", args: Sequence[Any], kwargs: Mapping[str, Any]) -> Step:
        """Add a step for a call of a job."""
        payload = job.arguments.bind_partial(args, kwargs, placeholder=Value)
        options = {key: value for key, value in job.run_options.items() if key in STEP_OPTIONS}
        self.jobs[job.kind] = job
        draft = StepFields(
            name=self._free_name(job.run_options.get("name") or job.__name__),
            kind=job.kind,
            payload=payload,
            options=options,
        )
        return self._add(draft, payload)

    def add_uncalled_job(self, job: "AnyJob") -> Step:
        """The step of a job that is used without a call; every use gives the same step."""
        if id(job) not in self._named:
            self._named[id(job)] = self.add_job_step(job, (), {})
        return self._named[id(job)]

    def add_subgraph(self, graph: "Graph", payload: Mapping[str, Any]) -> Step:
        """Add a step for a call of another graph."""
        draft = StepFields(
            name=self._free_name(graph.label), graph=graph.definition, payload=payload
        )
        self.jobs |= graph.jobs
        return self._add(draft, payload)

    def add_kind_step(self, kind: str, payload: Mapping[str, Any], name: str | None) -> Step:
        """Add a step of a kind without a Python function."""
        step_name = self._free_name(name or kind)
        draft = StepFields(name=step_name, kind=check_name(kind, "kind"), payload=payload)
        return self._add(draft, payload)

    def _add(self, draft: StepFields, payload: Mapping[str, Any]) -> Step:
        step = Step(draft, self._rename)
        self._steps.append(step)
        return step.after(*find_steps(payload))

    def _free_name(self, name: str) -> str:
        """The name, or the first of name_2, name_3 … that no step has."""
        taken = {step.draft.name for step in self._steps}
        base = "".join(char if char.isascii() and char.isalnum() else "_" for char in name)[:60]
        number = 1
        free = base
        while free in taken:
            number += 1
            free = f"{base}_{number}"
        return free

    def _rename(self, step: Step, name: object) -> None:
        if any(other.draft.name == name for other in self._steps if other is not step):
            raise InvalidInput("name", name, "another step has this name; names must be unique")
        if not isinstance(name, str):
            raise InvalidInput("name", name, "expected a string")
        step.draft.name = name

    def definition(self) -> dict[str, Any]:
        """The definition of the graph as JSON values."""
        sources = [step.draft.map.get("source") for step in self._steps if step.draft.map]
        return {
            "steps": [
                _plain(step)
                for step in self._steps
                if not any(step is source for source in sources)
            ]
        }


@contextmanager
def build_graph() -> Iterator[GraphBuilder]:
    """Build a graph in this block; a block inside another builds a graph of its own."""
    graph = GraphBuilder()
    token = CURRENT_BUILDER.set(graph)
    try:
        yield graph
    finally:
        CURRENT_BUILDER.reset(token)


def step(
    kind: str, payload: Mapping[str, Any] | None = None, /, *, name: str | None = None
) -> Step:
    """Add a step of a kind without a Python function, such as `shell` or `http`."""
    return require_builder().add_kind_step(kind, payload or {}, name)


def find_steps(value: Any) -> list[Step]:
    """The steps whose values occur in this value."""
    steps: list[Step] = []

    def visit(part: Any) -> Any:
        if not isinstance(part, Value):
            raise NotImplementedError
        steps.extend(part.steps)

    msgspec.to_builtins(value, str_keys=True, enc_hook=visit)
    return steps


def to_json_template(value: Any) -> Any:
    """Convert to JSON values; a `Value` becomes a placeholder `{"$": expression}`."""
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_placeholder)


def _placeholder(part: Any) -> Any:
    if isinstance(part, Value):
        return {"$": part.text}
    raise InvalidInput("graph", part, "expected a value that JSON can represent")


def strip_parentheses(value: Value) -> str:
    """The expression without its outermost parentheses."""
    parts = value.parts
    inner = parts[1:-1] if parts[0] == "(" and parts[-1] == ")" else parts
    return Value(*inner).text


def _plain(step: Step) -> dict[str, Any]:
    draft = step.draft
    plain: dict[str, Any] = {"name": draft.name}
    if draft.graph is None:
        plain["kind"] = draft.kind
    else:
        plain["graph"] = draft.graph
    if draft.needs:
        plain["needs"] = [needed.draft.name for needed in draft.needs]
    if draft.when is not None:
        plain["when"] = (
            strip_parentheses(draft.when) if isinstance(draft.when, Value) else draft.when
        )
    if draft.payload:
        plain["payload"] = to_json_template(draft.payload)
    if draft.map is not None:
        plain["map"] = _map(draft.map)
    if draft.may_fail:
        plain["may_fail"] = True
    return plain | draft.options


def _map(options: Mapping[str, Any]) -> dict[str, Any]:
    plain = dict(options)
    over, source = plain.get("over"), plain.get("source")
    if isinstance(over, Value):
        plain["over"] = over.text
    elif over is not None and not isinstance(over, str):
        plain["over"] = to_json_template(over)
    if isinstance(source, Step):
        payload = (
            {"payload": to_json_template(source.draft.payload)} if source.draft.payload else {}
        )
        plain["source"] = {"kind": source.draft.kind, **payload}
    return plain
