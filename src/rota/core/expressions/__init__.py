"""A small language for conditions and values: `steps.extract.result.rows > 100`.

Room: core/expressions. It serves the conditions and payloads of graphs and the filters of events.
A text is read once (`parse`), with the place of every mistake, and asked any number of times
(`evaluate`). It has no loops and reaches nothing but the JSON that is handed in; its length, its
depth and the steps of one evaluation are bounded. docs/adr/0017-graphs.md says why it is our own.
"""

from rota.core.expressions.evaluation import evaluate, is_true
from rota.core.expressions.nodes import Expression, Path
from rota.core.expressions.syntax import MOST_CHARACTERS, parse
from rota.core.expressions.values import Bound

__all__ = [
    "MOST_CHARACTERS",
    "Bound",
    "Expression",
    "Path",
    "evaluate",
    "is_true",
    "parse",
]
