"""Compiles payload templates: `{"rows": {"$": "steps.extract.result.rows"}}`.

A template is compiled once; a part without placeholders is a constant and costs nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from rota.core.binding import payload_text
from rota.core.errors import SHOWN, InvalidInput
from rota.core.expressions import Bound, Expression, evaluate, parse

PLACE: Final = "$"
MOST_WRITTEN: Final = 100_000
# The minimum cost of an expression, because parsing a short one takes time, too.
LEAST: Final = 10


@dataclass(slots=True)
class Allowance:
    """The characters of expressions that a graph may still contain. It limits the time to parse a
    graph, which blocks other requests. If `is_stored`, unknown fields are ignored.
    """

    left: int = MOST_WRITTEN
    is_stored: bool = False

    def parse(self, text: object, *, names: Iterable[str], field: str) -> Expression:
        self.left -= max(len(text), LEAST) if isinstance(text, str) else 0
        if self.left < 0:
            wanted = (
                f"the expressions of a graph may have at most {MOST_WRITTEN:,} characters in total"
            )
            raise InvalidInput(field, text, wanted)
        return parse(text, names=names, field=field)


class Placed(NamedTuple):
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
class Template:
    """A payload template: `raw` as given, `body` with its placeholders compiled."""

    raw: object
    body: object
    expressions: tuple[Placed, ...] = ()

    @property
    def is_constant(self) -> bool:
        return not self.expressions

    def fill(self, values: Mapping[str, object]) -> object:
        """Return the payload. Raises `ExpressionFailed` if a placeholder cannot be filled."""
        return self.raw if self.is_constant else _filled(self.body, values, Bound())


NOTHING: Final = Template(None, None)


def template(
    raw: object, *, names: Iterable[str], field: str, allowance: Allowance | None = None
) -> Template:
    """Compile a payload. Errors in its JSON or expressions carry their path."""
    if raw is None:
        return NOTHING
    payload_text(raw, field)
    compiling = _Compiling(field, tuple(names), allowance or Allowance())
    body = compiling.body(raw, ())
    return Template(raw, body, tuple(compiling.found))


class _Compiling:
    """Compiles one template. Paths are formatted only for errors: a key may be very long."""

    def __init__(self, field: str, names: tuple[str, ...], allowance: Allowance) -> None:
        self._field = field
        self._names = names
        self._allowance = allowance
        self.found: list[Placed] = []

    def body(self, raw: object, path: tuple[str | int, ...]) -> object:
        before = len(self.found)
        if isinstance(raw, dict):
            if PLACE in raw:
                return self._place(raw, self._field + "".join(map(_format_path_part, path)))
            parts = [(key, self.body(raw[key], (*path, key))) for key in raw]
            return _Object(tuple(parts)) if len(self.found) > before else raw
        if isinstance(raw, list | tuple):
            rows = [self.body(item, (*path, place)) for place, item in enumerate(raw)]
            return _List(tuple(rows)) if len(self.found) > before else raw
        return raw

    def _place(self, raw: Mapping[str, object], field: str) -> Expression:
        if len(raw) > 1:
            wanted = f'"{PLACE}" must be the only key: {{"{PLACE}": "input.x"}}'
            raise InvalidInput(field, raw, wanted)
        place = f"{field}.{PLACE}"
        expression = self._allowance.parse(raw[PLACE], names=self._names, field=place)
        self.found.append(Placed(place, expression))
        return expression


def _format_path_part(part: str | int) -> str:
    return f"[{part}]" if isinstance(part, int) else f".{part[:SHOWN]}"


def _filled(body: object, values: Mapping[str, object], bound: Bound) -> object:
    if isinstance(body, _Object):
        return {key: _filled(part, values, bound) for key, part in body.parts}
    if isinstance(body, Expression):
        return evaluate(body, values, bound)
    if isinstance(body, _List):
        return [_filled(part, values, bound) for part in body.parts]
    return body
