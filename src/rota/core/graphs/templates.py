"""Compiles payload templates: `{"rows": {"$": "steps.extract.result.rows"}}`.

A template is compiled once; a part without placeholders is a constant and costs nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from rota.core.errors import VALUE_CHARACTERS_SHOWN, InvalidInput
from rota.core.expressions import EvaluationBudget, Expression, evaluate, parse_expression
from rota.core.secret_references import encode_payload

PLACEHOLDER_KEY: Final = "$"
GRAPH_EXPRESSION_CHARACTERS_MAX: Final = 100_000
# The minimum cost of an expression, because parsing a short one takes time, too.
EXPRESSION_COST_MIN: Final = 10


@dataclass(slots=True)
class ExpressionAllowance:
    """The characters of expressions that a graph may still contain. It limits the time to parse a
    graph, which blocks other requests. If `is_stored`, unknown fields are ignored.
    """

    left: int = GRAPH_EXPRESSION_CHARACTERS_MAX
    is_stored: bool = False

    def parse(self, text: object, *, names: Iterable[str], field: str) -> Expression:
        self.left -= max(len(text), EXPRESSION_COST_MIN) if isinstance(text, str) else 0
        if self.left < 0:
            wanted = (
                "the expressions of a graph may have at most "
                f"{GRAPH_EXPRESSION_CHARACTERS_MAX:,} characters in total"
            )
            raise InvalidInput(field, text, wanted)
        return parse_expression(text, names=names, field=field)


class LocatedExpression(NamedTuple):
    """An expression and its location in the document."""

    field: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class _Object:
    parts: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class _List:
    parts: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class PayloadTemplate:
    """A payload template: `raw` as given, `body` with its placeholders compiled."""

    raw: object
    body: object
    expressions: tuple[LocatedExpression, ...] = ()

    @property
    def is_constant(self) -> bool:
        return not self.expressions

    def fill(self, values: Mapping[str, object]) -> object:
        """Return the payload. Raises `ExpressionFailed` if a placeholder cannot be filled."""
        return self.raw if self.is_constant else _fill(self.body, values, EvaluationBudget())


EMPTY_TEMPLATE: Final = PayloadTemplate(None, None)


def compile_template(
    raw: object, *, names: Iterable[str], field: str, allowance: ExpressionAllowance | None = None
) -> PayloadTemplate:
    """Compile a payload. Errors in its JSON or expressions carry their path."""
    if raw is None:
        return EMPTY_TEMPLATE
    encode_payload(raw, field)
    compiling = _TemplateCompiler(field, tuple(names), allowance or ExpressionAllowance())
    body = compiling.compile(raw, ())
    return PayloadTemplate(raw, body, tuple(compiling.expressions))


class _TemplateCompiler:
    """Compiles one template. Paths are formatted only for errors: a key may be very long."""

    def __init__(self, field: str, names: tuple[str, ...], allowance: ExpressionAllowance) -> None:
        self._field = field
        self._names = names
        self._allowance = allowance
        self.expressions: list[LocatedExpression] = []

    def compile(self, raw: object, path: tuple[str | int, ...]) -> object:
        before = len(self.expressions)
        if isinstance(raw, dict):
            if PLACEHOLDER_KEY in raw:
                return self._place(raw, self._field + "".join(map(_format_path_part, path)))
            parts = [(key, self.compile(raw[key], (*path, key))) for key in raw]
            return _Object(tuple(parts)) if len(self.expressions) > before else raw
        if isinstance(raw, list | tuple):
            rows = [self.compile(item, (*path, place)) for place, item in enumerate(raw)]
            return _List(tuple(rows)) if len(self.expressions) > before else raw
        return raw

    def _place(self, raw: Mapping[str, object], field: str) -> Expression:
        if len(raw) > 1:
            wanted = f'"{PLACEHOLDER_KEY}" must be the only key: {{"{PLACEHOLDER_KEY}": "input.x"}}'
            raise InvalidInput(field, raw, wanted)
        place = f"{field}.{PLACEHOLDER_KEY}"
        expression = self._allowance.parse(raw[PLACEHOLDER_KEY], names=self._names, field=place)
        self.expressions.append(LocatedExpression(place, expression))
        return expression


def _format_path_part(part: str | int) -> str:
    return f"[{part}]" if isinstance(part, int) else f".{part[:VALUE_CHARACTERS_SHOWN]}"


def _fill(body: object, values: Mapping[str, object], bound: EvaluationBudget) -> object:
    if isinstance(body, _Object):
        return {key: _fill(part, values, bound) for key, part in body.parts}
    if isinstance(body, Expression):
        return evaluate(body, values, bound)
    if isinstance(body, _List):
        return [_fill(part, values, bound) for part in body.parts]
    return body
