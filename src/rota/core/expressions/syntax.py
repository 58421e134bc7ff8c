"""Parses expressions with this grammar.

or          and ("or" and)*
and         not ("and" not)*
not         "not" not | comparison
comparison  sum (("==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in") sum)?
sum         product (("+" | "-") product)*
product     unary (("*" | "/" | "%") unary)*
unary       "-" unary | primary ("." name | "[" or "]")*
primary     number | text | true | false | null | name | name "(" or, … ")" |
"[" or, … "]" | "(" or ")"
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from rota.core.errors import InvalidExpression
from rota.core.expressions.functions import FUNCTIONS
from rota.core.expressions.nodes import (
    Chain,
    ChainLink,
    Expression,
    FunctionCall,
    ListLiteral,
    Literal,
    Lookup,
    Negation,
    Node,
    ReadPath,
)
from rota.core.expressions.tokens import ExpressionSyntaxError, Token, TokenKind, iterate_tokens

EXPRESSION_LENGTH_MAX: Final = 2_000
BRACKET_DEPTH_MAX: Final = 20
CONSTANTS: Final = {"true": True, "false": False, "null": None}
RESERVED_WORDS: Final = frozenset({"and", "or", "not", "in", *CONSTANTS})
COMPARISON_OPERATORS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not in"})
REGEX_FUNCTION_NAMES: Final = frozenset({"matches", "regex", "match", "search"})


def parse_expression(
    text: object, *, names: Iterable[str], field: str = "expression"
) -> Expression:
    """Parse an expression over these names. Raises `InvalidExpression` with the position."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidExpression(field, text, "expected an expression such as input.count > 3", 0)
    if len(text) > EXPRESSION_LENGTH_MAX:
        wanted = f"must have at most {EXPRESSION_LENGTH_MAX} characters"
        raise InvalidExpression(field, text, wanted, EXPRESSION_LENGTH_MAX)
    if "\x00" in text:
        raise InvalidExpression(field, text, "must not contain NUL characters", text.index("\x00"))
    try:
        return _parsed(text, tuple(names))
    except ExpressionSyntaxError as found:
        wanted = f"at character {found.at + 1}: {found.message}"
        raise InvalidExpression(field, text, wanted, found.at) from None


@lru_cache(maxsize=4096)
def _parsed(text: str, names: tuple[str, ...]) -> Expression:
    reader = _Reader(text, names)
    root = reader.whole()
    return Expression(text, root, tuple(reader.paths))


