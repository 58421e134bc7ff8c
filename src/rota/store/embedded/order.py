"""What a starting process asks of the keeper it starts. Room: store/embedded.

Travels as one JSON word on the keeper's command line; holds no secret.
"""

import json
from dataclasses import asdict, dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    home: str
    durable: bool
    port: int | None
    settings: dict[str, str]
    binaries: list[str]
    # Descriptors that the keeper inherits: the lock it holds from its first moment on, and the
    # pipe on which it reports once, that the server is ready or why it cannot be.
    lock: int
    report: int

    def to_word(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_word(cls, word: str) -> Self:
        return cls(**json.loads(word))
