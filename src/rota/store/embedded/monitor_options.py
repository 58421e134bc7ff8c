"""The parameters that a starting process passes to the server monitor.

Passed as one JSON argument on the monitor's command line; contains no secret.
"""

import json
from dataclasses import asdict, dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorOptions:
    home: str
    durable: bool
    port: int | None
    settings: dict[str, str]
    binaries: list[str]
    # Descriptors that the monitor inherits: the lock that it holds from its first moment, and the
    # pipe on which it reports once that the server is ready, or why it cannot start.
    lock: int
    report: int

    def to_argument(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        return cls(**json.loads(argument))
