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

from rota.sdk.jobs_as_code.problems import FilePosition, FileProblem, InvalidFile

FILE_CHARACTERS_MAX: Final = 5_000_000
FILE_VALUES_MAX: Final = 100_000
NESTING_MAX: Final = 40
MERGE_KEY: Final = "<<"
INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,63})", re.ASCII)
DECIMAL: Final = re.compile(
    r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,2})?"
)
KEYWORDS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
# The tag of a scalar without quotes and without an explicit tag.
PLAIN_SCALAR_TAG: Final = "bare"
KNOWN_TAGS: Final = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "map", "seq"))

ValuePath = tuple[str | int, ...]


class YamlDocument(NamedTuple):
    """A document: its value, and the positions of its keys and items by path."""

    value: Any
    positions: Mapping[ValuePath, FilePosition]

    def find_position(self, path: ValuePath) -> FilePosition:
        """The position of a path, or of its nearest known parent."""
        while path not in self.positions and path:
            path = path[:-1]
        return self.positions.get(path, FilePosition("", 1, 1))


class _Loader(yaml.SafeLoader):
    """Composes nodes only; `meaning` decides the type of a scalar."""

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        if kind is ScalarNode and implicit[0]:
            return PLAIN_SCALAR_TAG
        return str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]


def read_documents(text: str, file: str) -> list[YamlDocument]:
    """Read all documents of a text. Raises `InvalidFile` if one cannot be read."""
    if len(text) > FILE_CHARACTERS_MAX:
        message = f"the file has {len(text):,} characters; the limit is {FILE_CHARACTERS_MAX:,}"
        raise InvalidFile([FileProblem(FilePosition(file, 1, 1), message)])
    try:
        nodes = list(yaml.compose_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        spot = (
            FilePosition(file, mark.line + 1, mark.column + 1) if mark else FilePosition(file, 1, 1)
        )
        raise InvalidFile([FileProblem(spot, f"invalid YAML: {error.problem}")]) from None
    except (yaml.YAMLError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise InvalidFile(
            [FileProblem(FilePosition(file, 1, 1), f"invalid YAML: {reason}")]
        ) from None
    return [_DocumentReader(file).document(node) for node in nodes if node is not None]


class _DocumentReader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._spots: dict[ValuePath, FilePosition] = {}
        self._values = 0

    def document(self, node: Node) -> YamlDocument:
        self._spots[()] = self._spot(node)
        return YamlDocument(self._value(node, ()), self._spots)

    def _spot(self, node: Node) -> FilePosition:
        return FilePosition(self._file, node.start_mark.line + 1, node.start_mark.column + 1)

    def _refuse(self, node: Node, message: str) -> InvalidFile:
        return InvalidFile([FileProblem(self._spot(node), message)])

    def _value(self, node: Node, path: ValuePath) -> Any:
        self._values += 1
        if self._values > FILE_VALUES_MAX:
            message = (
                f"the file, with its aliases expanded, has more than {FILE_VALUES_MAX:,} values"
            )
            raise self._refuse(node, message)
        if len(path) > NESTING_MAX:
            raise self._refuse(node, f"nested too deeply; the limit is {NESTING_MAX} levels")
        if node.tag not in KNOWN_TAGS and node.tag != PLAIN_SCALAR_TAG:
            raise self._refuse(node, f"unknown tag {node.tag[:80]!r}")
        self._spots.setdefault(path, self._spot(node))
        match node:
            case MappingNode():
                return self._mapping(node, path)
            case SequenceNode():
                return [self._value(item, (*path, n)) for n, item in enumerate(node.value)]
            case ScalarNode():
                return node.value if node.tag != PLAIN_SCALAR_TAG else resolve_scalar(node.value)
            case _:
                raise self._refuse(node, "expected a scalar, a list or an object")

    def _mapping(self, node: MappingNode, path: ValuePath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise self._refuse(key, "a key must be a string")
            name = str(key.value)
            if name == MERGE_KEY and key.tag == PLAIN_SCALAR_TAG:
                merged = {**self._merge(value, path), **merged}
                continue
            if name in found:
                first = self._spots[(*path, name)].line
                raise self._refuse(key, f"duplicate key {name[:80]!r}; first in line {first}")
            self._spots[(*path, name)] = self._spot(key)
            found[name] = self._value(value, (*path, name))
        return {**{key: value for key, value in merged.items() if key not in found}, **found}

    def _merge(self, node: Node, path: ValuePath) -> dict[str, Any]:
        """The fields that `<<: *other` adds: the first of several wins."""
        parts = node.value if isinstance(node, SequenceNode) else [node]
        found: dict[str, Any] = {}
        for part in reversed(parts):
            if not isinstance(part, MappingNode):
                raise self._refuse(part, f"{MERGE_KEY} needs an object, or a list of objects")
            found |= self._mapping(part, (*path, MERGE_KEY))
            self._adopt_spots(path)
        return found

    def _adopt_spots(self, path: ValuePath) -> None:
        """Use the positions of merged fields for the fields that have no position of their own."""
        start = (*path, MERGE_KEY)
        for merged in [spot for spot in self._spots if spot[: len(start)] == start]:
            self._spots.setdefault((*path, *merged[len(start) :]), self._spots.pop(merged))


def resolve_scalar(text: str) -> Any:
    """The value of a scalar without quotes."""
    if text in KEYWORDS:
        return KEYWORDS[text]
    if INTEGER.fullmatch(text):
        return int(text)
    if DECIMAL.fullmatch(text):
        return float(text)
    return text
