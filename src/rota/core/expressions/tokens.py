"""Splits the text of an expression into tokens with their positions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple

WORD: Final = re.compile(
    r"""
    (?P<space>[ \t\r\n]+)
    | (?P<number>[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<sign>==|!=|<=|>=|[<>+\-*/%.,()\[\]])
    """,
    re.VERBOSE | re.DOTALL,
)
MOST_NUMBER: Final = 1e64
ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
# Signs of other languages, and what to write instead.
MEANT: Final = {"=": "==", "&": "and", "|": "or", "!": "not", "$": "a name without $"}


@dataclass(eq=False)
class Unreadable(Exception):  # never leaves this package
    """A syntax error: what is expected, and at which position."""

    wanted: str
    at: int


class Sort(Enum):
    NUMBER = auto()
    NAME = auto()
    TEXT = auto()
    SIGN = auto()
    END = auto()


class Token(NamedTuple):
    sort: Sort
    value: object
    at: int


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text; the last one is the end."""
    place = 0
    while place < len(text):
        found = WORD.match(text, place)
        if found is None:
            raise Unreadable(_wanted(text[place]), place)
        if found.lastgroup != "space":
            yield _token(found)
        place = found.end()
    yield Token(Sort.END, None, len(text))


def _token(found: re.Match[str]) -> Token:
    word, at = found[0], found.start()
    match found.lastgroup:
        case "number":
            return Token(Sort.NUMBER, _number(word, at), at)
        case "name":
            return Token(Sort.NAME, word, at)
        case "text":
            return Token(Sort.TEXT, _unescaped(word[1:-1], at), at)
        case _:
            return Token(Sort.SIGN, word, at)


def _number(word: str, at: int) -> int | float:
    if word.isdigit():
        return int(word)
    number = float(word)
    if number > MOST_NUMBER:
        raise Unreadable("the number is too large", at)
    return number


def _unescaped(text: str, at: int) -> str:
    for found in ESCAPE.finditer(text):
        if found[1] not in ESCAPES:
            raise Unreadable("expected n, t, r, a quote or a backslash after a backslash", at)
    return ESCAPE.sub(lambda found: ESCAPES[found[1]], text)


def _wanted(char: str) -> str:
    if char in "\"'":
        return "expected a closing quote for this one"
    if char in MEANT:
        return f"use {MEANT[char]} instead of {char}"
    return "expected a number, a quoted string, a name or an operator"
