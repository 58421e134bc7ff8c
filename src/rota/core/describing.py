"""What an executor may tell of its payloads, for forms and documents. Room: core.

It need not: whoever tells nothing gets a plain field for JSON. What counts is what `read` refuses.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Describing(Protocol):
    """An executor that knows what the payloads of its kinds look like."""

    def payload_schema(self, kind: str) -> Mapping[str, Any] | None:
        """The payload as JSON Schema; None if nobody knows."""
        ...
