"""Reads one step of a graph, by itself. Room: core/graphs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rota.core import policy as policies
from rota.core.errors import SHOWN, ExpressionFailed, InvalidInput
from rota.core.expressions import Bound, Expression, evaluate
from rota.core.graphs.graph import (
    KIND,
    MOST_AT_ONCE,
    MOST_STEPS,
    POLICY,
    Map,
    Source,
    Tolerance,
    When,
)
from rota.core.graphs.scope import MEMBER_NAMES, NAMES
from rota.core.graphs.templates import NOTHING, Allowance, Placed, Template, template
from rota.core.priority import parse_priority
from rota.core.submission import check_name, within

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
WANTED_NAME: Final = "letters, digits, _ and -, a letter or _ first, at most 64 of them"
PERCENT: Final = re.compile(r"(\d{1,3}(?:\.\d{1,2})?)%", re.ASCII)
KNOWN: Final = (
    *("name", "kind", "needs", "when", "payload", "map", "graph", "may_fail"),
    *("queue", "priority", *POLICY),
)
IN_MAP: Final = ("over", "source", "tolerate", "at_once")
WHENS: Final = {choice.value: choice for choice in When}
MOST_COUNT: Final = 1_000_000
# What a condition may cost that reads nothing: it is asked while the graph is read.
CONSTANT: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A step that is right by itself. `expressions` says where each of its expressions stands."""

    path: str
    name: str
    kind: str
    needs: tuple[str, ...] = ()
    when: When | Expression = When.SUCCESS
    payload: Template = NOTHING
    map: Map | None = None
    graph: Any = None
    may_fail: bool = False
    queue: str | None = None
    priority: int | None = None
    policy: Mapping[str, object] = field(default_factory=dict)

    @property
    def expressions(self) -> list[Placed]:
        found = [*self.payload.expressions]
        if isinstance(self.when, Expression):
            found.append(Placed(f"{self.path}.when", self.when))
        if self.map is not None:
            found += _expressions(self.map, f"{self.path}.map")
        return found


def read_step(raw: Any, path: str, allowance: Allowance) -> Draft:
    """A step, as far as it can be judged without the others; a null is a field left out."""
    if not isinstance(raw, Mapping):
        raise InvalidInput(path, raw, "an object such as {name: a, kind: shell}")
    said = _known(raw, path, KNOWN, allowance)
    map_ = _map(said["map"], f"{path}.map", allowance) if "map" in said else None
    names = NAMES if map_ is None else MEMBER_NAMES
    return Draft(
        path=path,
        name=_name(said.get("name"), f"{path}.name"),
        kind=_kind(said, path),
        needs=_needs(said.get("needs", ()), f"{path}.needs"),
        when=_when(said, f"{path}.when", allowance),
        payload=template(
            said.get("payload"), names=names, field=f"{path}.payload", allowance=allowance
        ),
        map=map_,
        graph=said.get("graph"),
        may_fail=_flag(said.get("may_fail", False), f"{path}.may_fail"),
        queue=_text(said, "queue", path),
        priority=_priority(said.get("priority"), path),
        policy=_policy(said, path, allowance),
    )


def _expressions(map_: Map, path: str) -> list[Placed]:
    found: list[Placed] = []
    if isinstance(map_.over, Expression):
        found.append(Placed(f"{path}.over", map_.over))
    elif map_.over is not None:
        found += map_.over.expressions
    if map_.source is not None:
        found += map_.source.payload.expressions
    return found


def _known(
    raw: Mapping[Any, Any], path: str, known: tuple[str, ...], allowance: Allowance
) -> dict[str, Any]:
    for key in raw:
        if key not in known and not allowance.is_stored:
            field = f"{path}.{str(key)[:SHOWN]}"
            raise InvalidInput(field, raw[key], f"one of {', '.join(known)}")
    return {key: value for key, value in raw.items() if value is not None}


def _name(value: object, path: str) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise InvalidInput(path, value, WANTED_NAME)
    return value


def _kind(said: Mapping[str, Any], path: str) -> str:
    kind = said.get("kind")
    if "graph" in said:
        if kind not in {None, KIND}:
            raise InvalidInput(f"{path}.kind", kind, "no kind beside a graph")
        if "map" in said:
            raise InvalidInput(f"{path}.map", said["map"], "no map of a sub-graph")
        return KIND
    if kind == KIND:
        raise InvalidInput(f"{path}.kind", kind, "the sub-graph in the field graph")
    return check_name(kind, f"{path}.kind")


