"""Splits the text of an expression into tokens with their positions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple

TOKEN_PATTERN: Final = re.compile(
    r"""
    (?P<space>[ \t\r\n]+)
    | (?P<number>[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<sign>==|!=|<=|>=|[<>+\-*/%.,()\[\]])
    """,
    re.VERBOSE | re.DOTALL,
)
LITERAL_NUMBER_MAX: Final = 1e64
ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
# Signs of other languages, and what to write instead.
FOREIGN_SIGNS: Final = {"=": "==", "&": "and", "|": "or", "!": "not", "$": "a name without $"}


@dataclass(eq=False)
class ExpressionSyntaxError(Exception):  # never leaves this package
    """A syntax error: what is expected, and at which position."""

    message: str
    at: int


class TokenKind(Enum):
    NUMBER = auto()
    NAME = auto()
    TEXT = auto()
    SIGN = auto()
    END = auto()


class Token(NamedTuple):
    kind: TokenKind
    value: object
    at: int


def iterate_tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text; the last one is the end."""
    place = 0
    while place < len(text):
        found = TOKEN_PATTERN.match(text, place)
        if found is None:
            raise ExpressionSyntaxError(_explain_character(text[place]), place)
        if found.lastgroup != "space":
            yield _token(found)
        place = found.end()
    yield Token(TokenKind.END, None, len(text))


def _token(found: re.Match[str]) -> Token:
    word, at = found[0], found.start()
    match found.lastgroup:
        case "number":
            return Token(TokenKind.NUMBER, _number(word, at), at)
        case "name":
            return Token(TokenKind.NAME, word, at)
        case "text":
            return Token(TokenKind.TEXT, _unescaped(word[1:-1], at), at)
        case _:
            return Token(TokenKind.SIGN, word, at)


def _number(word: str, at: int) -> int | float:
    if word.isdigit():
        return int(word)
    number = float(word)
    if number > LITERAL_NUMBER_MAX:
        raise ExpressionSyntaxError("the number is too large", at)
    return number


def _unescaped(text: str, at: int) -> str:
    for found in ESCAPE.finditer(text):
        if found[1] not in ESCAPES:
            raise ExpressionSyntaxError(
                "expected n, t, r, a quote or a backslash after a backslash", at
            )
    return ESCAPE.sub(lambda found: ESCAPES[found[1]], text)


def _explain_character(char: str) -> str:
    if char in "\"'":
        return "expected a closing quote for this one"
    if char in FOREIGN_SIGNS:
        return f"use {FOREIGN_SIGNS[char]} instead of {char}"
    return "expected a number, a quoted string, a name or an operator"
