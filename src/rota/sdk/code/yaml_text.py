"""YAML as plain values, and where in the text each of them stands. Room: sdk/code.

YAML 1.2 where it differs from what PyYAML does: `on`, `no` and `yes` are words, `010` and `1:30`
are texts, times are texts; only true, false, null and plain numbers are anything else. A key that
comes twice is refused. Aliases are counted: a few lines must not become a billion values.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from rota.sdk.code.problems import FileRefused, Spot, Wrong

MOST_TEXT: Final = 5_000_000
MOST_VALUES: Final = 100_000
MOST_DEPTH: Final = 40
MERGE: Final = "<<"
WHOLE: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,63})", re.ASCII)
BROKEN: Final = re.compile(
    r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,2})?"
)
WORDS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
# The tag of a scalar that is not quoted and says nothing about what it is.
BARE: Final = "bare"
KNOWN_TAGS: Final = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "map", "seq"))

Path = tuple[str | int, ...]


class Text(NamedTuple):
    """A document: its value, and the spots of its keys and items by their paths."""

    value: Any
    spots: Mapping[Path, Spot]

    def spot(self, path: Path) -> Spot:
        """Where a path stands, or the nearest thing around it."""
        while path not in self.spots and path:
            path = path[:-1]
        return self.spots.get(path, Spot("", 1, 1))


class _Loader(yaml.SafeLoader):
    """Composes nodes only; what a scalar means is decided below."""

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        if kind is ScalarNode and implicit[0]:
            return BARE
        return str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]


def read(text: str, file: str) -> list[Text]:
    """All documents of a text; one that cannot be read refuses it."""
    if len(text) > MOST_TEXT:
        raise FileRefused([Wrong(Spot(file, 1, 1), f"a file has at most {MOST_TEXT:,} characters")])
    try:
        nodes = list(yaml.compose_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        spot = Spot(file, mark.line + 1, mark.column + 1) if mark else Spot(file, 1, 1)
        raise FileRefused([Wrong(spot, f"this is not YAML: {error.problem}")]) from None
    except (yaml.YAMLError, RecursionError) as error:
        said = str(error).splitlines()[0] if str(error) else "it is nested too deeply"
        raise FileRefused([Wrong(Spot(file, 1, 1), f"this is not YAML: {said}")]) from None
    return [_Reading(file).document(node) for node in nodes if node is not None]


class _Reading:
    def __init__(self, file: str) -> None:
        self._file = file
        self._spots: dict[Path, Spot] = {}
        self._values = 0

    def document(self, node: Node) -> Text:
        self._spots[()] = self._spot(node)
        return Text(self._value(node, ()), self._spots)

    def _spot(self, node: Node) -> Spot:
        return Spot(self._file, node.start_mark.line + 1, node.start_mark.column + 1)

    def _refuse(self, node: Node, said: str) -> FileRefused:
        return FileRefused([Wrong(self._spot(node), said)])

    def _value(self, node: Node, path: Path) -> Any:
        self._values += 1
        if self._values > MOST_VALUES:
            said = f"with its aliases the file has more than {MOST_VALUES:,} values"
            raise self._refuse(node, said)
        if len(path) > MOST_DEPTH:
            raise self._refuse(node, f"more than {MOST_DEPTH} levels")
        if node.tag not in KNOWN_TAGS and node.tag != BARE:
            raise self._refuse(node, f"the tag {node.tag[:80]!r} is not known")
        self._spots.setdefault(path, self._spot(node))
        match node:
            case MappingNode():
                return self._mapping(node, path)
            case SequenceNode():
                return [self._value(each, (*path, n)) for n, each in enumerate(node.value)]
            case ScalarNode():
                return node.value if node.tag != BARE else meaning(node.value)
            case _:
                raise self._refuse(node, "neither a text, a list nor an object")

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise self._refuse(key, "a key is a text")
            name = str(key.value)
            if name == MERGE and key.tag == BARE:
                merged = {**self._merged(value, path), **merged}
                continue
            if name in found:
                first = self._spots[(*path, name)].line
                raise self._refuse(key, f"{name[:80]!r} is here twice; first in line {first}")
            self._spots[(*path, name)] = self._spot(key)
            found[name] = self._value(value, (*path, name))
        return {**{key: value for key, value in merged.items() if key not in found}, **found}

    def _merged(self, node: Node, path: Path) -> dict[str, Any]:
        """What `<<: *other` brings: the first of several wins."""
        parts = node.value if isinstance(node, SequenceNode) else [node]
        found: dict[str, Any] = {}
        for part in reversed(parts):
            if not isinstance(part, MappingNode):
                raise self._refuse(part, f"{MERGE} takes an object, or a list of them")
            found |= self._mapping(part, (*path, MERGE))
            self._forget(path)
        return found

    def _forget(self, path: Path) -> None:
        """Spots of merged fields are kept as those of the fields, where there is no own one."""
        start = (*path, MERGE)
        for each in [each for each in self._spots if each[: len(start)] == start]:
            self._spots.setdefault((*path, *each[len(start) :]), self._spots.pop(each))


def meaning(text: str) -> Any:
    """What a scalar without quotes is."""
    if text in WORDS:
        return WORDS[text]
    if WHOLE.fullmatch(text):
        return int(text)
    if BROKEN.fullmatch(text):
        return float(text)
    return text
