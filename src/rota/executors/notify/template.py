"""Texts with names in braces: `{name}`, and `{{` for a brace itself. Room: executors/notify.

There is no more to it: no attributes, no formats, no expressions, and what was filled in is not
looked at again. A name that is not known is refused before anything is sent.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rota.core.errors import InvalidInput

PIECE = re.compile(r"(?P<brace>\{\{|\}\})|\{(?P<name>[^{}]*)\}|(?P<stray>[{}])|(?P<text>[^{}]+)")
NAME = re.compile(r"[a-z_][a-z0-9_]{0,63}", re.ASCII)
NAME_WANTED = "a name of a-z, 0-9 and _, beginning with a letter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Plain texts and names, alternating in any way; a name is a tuple of one."""

    pieces: tuple[str | tuple[str], ...]

    def size(self, lengths: Mapping[str, int]) -> int:
        """How long it becomes, without making it: a name may be repeated very often."""
        return sum(
            len(piece) if isinstance(piece, str) else lengths[piece[0]] for piece in self.pieces
        )

    def fill(self, values: Mapping[str, str]) -> str:
        return "".join(
            piece if isinstance(piece, str) else values[piece[0]] for piece in self.pieces
        )


def parse(text: str, *, field: str, known: Collection[str]) -> Template:
    pieces: list[str | tuple[str]] = []
    for found in PIECE.finditer(text):
        if found["stray"]:
            raise InvalidInput(field, text, "{name}, or {{ and }} for braces that are to be shown")
        if found["name"] is None:
            pieces.append(found["text"] or found["brace"][0])
        elif found["name"] in known:
            pieces.append((found["name"],))
        else:
            shown = f"{{{found['name']}}}"
            raise InvalidInput(field, shown, f"one of the names {', '.join(sorted(known))}")
    return Template(pieces=tuple(pieces))
