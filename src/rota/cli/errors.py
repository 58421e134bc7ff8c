"""What only a command line can get wrong. Room: cli."""

from rota.core.errors import InvalidInput


class Misused(InvalidInput):
    """Arguments that say too little, or that do not go together; no single value is wrong."""

    def __init__(self, sentence: str) -> None:
        super().__init__("arguments", None, sentence)

    def __str__(self) -> str:
        return self.wanted
