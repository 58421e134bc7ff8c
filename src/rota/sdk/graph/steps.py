"""One step of a graph that is being built. Room: sdk/graph.

A step is also the value that it will return: passing it on makes the next step wait for it. What
else is said about it (`when`, `map`, `options`) changes it and gives it back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, Unpack

from rota.contract.job import GuaranteeName
from rota.core.errors import InvalidInput
from rota.core.graphs.graph import POLICY
from rota.sdk.app import declaring
from rota.sdk.app.declaring import Duration
from rota.sdk.graph.values import Value

if TYPE_CHECKING:
    from rota.sdk.app.job import Job

    Linked: TypeAlias = "Step | Steps | Job[..., Any, ..., Any] | Sequence[Linked]"

OPTIONS: Final = ("queue", "priority", *POLICY)
When = Literal["success", "failure", "always", "none_failed"]


class StepOptions(TypedDict, total=False):
    """How the attempts of a step are made; what is not said, its job says, or its graph."""

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
class Draft:
    """A step as far as it is known. `name` is settled, so that values can be written out."""

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
    """A step, and the value that it returns."""

    __slots__ = ("_rename", "draft")

    def __init__(self, draft: Draft, rename: Any) -> None:
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
        """What went wrong; null if nothing did."""
        return Value(self, ".error")

    @property
    def results(self) -> Value:
        """Of a map, the results of its members in order."""
        return Value(self, ".results")

    def __repr__(self) -> str:
        return f"<step {self.draft.name}>"

    def __rshift__(self, other: "Linked") -> "Step | Steps":
        return Steps([self]) >> other

    def __rrshift__(self, other: "Linked") -> "Step | Steps":
        return Steps(gathered(other)) >> self

    # Any: to a type checker, what a call of a job gave is what its function returns.
    def after(self, *others: Any) -> "Step":
        """Wait for these, too."""
        for each in gathered(others):
            if not any(each is known for known in self.draft.needs):
                self.draft.needs.append(each)
        return self

    def when(self, condition: "When | str | Value") -> "Step":
        """Under which condition it runs: a word, an expression, or a comparison of values."""
        if not isinstance(condition, str | Value):
            raise InvalidInput("when", condition, "success, failure, always or an expression")
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
        """Run once for each item: of a list, of a number (0 to n - 1), or of what a source yields,
        which is a step of this graph that becomes a part of this one.
        """
        if isinstance(over, Value):
            self.after(*over.steps)
        said = {"over": over, "source": source, "tolerate": tolerate, "at_once": at_once}
        self.draft.map = {key: value for key, value in said.items() if value is not None}
        return self

    def options(self, **given: Unpack[StepOptions]) -> "Step":
        """Retries, timeouts, queue, priority, or another name, of this step alone."""
        declaring.refuse_unknown(given, StepOptions.__annotations__)
        name = given.pop("name", None)
        if name is not None:
            self._rename(self, name)
        self.draft.options |= declaring.options_of(given, OPTIONS)
        return self

    def may_fail(self) -> "Step":
        """Its failure does not fail the graph."""
        self.draft.may_fail = True
        return self


class Steps(list[Step]):
    """Several steps side by side: what comes after them waits for all."""

    def __rshift__(self, other: "Linked") -> "Step | Steps":
        found = gathered(other)
        for each in found:
            each.after(*self)
        return found[0] if len(found) == 1 else Steps(found)

    def __rrshift__(self, other: "Linked") -> "Step | Steps":
        return Steps(gathered(other)) >> self


def gathered(given: Any) -> list[Step]:
    """The steps that are meant; a job that is only named is a step without arguments."""
    from rota.sdk.app.job import Job  # noqa: PLC0415 — it imports what is built here

    if isinstance(given, Step):
        return [given]
    if isinstance(given, Job):
        return [given.as_step()]
    if isinstance(given, Value) or not isinstance(given, Iterable) or isinstance(given, str):
        raise InvalidInput("graph", given, "a step, a job, or a list of them")
    return [step for each in given for step in gathered(each)]
