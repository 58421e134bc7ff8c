"""Asks an expression for its value. Room: core/expressions.

Nothing but the values that are handed in can be reached: a path goes through objects and lists,
never through attributes. What cannot be done is an `ExpressionFailed` with its place.
"""

from collections.abc import Mapping
from typing import assert_never

from rota.core.errors import ExpressionFailed
from rota.core.expressions.arithmetic import calculated, negative
from rota.core.expressions.functions import FUNCTIONS
from rota.core.expressions.nodes import (
    Call,
    Chain,
    Expression,
    Link,
    Listing,
    Literal,
    Lookup,
    Negation,
    Node,
)
from rota.core.expressions.values import Bound, Failure, at_key, equal, inside, ordered, truth


def evaluate(
    expression: Expression, values: Mapping[str, object], bound: Bound | None = None
) -> object:
    """The value of an expression; `values` are what its names stand for."""
    return _Evaluation(expression.text, values, bound or Bound()).value(expression.root)


def is_true(expression: Expression, values: Mapping[str, object]) -> bool:
    return truth(evaluate(expression, values))


class _Evaluation:
    def __init__(self, text: str, values: Mapping[str, object], bound: Bound) -> None:
        self._text = text
        self._values = values
        self._bound = bound

    def value(self, node: Node) -> object:
        try:
            self._bound.pay(1)
            return self._value(node)
        except Failure as failure:
            raise ExpressionFailed(self._text, node.at, failure.reason) from None

    def _value(self, node: Node) -> object:
        match node:
            case Literal():
                return node.value
            case Lookup():
                return self._looked_up(node)
            case Chain():
                return self._chained(node)
            case Call():
                given = [self.value(argument) for argument in node.arguments]
                return FUNCTIONS[node.name].call(given, self._bound)
            case Negation():
                of = self.value(node.of)
                return not truth(of) if node.sign == "not" else negative(of)
            case Listing():
                return [self.value(part) for part in node.parts]
            case _:
                assert_never(node)

    def _looked_up(self, node: Lookup) -> object:
        found: object = self._values if node.of is None else self.value(node.of)
        for key in node.keys:
            found = at_key(found, key.value if isinstance(key, Literal) else self.value(key))
            if found is None:
                return None
        return found

    def _chained(self, node: Chain) -> object:
        found = self.value(node.first)
        for link in node.links:
            if link.sign in {"and", "or"}:
                # The rest is not asked when it cannot matter: exists(x) and len(x) > 3.
                if truth(found) is (link.sign == "or"):
                    return link.sign == "or"
                found = truth(self.value(link.node))
            else:
                found = self._linked(found, link)
        return found

    def _linked(self, left: object, link: Link) -> object:
        right = self.value(link.node)
        try:
            return self._done(left, link.sign, right)
        except Failure as failure:
            raise ExpressionFailed(self._text, link.at, failure.reason) from None

    def _done(self, left: object, sign: str, right: object) -> object:
        match sign:
            case "==":
                return equal(left, right, self._bound)
            case "!=":
                return not equal(left, right, self._bound)
            case "in":
                return inside(left, right, self._bound)
            case "not in":
                return not inside(left, right, self._bound)
            case "<" | "<=" | ">" | ">=":
                return ordered(left, sign, right)
            case _:
                return calculated(left, sign, right, self._bound)
