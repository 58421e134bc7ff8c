"""Reads YAML as plain values with the position of each value in the text.

Follows YAML 1.2 where PyYAML differs: `on`, `no`, `yes`, `010`, `1:30` and times are strings; only
true, false, null and plain numbers have other types. A duplicate key is an error. Values behind
aliases are counted, so that a few lines cannot expand to a billion values.
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
# The tag of a scalar without quotes and without an explicit tag.
BARE: Final = "bare"
KNOWN_TAGS: Final = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "map", "seq"))

Path = tuple[str | int, ...]


class Text(NamedTuple):
    """A document: its value, and the positions of its keys and items by path."""

    value: Any
    spots: Mapping[Path, Spot]

    def spot(self, path: Path) -> Spot:
        """The position of a path, or of its nearest known parent."""
        while path not in self.spots and path:
            path = path[:-1]
        return self.spots.get(path, Spot("", 1, 1))


class _Loader(yaml.SafeLoader):
    """Composes nodes only; `meaning` decides the type of a scalar."""

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        if kind is ScalarNode and implicit[0]:
            return BARE
        return str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]


def read(text: str, file: str) -> list[Text]:
    """Read all documents of a text. Raises `FileRefused` if one cannot be read."""
    if len(text) > MOST_TEXT:
        message = f"the file has {len(text):,} characters; the limit is {MOST_TEXT:,}"
        raise FileRefused([Wrong(Spot(file, 1, 1), message)])
    try:
        nodes = list(yaml.compose_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        spot = Spot(file, mark.line + 1, mark.column + 1) if mark else Spot(file, 1, 1)
        raise FileRefused([Wrong(spot, f"invalid YAML: {error.problem}")]) from None
    except (yaml.YAMLError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise FileRefused([Wrong(Spot(file, 1, 1), f"invalid YAML: {reason}")]) from None
    return [_DocumentReader(file).document(node) for node in nodes if node is not None]


class _DocumentReader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._spots: dict[Path, Spot] = {}
        self._values = 0

    def document(self, node: Node) -> Text:
        self._spots[()] = self._spot(node)
        return Text(self._value(node, ()), self._spots)

    def _spot(self, node: Node) -> Spot:
        return Spot(self._file, node.start_mark.line + 1, node.start_mark.column + 1)

    def _refuse(self, node: Node, message: str) -> FileRefused:
        return FileRefused([Wrong(self._spot(node), message)])

    def _value(self, node: Node, path: Path) -> Any:
        self._values += 1
        if self._values > MOST_VALUES:
            message = f"the file, with its aliases expanded, has more than {MOST_VALUES:,} values"
            raise self._refuse(node, message)
        if len(path) > MOST_DEPTH:
            raise self._refuse(node, f"nested too deeply; the limit is {MOST_DEPTH} levels")
        if node.tag not in KNOWN_TAGS and node.tag != BARE:
            raise self._refuse(node, f"unknown tag {node.tag[:80]!r}")
        self._spots.setdefault(path, self._spot(node))
        match node:
            case MappingNode():
                return self._mapping(node, path)
            case SequenceNode():
                return [self._value(item, (*path, n)) for n, item in enumerate(node.value)]
            case ScalarNode():
                return node.value if node.tag != BARE else meaning(node.value)
            case _:
                raise self._refuse(node, "expected a scalar, a list or an object")

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise self._refuse(key, "a key must be a string")
            name = str(key.value)
            if name == MERGE and key.tag == BARE:
                merged = {**self._merge(value, path), **merged}
                continue
            if name in found:
                first = self._spots[(*path, name)].line
                raise self._refuse(key, f"duplicate key {name[:80]!r}; first in line {first}")
            self._spots[(*path, name)] = self._spot(key)
            found[name] = self._value(value, (*path, name))
        return {**{key: value for key, value in merged.items() if key not in found}, **found}

    def _merge(self, node: Node, path: Path) -> dict[str, Any]:
        """The fields that `<<: *other` adds: the first of several wins."""
        parts = node.value if isinstance(node, SequenceNode) else [node]
        found: dict[str, Any] = {}
        for part in reversed(parts):
            if not isinstance(part, MappingNode):
                raise self._refuse(part, f"{MERGE} needs an object, or a list of objects")
            found |= self._mapping(part, (*path, MERGE))
            self._adopt_spots(path)
        return found

    def _adopt_spots(self, path: Path) -> None:
        """Use the positions of merged fields for the fields that have no position of their own."""
        start = (*path, MERGE)
        for merged in [spot for spot in self._spots if spot[: len(start)] == start]:
            self._spots.setdefault((*path, *merged[len(start) :]), self._spots.pop(merged))


def meaning(text: str) -> Any:
    """The value of a scalar without quotes."""
    if text in WORDS:
        return WORDS[text]
    if WHOLE.fullmatch(text):
        return int(text)
    if BROKEN.fullmatch(text):
        return float(text)
    return text
