"""Defines optional protocols by which an executor describes its kinds.

An executor without a payload schema gets a plain JSON field in forms; its `read` method still
checks payloads. An executor that does not implement `TransactionalExecutor` cannot run
`exactly_once` jobs.
"""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

from rota.core.executor import Executor

DESCRIPTION_LENGTH_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDescription:
    """What a task does, and the default policy of its runs, by the field names of the API."""

    text: str | None = None
    default_policy: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class TaskDescriber(Protocol):
    """An executor that describes its kinds for their users."""

    def describe_task(self, kind: str) -> TaskDescription:
        """Return the description and the default policy of a kind."""
        ...


@runtime_checkable
class PayloadDescriber(Protocol):
    """An executor that knows the payload schemas of its kinds."""

    def payload_schema(self, kind: str) -> Mapping[str, Any] | None:
        """Return the JSON Schema of the payload; None if it is unknown."""
        ...


@runtime_checkable
class TransactionalExecutor(Protocol):
    """An executor whose attempts can complete their run in `context.transaction()`."""

    def supports_exactly_once(self, kind: str) -> bool:
        """Return whether attempts of this kind can do so. Without this method, none can."""
        ...


def supports_exactly_once(executor: Executor, kind: str) -> bool:
    """Return whether jobs of this kind can be `exactly_once` with this executor."""
    return isinstance(executor, TransactionalExecutor) and executor.supports_exactly_once(kind)


def find_exactly_once_kinds(executors: Iterable[Executor]) -> dict[str, bool]:
    """Return, for each kind of these executors, whether its jobs can be `exactly_once`."""
    return {
        kind: supports_exactly_once(executor, kind)
        for executor in executors
        for kind in executor.kinds
    }


def collect_descriptions(executors: Iterable[Executor]) -> dict[str, TaskDescription]:
    """Return the task descriptions of the executors, by kind."""
    return {
        kind: executor.describe_task(kind)
        for executor in executors
        if isinstance(executor, TaskDescriber)
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
