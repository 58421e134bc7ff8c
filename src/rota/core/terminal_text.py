"""Makes text safe to print on a terminal.

Control characters can move the cursor, change the title, write links and inject input; other
characters reverse or hide text. Each of them is replaced by its JSON escape, so that text stays
readable and JSON stays valid.
"""

import re
from typing import Final

# C0 except tab and line feed, DEL and C1; direction marks; zero-width characters except the two
# that emoji and some scripts need; line and paragraph separators; tags; lone surrogates.
_UNSAFE: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\u200b\u2060-\u2065\ufeff"
    "\u2028\u2029"
    "\U000e0000-\U000e007f"
    "\ud800-\udfff"
)
UNSAFE_PATTERN: Final = re.compile(f"[{_UNSAFE}]")
# Select Graphic Rendition sequences: colours, bold, underline.
_COLOUR: Final = "\x1b\\[([0-9;:]{0,64})m"
COLOUR_PATTERN: Final = re.compile(_COLOUR)
UNSAFE_OR_COLOUR_PATTERN: Final = re.compile(f"{_COLOUR}|[{_UNSAFE}]")
CONCEAL_CODE: Final = 8
# Codes that begin a colour by number or by RGB parts, and how many parts follow.
EXTENDED_COLOUR_CODES: Final = frozenset({38, 48, 58})
EXTENDED_COLOUR_PARTS: Final = {5: 2, 2: 4}


def escape_controls(text: str, *, keep_colours: bool = False) -> str:
    """Replace every unsafe character by its escape. Tabs and line breaks stay.

    `keep_colours` keeps colour sequences, for output on a terminal; a sequence that conceals text
    is escaped.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    if not keep_colours:
        return UNSAFE_PATTERN.sub(lambda found: _escape(found[0]), text)
    return UNSAFE_OR_COLOUR_PATTERN.sub(_keep_or_escape, text)


def remove_colours(text: str) -> str:
    """Return the text without colour sequences, for output to a file or pipe."""
    return COLOUR_PATTERN.sub("", text)


def _keep_or_escape(found: re.Match[str]) -> str:
    if found[1] is None:
        return _escape(found[0])
    return _escape(found[0][0]) + found[0][1:] if _hides(found[1]) else found[0]


def _hides(parameters: str) -> bool:
    codes = [int(code or 0) for code in re.split("[;:]", parameters)]
    place = 0
    while place < len(codes):
        if codes[place] == CONCEAL_CODE:
            return True
        is_extended = codes[place] in EXTENDED_COLOUR_CODES and place + 1 < len(codes)
        place += 1 + (EXTENDED_COLOUR_PARTS.get(codes[place + 1], 0) if is_extended else 0)
    return False


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    pairs = (units[place : place + 2].hex() for place in range(0, len(units), 2))
    return "".join(f"\\u{pair}" for pair in pairs)
