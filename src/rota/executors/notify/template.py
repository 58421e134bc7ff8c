"""Fills values into texts with names in braces: `{name}`, and `{{` for a literal brace.

Templates have no attributes, formats or expressions, and values are not expanded again. An unknown
name is refused before anything is sent.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rota.core.errors import InvalidInput

TEMPLATE_PIECE = re.compile(
    r"(?P<brace>\{\{|\}\})|\{(?P<name>[^{}]*)\}|(?P<stray>[{}])|(?P<text>[^{}]+)"
)
VALUE_NAME = re.compile(r"[a-z_][a-z0-9_]{0,63}", re.ASCII)
VALUE_NAME_EXPECTED = "expected a name of a-z, 0-9 and _ that starts with a letter"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageTemplate:
    """A parsed text: strings are literal, a tuple of one is the name of a value."""

    pieces: tuple[str | tuple[str], ...]

    def measure(self, lengths: Mapping[str, int]) -> int:
        """Return the length of the filled text without building it: names may repeat often."""
        return sum(
            len(piece) if isinstance(piece, str) else lengths[piece[0]] for piece in self.pieces
        )

    def fill(self, values: Mapping[str, str]) -> str:
        return "".join(
            piece if isinstance(piece, str) else values[piece[0]] for piece in self.pieces
        )


def parse_template(text: str, *, field: str, known: Collection[str]) -> MessageTemplate:
    pieces: list[str | tuple[str]] = []
    for found in TEMPLATE_PIECE.finditer(text):
        if found["stray"]:
            raise InvalidInput(field, text, "expected {name}, or {{ and }} for literal braces")
        if found["name"] is None:
            pieces.append(found["text"] or found["brace"][0])
        elif found["name"] in known:
            pieces.append((found["name"],))
        else:
            shown = f"{{{found['name']}}}"
            raise InvalidInput(
                field, shown, f"unknown name; known names: {', '.join(sorted(known))}"
            )
    return MessageTemplate(pieces=tuple(pieces))