class _Reader:
    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        self._names = names
        self._tokens = list(iterate_tokens(text))
        self._place = 0
        self._depth = 0
        self.paths: list[ReadPath] = []

    def whole(self) -> Node:
        node = self._either()
        if self._next.kind is not TokenKind.END:
            raise self._refusal("expected an operator such as and, or, == or +, or the end")
        return node

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _refusal(self, wanted: str, at: int | None = None) -> ExpressionSyntaxError:
        return ExpressionSyntaxError(wanted, self._next.at if at is None else at)

    def _is(self, *words: str) -> bool:
        token = self._next
        return token.kind in {TokenKind.SIGN, TokenKind.NAME} and token.value in words

    def _take(self) -> Token:
        token = self._next
        self._place += 1
        return token

    def _expect(self, sign: str) -> None:
        if not self._is(sign):
            raise self._refusal(f"expected {sign}")
        self._place += 1

    def _either(self) -> Node:
        self._depth += 1
        if self._depth > BRACKET_DEPTH_MAX:
            raise self._refusal(f"expected at most {BRACKET_DEPTH_MAX} levels of brackets")
        first = self._both()
        links = []
        while self._is("or"):
            sign = self._take()
            links.append(ChainLink("or", self._both(), sign.at))
        self._depth -= 1
        return _chain(first, links)

    def _both(self) -> Node:
        first = self._not()
        links = []
        while self._is("and"):
            sign = self._take()
            links.append(ChainLink("and", self._not(), sign.at))
        return _chain(first, links)

    def _not(self) -> Node:
        signs = []
        while self._is("not"):
            signs.append(self._take())
        node = self._comparison()
        # Any number of signs is equivalent to one or two, which keeps the tree shallow.
        for sign in _reduce_signs(signs):
            node = Negation("not", node, sign.at)
        return node

    def _comparison(self) -> Node:
        first = self._sum()
        sign = self._sign()
        if sign is None:
            return first
        link = ChainLink(str(sign.value), self._sum(), sign.at)
        if self._is(*COMPARISON_OPERATORS):
            raise self._refusal("comparisons cannot be chained; write a < b and b < c")
        return Chain(first, (link,), first.at)

    def _sign(self) -> Token | None:
        if self._is("not"):
            token = self._take()
            self._expect("in")
            return token._replace(value="not in")
        return self._take() if self._is(*COMPARISON_OPERATORS) else None

    def _sum(self) -> Node:
        first = self._product()
        links = []
        while self._is("+", "-"):
            sign = self._take()
            links.append(ChainLink(str(sign.value), self._product(), sign.at))
        return _chain(first, links)

    def _product(self) -> Node:
        first = self._unary()
        links = []
        while self._is("*", "/", "%"):
            sign = self._take()
            links.append(ChainLink(str(sign.value), self._unary(), sign.at))
        return _chain(first, links)

    def _unary(self) -> Node:
        signs = []
        while self._is("-"):
            signs.append(self._take())
        node = self._value()
        for sign in _reduce_signs(signs):
            node = Negation("-", node, sign.at)
        return node

    def _value(self) -> Node:
        token = self._next
        is_name = token.kind is TokenKind.NAME and token.value not in RESERVED_WORDS
        if is_name and self._tokens[self._place + 1][:2] == (TokenKind.SIGN, "("):
            return self._with_keys(self._call(), token.at)
        if is_name:
            return self._path()
        return self._with_keys(self._primary(), token.at)

    def _primary(self) -> Node:
        token = self._next
        if token.kind in {TokenKind.NUMBER, TokenKind.TEXT}:
            return Literal(self._take().value, token.at)
        if token.kind is TokenKind.NAME and token.value in CONSTANTS:
            return Literal(CONSTANTS[str(self._take().value)], token.at)
        if self._is("("):
            self._take()
            node = self._either()
            self._expect(")")
            return node
        if self._is("["):
            self._take()
            return ListLiteral(self._parts("]"), token.at)
        raise self._refusal("expected a value: a number, a string, a name, a list or a bracket")

    def _parts(self, end: str) -> tuple[Node, ...]:
        parts: list[Node] = []
        while not self._is(end):
            if parts:
                self._expect(",")
            parts.append(self._either())
        self._take()
        return tuple(parts)

    def _call(self) -> Node:
        token = self._take()
        name = str(token.value)
        function = FUNCTIONS.get(name)
        if name in REGEX_FUNCTION_NAMES:
            raise self._refusal(
                "regular expressions are not supported; use like() with * and ?", token.at
            )
        if function is None:
            raise self._refusal(
                f"unknown function; known functions: {', '.join(FUNCTIONS)}", token.at
            )
        self._take()
        arguments = self._parts(")")
        if not function.min_arguments <= len(arguments) <= function.max_arguments:
            raise self._refusal(f"{name} takes {function.arity}", token.at)
        return FunctionCall(name, arguments, token.at)

    def _path(self) -> Node:
        token = self._take()
        if token.value not in self._names:
            raise self._refusal(f"unknown name; known names: {', '.join(self._names)}", token.at)
        keys = (Literal(token.value, token.at), *self._keys())
        self._record_path(keys)
        return Lookup(None, keys, token.at)

    def _with_keys(self, node: Node, at: int) -> Node:
        keys = self._keys()
        return Lookup(node, keys, at) if keys else node

    def _keys(self) -> tuple[Node, ...]:
        keys: list[Node] = []
        while self._is(".", "["):
            if self._take().value == "[":
                keys.append(self._either())
                self._expect("]")
                continue
            token = self._take()
            if token.kind is not TokenKind.NAME:
                wanted = 'expected a name after the dot; use brackets for other keys: a["x-y"]'
                raise self._refusal(wanted, token.at)
            keys.append(Literal(token.value, token.at))
        return tuple(keys)

    def _record_path(self, keys: tuple[Node, ...]) -> None:
        """Record the path that is read, up to the first key that depends on a value."""
        constant: list[str | int] = []
        for key in keys:
            if not isinstance(key, Literal) or not isinstance(key.value, str | int):
                break
            constant.append(key.value)
        self.paths.append(ReadPath(tuple(constant), keys[0].at, len(constant) < len(keys)))


def _chain(first: Node, links: list[ChainLink]) -> Node:
    return Chain(first, tuple(links), first.at) if links else first


def _reduce_signs(signs: list[Token]) -> list[Token]:
    return signs[-2 + len(signs) % 2 :]
