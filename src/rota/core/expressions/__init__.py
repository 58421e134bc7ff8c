"""Implements a small language for conditions and values: `steps.extract.result.rows > 100`.

Graphs use it for conditions and payloads, triggers for filters. `parse` reads a text once and
reports the position of each error; `evaluate` computes its value any number of times. The language
has no loops and can access only the JSON values passed in. The length and depth of an expression
and the steps of one evaluation are limited. docs/adr/0017-graphs.md explains why Rota has its own.
"""

from rota.core.expressions.evaluation import evaluate, is_true
from rota.core.expressions.nodes import Expression, ReadPath
from rota.core.expressions.syntax import EXPRESSION_LENGTH_MAX, parse_expression
from rota.core.expressions.values import EvaluationBudget

__all__ = [
    "EXPRESSION_LENGTH_MAX",
    "EvaluationBudget",
    "Expression",
    "ReadPath",
    "evaluate",
    "is_true",
    "parse_expression",
]