def _needs(value: object, path: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidInput(path, value, "a list of names of steps")
    if len(value) > MOST_STEPS:
        raise InvalidInput(path, f"{len(value)} steps", f"at most {MOST_STEPS}")
    seen: set[str] = set()
    for place, name in enumerate(value):
        if not isinstance(name, str):
            raise InvalidInput(f"{path}[{place}]", name, "the name of a step")
        if name in seen:
            raise InvalidInput(f"{path}[{place}]", name, "each step once")
        seen.add(name)
    return tuple(value)


def _when(said: Mapping[str, Any], path: str, allowance: Allowance) -> When | Expression:
    value = said.get("when", When.SUCCESS.value)
    choice = WHENS.get(value) if isinstance(value, str) else None
    if choice is When.FAILURE and not said.get("needs"):
        raise InvalidInput(path, value, "steps in needs that can fail, or it would never run")
    if choice is not None:
        return choice
    expression = allowance.parse(value, names=NAMES, field=path)
    if not expression.paths and not _is_true(expression):
        raise InvalidInput(path, value, "a condition that can be true, or it would never run")
    return expression


def _is_true(constant: Expression) -> bool:
    try:
        return bool(evaluate(constant, {}, Bound(CONSTANT)))
    except ExpressionFailed:
        return False


def _map(raw: object, path: str, allowance: Allowance) -> Map:
    if not isinstance(raw, Mapping):
        raise InvalidInput(path, raw, "an object such as {over: steps.list.result.files}")
    said = _known(raw, path, IN_MAP, allowance)
    if ("over" in said) == ("source" in said):
        raise InvalidInput(path, dict(raw), "either over or source")
    at_once = said.get("at_once")
    if at_once is not None and not _between(at_once, 1, MOST_AT_ONCE):
        raise InvalidInput(f"{path}.at_once", at_once, f"1 to {MOST_AT_ONCE} members")
    return Map(
        over=_over(said["over"], f"{path}.over", allowance) if "over" in said else None,
        source=_source(said["source"], f"{path}.source", allowance) if "source" in said else None,
        tolerate=_tolerance(said.get("tolerate", 0), f"{path}.tolerate"),
        at_once=at_once,
    )


def _over(value: object, path: str, allowance: Allowance) -> Expression | Template:
    """An expression for a list or a number, or the list or number itself."""
    if isinstance(value, str):
        return allowance.parse(value, names=NAMES, field=path)
    if isinstance(value, list | tuple) or _between(value, 0, MOST_COUNT):
        return template(value, names=NAMES, field=path, allowance=allowance)
    wanted = "an expression for a list or a number, a list, or a number up to 1,000,000"
    raise InvalidInput(path, value, wanted)


def _source(value: object, path: str, allowance: Allowance) -> Source:
    if not isinstance(value, Mapping):
        raise InvalidInput(path, value, "an object such as {kind: list.files}")
    said = _known(value, path, ("kind", "payload"), allowance)
    return Source(
        kind=check_name(said.get("kind"), f"{path}.kind"),
        payload=template(
            said.get("payload"), names=NAMES, field=f"{path}.payload", allowance=allowance
        ),
    )


def _tolerance(value: object, path: str) -> Tolerance:
    if isinstance(value, int) and _between(value, 0, MOST_COUNT):
        return Tolerance(count=value)
    found = PERCENT.fullmatch(value) if isinstance(value, str) else None
    if found is not None and float(found[1]) <= 100:
        return Tolerance(percent=float(found[1]))
    raise InvalidInput(path, value, "a number of members, or a share such as 5%")


def _between(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _flag(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(path, value, "true or false")
    return value


def _text(said: Mapping[str, Any], key: str, path: str) -> str | None:
    return check_name(said[key], f"{path}.{key}") if key in said else None


def _priority(value: object, path: str) -> int | None:
    if value is None:
        return None
    if not isinstance(value, str | int):
        raise InvalidInput(f"{path}.priority", value, "'high', 'normal', 'low', or 0 to 9")
    with within(path):
        return parse_priority(value)


def _policy(said: Mapping[str, Any], path: str, allowance: Allowance) -> Mapping[str, object]:
    """What is said of the policy, as it was written, if a policy can be made of it."""
    own = {key: said[key] for key in POLICY if key in said}
    if own:
        with within(path):
            (policies.read_stored if allowance.is_stored else policies.from_plain)(own)
    return own
