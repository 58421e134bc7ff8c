"""What an executor may tell of its kinds: their payloads, what they can promise. Room: core.

It need not. Whoever tells nothing of payloads gets a plain field for JSON in forms; what counts is
what `read` refuses. Whoever tells nothing of transactions cannot run jobs that are `exactly_once`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from rota.core.executor import Executor


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
