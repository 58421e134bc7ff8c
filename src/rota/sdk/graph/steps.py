"""Defines a step of a graph that is being built.

A step is also a placeholder for its result: a step that takes it as an argument waits for it.
`when`, `map`, `options` and `may_fail` change a step and return it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, Unpack

from rota.contract.job import GuaranteeName
from rota.core.errors import InvalidInput
from rota.core.graphs.graph import STEP_POLICY_FIELDS
from rota.sdk.app import declaration
from rota.sdk.app.declaration import Duration
from rota.sdk.graph.values import Value

if TYPE_CHECKING:
    from rota.sdk.app.job import Job

    Linked: TypeAlias = "Step | Steps | Job[..., Any, ..., Any] | Sequence[Linked]"

STEP_OPTIONS: Final = ("queue", "priority", *STEP_POLICY_FIELDS)
StepConditionName = Literal["success", "failure", "always", "none_failed"]


class StepOptions(TypedDict, total=False):
    """Options of a step. Default: the options of its job, then of its graph."""

    name: str
    queue: str
    priority: int | Literal["high", "medium", "normal", "low"]
    retries: int | Mapping[str, Any]
    timeout: Duration
    deadline: Duration
    grace: Duration
    guarantee: GuaranteeName
    target: str


@dataclass(slots=True, kw_only=True, eq=False)
class StepFields:
    """The fields of a step that is being built. `name` is unique in its graph."""

    name: str
    kind: str | None = None
    graph: Mapping[str, Any] | None = None
    payload: Mapping[str, Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    needs: list["Step"] = field(default_factory=list)
    when: str | Value | None = None
    map: dict[str, Any] | None = None
    may_fail: bool = False


class Step(Value):
    """A step, and a placeholder for its result."""

    __slots__ = ("_rename", "draft")

    def __init__(self, draft: StepFields, rename: Any) -> None:
        super().__init__()
        self.draft = draft
        self._rename = rename

    @property
    def parts(self) -> "tuple[str | Step, ...]":
        return (self, ".result")

    @property
    def state(self) -> Value:
        """`succeeded`, `failed`, `cancelled` or `skipped`."""
        return Value(self, ".state")

    @property
    def error(self) -> Value:
        """The error of the step; null if it did not fail."""
        return Value(self, ".error")

    @property
    def results(self) -> Value:
        """The results of a map's members, in order."""
        return Value(self, ".results")

    def __repr__(self) -> str:
        return f"<step {self.draft.name}>"

    def __rshift__(self, other: "Linked") -> "Step | Steps":
        return Steps([self]) >> other

    def __rrshift__(self, other: "Linked") -> "Step | Steps":
        return Steps(flatten_steps(other)) >> self

    # Any: to a type checker, a call of a job has the type that its function returns.
    def after(self, *others: Any) -> "Step":
        """Wait for these steps too."""
        for other in flatten_steps(others):
            if not any(other is known for known in self.draft.needs):
                self.draft.needs.append(other)
        return self

    def when(self, condition: "StepConditionName | str | Value") -> "Step":
        """Run the step under a condition: a keyword, an expression, or a comparison of values."""
        if not isinstance(condition, str | Value):
            raise InvalidInput(
                "when",
                condition,
                "expected success, failure, always, none_failed or an expression",
            )
        if isinstance(condition, Value):
            self.after(*condition.steps)
        self.draft.when = condition
        return self

    def map(
        self,
        over: "Value | str | int | Sequence[Any] | None" = None,
        *,
        source: "Step | None" = None,
        tolerate: int | str | None = None,
        at_once: int | None = None,
    ) -> "Step":
        """Run the step once for each item of a list, for each number from 0 to n - 1, or for each
        item that `source` yields. The source is a step of this graph and becomes part of this step.
        """
        if isinstance(over, Value):
            self.after(*over.steps)
        options = {"over": over, "source": source, "tolerate": tolerate, "at_once": at_once}
        self.draft.map = {key: value for key, value in options.items() if value is not None}
        return self

    def options(self, **options: Unpack[StepOptions]) -> "Step":
        """Set retries, timeouts, queue, priority or name of this step."""
        declaration.refuse_unknown_options(options, StepOptions.__annotations__)
        name = options.pop("name", None)
        if name is not None:
            self._rename(self, name)
        self.draft.options |= declaration.select_options(options, STEP_OPTIONS)
        return self

    def may_fail(self) -> "Step":
        """Let the graph succeed even if this step fails."""
        self.draft.may_fail = True
        return self


class Steps(list[Step]):
    """Several parallel steps: a step after them waits for all of them."""

    def __rshift__(self, other: "Linked") -> "Step | Steps":
        following = flatten_steps(other)
        for step in following:
            step.after(*self)
        return following[0] if len(following) == 1 else Steps(following)

    def __rrshift__(self, other: "Linked") -> "Step | Steps":
        return Steps(flatten_steps(other)) >> self


def flatten_steps(links: Any) -> list[Step]:
    """Flatten steps, jobs and lists of them; a job without a call is a step without arguments."""
    from rota.sdk.app.job import Job  # noqa: PLC0415 — circular import

    if isinstance(links, Step):
        return [links]
    if isinstance(links, Job):
        return [links.as_step()]
    if isinstance(links, Value) or not isinstance(links, Iterable) or isinstance(links, str):
        raise InvalidInput("graph", links, "expected a step, a job, or a list of them")
    return [step for member in links for step in flatten_steps(member)]
