"""What an executor may tell of its kinds: their payloads, what they can promise. Room: core.

It need not. Whoever tells nothing of payloads gets a plain field for JSON in forms; what counts is
what `read` refuses. Whoever tells nothing of transactions cannot run jobs that are `exactly_once`.
"""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

from rota.core.executor import Executor

DESCRIPTION_LENGTH_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDescription:
    """What a task does, and the options that hold for its runs by default.

    The options have the field names of the API.
    """

    text: str | None = None
    default_policy: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class TaskDescribing(Protocol):
    """An executor that describes its kinds for the people who use them."""

    def describe_task(self, kind: str) -> TaskDescription:
        """Return the description and the default policy of a kind."""
        ...


@runtime_checkable
class Describing(Protocol):
    """An executor that knows what the payloads of its kinds look like."""

    def payload_schema(self, kind: str) -> Mapping[str, Any] | None:
        """The payload as JSON Schema; None if nobody knows."""
        ...


@runtime_checkable
class Transactional(Protocol):
    """An executor whose attempts may complete their run in `context.transaction()`."""

    def supports_exactly_once(self, kind: str) -> bool:
        """Whether attempts of this kind can; the default without this method is that none can."""
        ...


def supports_exactly_once(executor: Executor, kind: str) -> bool:
    """Whether jobs of this kind may be `exactly_once` with this executor."""
    return isinstance(executor, Transactional) and executor.supports_exactly_once(kind)


def exactly_once_of(executors: Iterable[Executor]) -> dict[str, bool]:
    """The same for all kinds of these executors."""
    return {
        kind: supports_exactly_once(executor, kind)
        for executor in executors
        for kind in executor.kinds
    }


def descriptions_of(executors: Iterable[Executor]) -> dict[str, TaskDescription]:
    """Return what the executors tell about their tasks, by kind."""
    return {
        kind: executor.describe_task(kind)
        for executor in executors
        if isinstance(executor, TaskDescribing)
        for kind in executor.kinds
    }


def summarize_docstring(docstring: str | None) -> str | None:
    """Return the first paragraph of a docstring as one line; None if there is no text."""
    if docstring is None:
        return None
    paragraph = inspect.cleandoc(docstring).split("\n\n", 1)[0]
    text = " ".join(paragraph.replace("\0", "").split())
    if len(text) > DESCRIPTION_LENGTH_MAX:
        text = text[: DESCRIPTION_LENGTH_MAX - 1] + "…"
    return text or None
