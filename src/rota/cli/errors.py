"""Errors in how a command is used."""

from rota.core.errors import InvalidInput


class UsageError(InvalidInput):
    """Missing arguments, or arguments that exclude each other; no single value is wrong."""

    def __init__(self, sentence: str) -> None:
        super().__init__("arguments", None, sentence)

    def __str__(self) -> str:
        return self.wanted
