"""Collects the steps of a graph while it is built, and writes them down. Room: sdk/graph."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rota.core.errors import InvalidInput
from rota.core.submission import check_name
from rota.sdk.graph.current import BUILDING, current
from rota.sdk.graph.steps import OPTIONS, Draft, Step
from rota.sdk.graph.values import Value

if TYPE_CHECKING:
    from rota.sdk.app.job import Job
    from rota.sdk.graph.graph import Graph

    AnyJob = Job[..., Any, ..., Any]

INPUT: Final = Value("input")


class Building:
    """Collects steps, in the order in which they are made."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._named: dict[int, Step] = {}
        # By kind, for whoever plays the graph without a worker.
        self.jobs: dict[str, AnyJob] = {}

    def step_of(self, job: "AnyJob", args: Sequence[Any], kwargs: Mapping[str, Any]) -> Step:
        """A call of a job."""
        payload = job.arguments.partly(args, kwargs, unknown=Value)
        options = {key: value for key, value in job.said.items() if key in OPTIONS}
        self.jobs[job.kind] = job
        draft = Draft(
            name=self._free(job.said.get("name") or job.__name__),
            kind=job.kind,
            payload=payload,
            options=options,
        )
        return self._add(draft, payload)

    def bare(self, job: "AnyJob") -> Step:
        """A job that is only named: one step, however often it is named."""
        if id(job) not in self._named:
            self._named[id(job)] = self.step_of(job, (), {})
        return self._named[id(job)]

    def sub(self, graph: "Graph", payload: Mapping[str, Any]) -> Step:
        """A call of another graph."""
        draft = Draft(name=self._free(graph.label), graph=graph.definition, payload=payload)
        self.jobs |= graph.jobs
        return self._add(draft, payload)

    def of_kind(self, kind: str, payload: Mapping[str, Any], name: str | None) -> Step:
        """A step of a kind that has no function here."""
        draft = Draft(name=self._free(name or kind), kind=check_name(kind, "kind"), payload=payload)
        return self._add(draft, payload)

    def _add(self, draft: Draft, payload: Mapping[str, Any]) -> Step:
        step = Step(draft, self._rename)
        self._steps.append(step)
        return step.after(*steps_in(payload))

    def _free(self, name: str) -> str:
        """The name, or the first of name_2, name_3 … that no step has."""
        taken = {step.draft.name for step in self._steps}
        wanted = "".join(char if char.isascii() and char.isalnum() else "_" for char in name)[:60]
        number = 1
        found = wanted
        while found in taken:
            number += 1
            found = f"{wanted}_{number}"
        return found

    def _rename(self, step: Step, name: object) -> None:
        if any(each.draft.name == name for each in self._steps if each is not step):
            raise InvalidInput("name", name, "a name that no other step has")
        if not isinstance(name, str):
            raise InvalidInput("name", name, "a text")
        step.draft.name = name

    def definition(self) -> dict[str, Any]:
        """What was built, as JSON has it."""
        sources = [each.draft.map.get("source") for each in self._steps if each.draft.map]
        return {
            "steps": [
                _plain(each) for each in self._steps if not any(each is one for one in sources)
            ]
        }


@contextmanager
def building() -> Iterator[Building]:
    """Build a graph in this block; a graph inside another is built by itself."""
    made = Building()
    token = BUILDING.set(made)
    try:
        yield made
    finally:
        BUILDING.reset(token)


def step(
    kind: str, payload: Mapping[str, Any] | None = None, /, *, name: str | None = None
) -> Step:
    """A step of a kind that needs no code, such as `shell` or `http`, with its payload."""
    return current().of_kind(kind, payload or {}, name)


def steps_in(value: Any) -> list[Step]:
    """The steps whose values are somewhere in this."""
    found: list[Step] = []

    def seen(each: Any) -> Any:
        if not isinstance(each, Value):
            raise NotImplementedError
        found.extend(each.steps)

    msgspec.to_builtins(value, str_keys=True, enc_hook=seen)
    return found


def written(value: Any) -> Any:
    """As JSON has it, with values as places to fill."""
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_written)


def _written(each: Any) -> Any:
    if isinstance(each, Value):
        return {"$": each.text}
    raise InvalidInput("graph", each, "a value that JSON can carry")


def bare(value: Value) -> str:
    """The expression without the brackets around the whole of it."""
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
        plain["needs"] = [each.draft.name for each in draft.needs]
    if draft.when is not None:
        plain["when"] = bare(draft.when) if isinstance(draft.when, Value) else draft.when
    if draft.payload:
        plain["payload"] = written(draft.payload)
    if draft.map is not None:
        plain["map"] = _map(draft.map)
    if draft.may_fail:
        plain["may_fail"] = True
    return plain | draft.options


def _map(said: Mapping[str, Any]) -> dict[str, Any]:
    plain = dict(said)
    over, source = plain.get("over"), plain.get("source")
    if isinstance(over, Value):
        plain["over"] = over.text
    elif over is not None and not isinstance(over, str):
        plain["over"] = written(over)
    if isinstance(source, Step):
        payload = {"payload": written(source.draft.payload)} if source.draft.payload else {}
        plain["source"] = {"kind": source.draft.kind, **payload}
    return plain
