"""Evaluates expressions.

An expression can access only the values passed in: a path goes through objects and lists, never
through attributes. A failing operation raises `ExpressionFailed` with its position.
"""

from collections.abc import Mapping
from typing import assert_never

from rota.core.errors import ExpressionFailed
from rota.core.expressions.arithmetic import calculate, negate
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
)
from rota.core.expressions.values import (
    EvaluationBudget,
    EvaluationFailure,
    are_equal,
    compare,
    is_inside,
    is_truthy,
    look_up_key,
)


def evaluate(
    expression: Expression, values: Mapping[str, object], budget: EvaluationBudget | None = None
) -> object:
    """Return the value of an expression; `values` maps its names to values."""
    return _Evaluation(expression.text, values, budget or EvaluationBudget()).value(expression.root)


def is_true(expression: Expression, values: Mapping[str, object]) -> bool:
    return is_truthy(evaluate(expression, values))


class _Evaluation:
    def __init__(self, text: str, values: Mapping[str, object], bound: EvaluationBudget) -> None:
        self._text = text
        self._values = values
        self._bound = bound

    def value(self, node: Node) -> object:
        try:
            self._bound.spend(1)
            return self._value(node)
        except EvaluationFailure as failure:
            raise ExpressionFailed(self._text, node.at, failure.reason) from None

    def _value(self, node: Node) -> object:
        match node:
            case Literal():
                return node.value
            case Lookup():
                return self._look_up(node)
            case Chain():
                return self._evaluate_chain(node)
            case FunctionCall():
                arguments = [self.value(argument) for argument in node.arguments]
                return FUNCTIONS[node.name].call(arguments, self._bound)
            case Negation():
                operand = self.value(node.operand)
                return not is_truthy(operand) if node.sign == "not" else negate(operand)
            case ListLiteral():
                return [self.value(part) for part in node.parts]
            case _:
                assert_never(node)

    def _look_up(self, node: Lookup) -> object:
        found: object = self._values if node.base is None else self.value(node.base)
        for key in node.keys:
            found = look_up_key(found, key.value if isinstance(key, Literal) else self.value(key))
            if found is None:
                return None
        return found

    def _evaluate_chain(self, node: Chain) -> object:
        found = self.value(node.first)
        for link in node.links:
            if link.sign in {"and", "or"}:
                # Short-circuit: exists(x) and len(x) > 3.
                if is_truthy(found) is (link.sign == "or"):
                    return link.sign == "or"
                found = is_truthy(self.value(link.node))
            else:
                found = self._apply_link(found, link)
        return found

    def _apply_link(self, left: object, link: ChainLink) -> object:
        right = self.value(link.node)
        try:
            return self._apply(left, link.sign, right)
        except EvaluationFailure as failure:
            raise ExpressionFailed(self._text, link.at, failure.reason) from None

    def _apply(self, left: object, sign: str, right: object) -> object:
        match sign:
            case "==":
                return are_equal(left, right, self._bound)
            case "!=":
                return not are_equal(left, right, self._bound)
            case "in":
                return is_inside(left, right, self._bound)
            case "not in":
                return not is_inside(left, right, self._bound)
            case "<" | "<=" | ">" | ">=":
                return compare(left, sign, right)
            case _:
                return calculate(left, sign, right, self._bound)
