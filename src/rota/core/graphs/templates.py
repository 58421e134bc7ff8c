"""Payloads with places to fill: `{"rows": {"$": "steps.extract.result.rows"}}`. Room: core/graphs.

A template is compiled once: what has no places is a constant and costs nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from rota.core.binding import payload_text
from rota.core.errors import SHOWN, InvalidInput
from rota.core.expressions import Bound, Expression, evaluate, parse

PLACE: Final = "$"
MOST_WRITTEN: Final = 100_000
# A short one is work, too.
LEAST: Final = 10


@dataclass(slots=True)
class Allowance:
    """How much may still be written in expressions: reading them all is done while others wait.
    In a definition that `is_stored`, unknown fields are ignored.
    """

    left: int = MOST_WRITTEN
    is_stored: bool = False

    def parse(self, text: object, *, names: Iterable[str], field: str) -> Expression:
        self.left -= max(len(text), LEAST) if isinstance(text, str) else 0
        if self.left < 0:
            wanted = f"at most {MOST_WRITTEN:,} characters of expressions in a graph"
            raise InvalidInput(field, text, wanted)
        return parse(text, names=names, field=field)


class Placed(NamedTuple):
    """An expression and where it stands in what was handed in."""

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
    """`raw` is what was handed in, `body` the same with its places compiled."""

    raw: object
    body: object
    expressions: tuple[Placed, ...] = ()

    @property
    def is_constant(self) -> bool:
        return not self.expressions

    def fill(self, values: Mapping[str, object]) -> object:
        """The payload; `ExpressionFailed` if a place cannot be filled."""
        return self.raw if self.is_constant else _filled(self.body, values, Bound())


NOTHING: Final = Template(None, None)


def template(
    raw: object, *, names: Iterable[str], field: str, allowance: Allowance | None = None
) -> Template:
    """Compile a payload; wrong JSON and wrong expressions are refused with their path."""
    if raw is None:
        return NOTHING
    payload_text(raw, field)
    compiling = _Compiling(field, tuple(names), allowance or Allowance())
    body = compiling.body(raw, ())
    return Template(raw, body, tuple(compiling.found))


class _Compiling:
    """A path is written out only where it is told: a key may be as long as a payload."""

    def __init__(self, field: str, names: tuple[str, ...], allowance: Allowance) -> None:
        self._field = field
        self._names = names
        self._allowance = allowance
        self.found: list[Placed] = []

    def body(self, raw: object, path: tuple[str | int, ...]) -> object:
        before = len(self.found)
        if isinstance(raw, dict):
            if PLACE in raw:
                return self._place(raw, self._field + "".join(map(_written, path)))
            parts = [(key, self.body(raw[key], (*path, key))) for key in raw]
            return _Object(tuple(parts)) if len(self.found) > before else raw
        if isinstance(raw, list | tuple):
            rows = [self.body(each, (*path, place)) for place, each in enumerate(raw)]
            return _List(tuple(rows)) if len(self.found) > before else raw
        return raw

    def _place(self, raw: Mapping[str, object], field: str) -> Expression:
        if len(raw) > 1:
            wanted = f'an object with "{PLACE}" alone: {{"{PLACE}": "input.x"}}'
            raise InvalidInput(field, raw, wanted)
        place = f"{field}.{PLACE}"
        expression = self._allowance.parse(raw[PLACE], names=self._names, field=place)
        self.found.append(Placed(place, expression))
        return expression


def _written(part: str | int) -> str:
    return f"[{part}]" if isinstance(part, int) else f".{part[:SHOWN]}"


def _filled(body: object, values: Mapping[str, object], bound: Bound) -> object:
    if isinstance(body, _Object):
        return {key: _filled(part, values, bound) for key, part in body.parts}
    if isinstance(body, Expression):
        return evaluate(body, values, bound)
    if isinstance(body, _List):
        return [_filled(part, values, bound) for part in body.parts]
    return body
