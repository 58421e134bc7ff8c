"""Renders the operations and data types of rota.sdk.client from the catalogue of the API.

The SDK must not import the API, so that job authors need not install the API's dependencies. So its
methods are generated, each with the types and descriptions of the operation that it calls. The
methods that follow streams are written by hand (sdk/client/sync_client.py).
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct, UnsetType
from msgspec.structs import FieldInfo
from tools.reference import field_tables as words
from tools.reference.api_page import capitalize_tag, sort_operations

from rota.api.operations import Operation
from rota.api.paging import ListPage
from rota.api.schemas import cluster, jobs, runs, schedules, statistics, tenancy

MODULES: Final[tuple[ModuleType, ...]] = (cluster, jobs, runs, schedules, statistics, tenancy)
STREAM: Final = "text/event-stream"
WIDTH: Final = 100
# The names of response fields that hold times. Fields of a schedule stay strings, as written.
MOMENTS: Final = re.compile(r".*(_at|_time|_seen|_since)|at|since|now|start")
NOT_MOMENTS: Final = frozenset({"schedule_time"})
# POST operations that change nothing; they can be repeated without a key.
READS: Final = frozenset({"plan_manifest", "preview_schedule"})
# Response fields that hold a secret. To answer a repeated request, the API would have to store it.
SECRETS: Final = frozenset({"key"})
PLAIN: Final = {str: "str", int: "int", float: "float", bool: "bool", NoneType: "None", Any: "Any"}
HEAD: Final = """\
\"\"\"{sign}

Rendered from src/rota/api by `make generate`; do not edit.
\"\"\"
"""
# The API decides about the names and number of arguments.
RULES: Final = "\n# ruff: noqa: A002, D417, PLR0913"


def shapes_py(operations: Sequence[Operation]) -> str:
    """Render the types of responses and of the parts of request bodies."""
    shapes = Shapes()
    for operation in operations:
        if operation.answer is not None:
            shapes.answer(operation.answer)
        if operation.body is not None:
            shapes.body(operation.body)
    return shapes.render()


def operations_py(operations: Sequence[Operation]) -> str:
    """Render each operation once; both clients build their methods from it."""
    return Methods().render(operations)


def shaped(text: str) -> str:
    """Format with `ruff format`, because the same checks apply to generated code."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", "rendered.py", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def called(operations: Sequence[Operation]) -> list[Operation]:
    """The operations that become methods, in the order of the reference page. Operations with a
    signature instead of a key are called by other systems and left out.
    """
    others = [
        each.name
        for each in operations
        if each.is_hook or (each.read is not None and each.body is None)
    ]
    found = sort_operations(operations)
    return [each for each in found if each.media != STREAM and each.name not in others]


# Types


def aliases() -> dict[str, Any]:
    """The API's type aliases for choices and unions."""
    found: dict[str, Any] = {}
    for module in MODULES:
        for name, value in vars(module).items():
            if get_origin(value) in {Literal, Union, UnionType} and not name.startswith("_"):
                found.setdefault(name, value)
    return found


ALIASES: Final = aliases()


@dataclass
class Spelling:
    """Writes type annotations for arguments and for responses; collects the names used."""

    used: set[str] = field(default_factory=set)

    def argument(self, annotation: Any) -> str:
        return " | ".join(dict.fromkeys(self._options(annotation)))

    def _options(self, annotation: Any) -> Iterator[str]:
        origin, inner = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            forms = [
                words.FORMAT_NAMES[id(meta)] for meta in inner[1:] if id(meta) in words.FORMAT_NAMES
            ]
            yield from (
                [self.use({"time": "Moment", "duration": "Duration"}[forms[0]])]
                if (forms)
                else self._options(inner[0])
            )
        elif origin in {Union, UnionType}:
            yield from self._union(list(inner))
        elif origin is Literal:
            yield self._literal(annotation)
        elif origin is list:
            yield f"Sequence[{self.argument(inner[0])}]"
        elif origin is dict:
            yield f"Mapping[str, {self.argument(inner[1])}]"
        elif is_struct(annotation):
            yield from (self.use(annotation.__name__), "Mapping[str, Any]")
        elif annotation is not UnsetType:
            yield PLAIN[annotation]

    def _union(self, inner: list[Any]) -> Iterator[str]:
        for name, value in ALIASES.items():
            whole = get_args(value)
            if get_origin(value) is not Literal and all(each in inner for each in whole):
                yield self.use(name)
                inner = [each for each in inner if each not in whole]
        # None comes last, by convention.
        for each in sorted(inner, key=lambda each: each is NoneType):
            yield from self._options(each)

    def _literal(self, annotation: Any) -> str:
        for name, value in ALIASES.items():
            if value == annotation:
                return self.use(name)
        return "Literal[" + ", ".join(map(repr, get_args(annotation))) + "]"

    def answer(self, annotation: Any, name: str = "") -> str:
        origin, inner = get_origin(annotation), get_args(annotation)
        if is_list_of_all(annotation):
            origin, inner = ListPage, get_args(msgspec.structs.fields(annotation)[0].type)
        if origin is Annotated:
            return self.answer(inner[0], name)
        if origin in {Union, UnionType}:
            options = [each for each in inner if each is not UnsetType]
            return " | ".join(dict.fromkeys(self.answer(each, name) for each in options))
        if origin is Literal:
            # A newer API may return other values.
            return "str"
        if origin is not None:
            inside = ", ".join(self.answer(each) for each in inner)
            # A page of the API is the client's own Page.
            name = "Page" if origin is ListPage else origin.__name__
            return f"{self.use(name)}[{inside}]"
        if is_struct(annotation):
            return self.use(annotation.__name__)
        if annotation is str and MOMENTS.fullmatch(name) and name not in NOT_MOMENTS:
            return "datetime"
        return PLAIN[annotation]

    def use(self, name: str) -> str:
        self.used.add(name)
        return name


def left_out(type_: str) -> str:
    """The type of an optional argument."""
    if type_.endswith(" | None"):
        return f"{type_.removesuffix(' | None')} | UnsetType | None"
    return f"{type_} | UnsetType"


def is_struct(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Struct)


def is_list_of_all(annotation: Any) -> bool:
    """Whether a type is a list without paging; the client returns it as a single page."""
    if not is_struct(annotation):
        return False
    return [each.name for each in msgspec.structs.fields(annotation)] == ["data"]


def structs_in(annotation: Any) -> Iterator[type[Struct]]:
    if is_struct(annotation):
        yield annotation
    for each in get_args(annotation):
        yield from structs_in(each)


# Shapes


@dataclass
class Shapes:
    """Collects the data types, each after the types that it uses."""

    spelling: Spelling = field(default_factory=Spelling)
    classes: dict[str, str] = field(default_factory=dict)

    def answer(self, annotation: Any) -> None:
        for shape in structs_in(annotation):
            if shape.__name__ in self.classes:
                continue
            bases = [each for each in shape.__bases__ if each is not Struct]
            for part in (*bases, *(each.type for each in msgspec.structs.fields(shape))):
                self.answer(part)
            if not is_list_of_all(shape) and shape is not ListPage:
                self.classes[shape.__name__] = self._answer_class(shape, bases)

    def _answer_class(self, shape: type[Struct], bases: Sequence[type]) -> str:
        above = {each.name for base in bases for each in msgspec.structs.fields(base)}
        lines = [f"class {shape.__name__}({named(bases)}, frozen=True, kw_only=True):"]
        lines += documented(shape)
        for each in msgspec.structs.fields(shape):
            if each.name not in above:
                type_ = self.spelling.answer(each.type, each.name)
                # An older API may not send an optional field.
                default = " = None" if type_.endswith("None") else ""
                if each.encode_name == "data" and type_.startswith("list["):
                    lines.append(f'    items: {type_} = field(name="data")')
                elif each.name != each.encode_name:
                    wire = f'name="{each.encode_name}"' + (", default=None" if default else "")
                    lines.append(f"    {each.name}: {type_} = field({wire})")
                else:
                    lines.append(f"    {each.name}: {type_}{default}")
        return "\n".join(lines)

    def body(self, shape: type[Struct]) -> None:
        """Add the types used in a body; the fields of the body itself become arguments."""
        for each in msgspec.structs.fields(shape):
            for part in structs_in(each.type):
                self.body(part)
                self.classes.setdefault(part.__name__, self._body_class(part))

    def _body_class(self, shape: type[Struct]) -> str:
        lines = [f"class {shape.__name__}(Struct, kw_only=True):", *documented(shape)]
        for each in msgspec.structs.fields(shape):
            type_ = self.spelling.argument(each.type)
            renamed = each.name != each.encode_name
            if each.required:
                lines.append(f"    {each.name}: {type_}")
            else:
                default = f'field(name="{each.encode_name}", default=UNSET)' if renamed else "UNSET"
                lines.append(f"    {each.name}: {left_out(type_)} = {default}")
        return "\n".join(lines)

    def render(self) -> str:
        lines = [
            HEAD.format(sign="Defines the data types of requests and responses of the API."),
            "from __future__ import annotations",
            "",
            "from collections.abc import Mapping, Sequence",
            "from datetime import datetime, timedelta",
            "from typing import Any, Literal",
            "",
            "from msgspec import UNSET, Struct, UnsetType, field",
            "",
            "# Accepted types of times and durations.",
            "Moment = str | datetime",
            "Duration = str | timedelta",
        ]
        plain = Spelling()
        for name, value in ALIASES.items():
            options = [] if get_origin(value) is Literal else list(get_args(value))
            if not options:
                options = [value]
            types = [
                f"Literal[{', '.join(map(repr, get_args(option)))}]"
                if get_origin(option) is Literal
                else plain.argument(option)
                for option in options
            ]
            lines.append(f"{name} = {' | '.join(types)}")
        return shaped("\n".join([*lines, *(f"\n\n{text}" for text in self.classes.values()), ""]))


def named(bases: Sequence[type]) -> str:
    return ", ".join(each.__name__ for each in bases) or "Struct"


def documented(shape: type[Struct]) -> list[str]:
    text = inspect.cleandoc(shape.__doc__ or "")
    if not text or text.startswith(f"{shape.__name__}("):
        return []
    return docstring(text, "    ")


def docstring(text: str, indent: str) -> list[str]:
    text = text if "\n" in text else textwrap.fill(text, WIDTH - len(indent) - 3)
    closing = '"""' if "\n" not in text else f'\n{indent}"""'
    return [
        textwrap.indent(f'"""{text}{closing}', indent, lambda line: not line.startswith(indent))
    ]


# Operations


@dataclass(frozen=True)
class Argument:
    """An argument of a method; `wire` is its name in the query or the body."""

    name: str
    type: str
    wire: str
    meaning: str
    is_required: bool
    default: str

    @property
    def written(self) -> str:
        if self.is_required:
            return f"{self.name}: {self.type}"
        return f"{self.name}: {self.type} = {self.default}"


@dataclass
class Methods:
    spelling: Spelling = field(default_factory=Spelling)

    def render(self, operations: Sequence[Operation]) -> str:
        methods = [self._method(each) for each in called(operations)]
        shapes = sorted(self.spelling.used - {"Page", "list", "dict"}, key=str.casefold)
        lines = [
            HEAD.format(sign="Builds the request of each operation of the API from its arguments.")
            + RULES,
            "",
            # The types are not used at run time and need not be evaluated.
            "from __future__ import annotations",
            "",
            "from collections.abc import Mapping, Sequence",
            "from types import NoneType",
            "from typing import Any, Literal",
            "",
            "from msgspec import UNSET, UnsetType",
            "",
            "from rota.sdk.client.generated.schemas import (",
            *(f"    {each}," for each in shapes),
            ")",
            "from rota.sdk.client.methods import ApiMethod",
            "from rota.sdk.client.pages import Page",
            "from rota.sdk.client.requests import ApiRequest",
            "",
            "",
            "class Operations:",
            '    """The methods of both clients, under the names of the operations."""',
        ]
        return shaped("\n".join([*lines, *(f"\n{text}" for text in methods), ""]))

    def _method(self, each: Operation) -> str:
        places = [Argument(name, place_type(name), name, "", True, "") for name in each.parameters]
        query, body = self.query(each), self.body(each)
        first, rest = places, [*query, *body]
        if is_alone(body):
            first, rest = [*places, *body], query
        rest = sorted(rest, key=lambda argument: not argument.is_required)
        extra = list(headers(each))
        answer, shape = self.answer(each)
        starred = ["*"] if rest or extra else []
        given = ["self", *(one.written for one in first), *starred]
        given += [one.written for one in (*rest, *extra)]
        request = ", ".join(self._request(each, places, query, body, shape))
        lines = [
            "    @ApiMethod",
            f"    def {each.name}({', '.join(given)}) -> ApiRequest[{answer}]:",
            self._docstring(each, [*first, *rest, *extra]),
            f"        return ApiRequest({request})",
        ]
        return "\n".join(lines)

    def _request(
        self,
        each: Operation,
        places: Sequence[Argument],
        query: Sequence[Argument],
        body: Sequence[Argument],
        shape: str,
    ) -> Iterator[str]:
        path = re.sub(r"\{\w+\}", "{}", each.path)
        given = {"method": repr(each.method), "path": repr(path)}
        given["response_type"] = shape
        if places:
            given["path_arguments"] = f"({', '.join(one.name for one in places)},)"
        if query:
            given["query"] = mapping(query)
        if each.body is not None:
            given["body"] = mapping(body)
            if not each.body_required:
                given["body_required"] = "False"
        if repeat(each) != "freely":
            given["repeat"] = repr(repeat(each))
        for one in headers(each):
            given[one.name] = one.name
        yield from (f"{name}={value}" for name, value in given.items())

    def answer(self, each: Operation) -> tuple[str, str]:
        """The type of the response as an annotation and as a value."""
        if each.answer is not None:
            type_ = self.spelling.answer(each.answer)
            return type_, type_
        return ("None", "NoneType") if each.status == 204 else ("str", "str")

    def query(self, each: Operation) -> list[Argument]:
        if each.query is None:
            return []
        shown = msgspec.structs.fields(each.query)
        if STREAM in each.other_media:
            shown = tuple(one for one in shown if one.name != "follow")
        return [self._parameter(one) for one in shown]

    def _parameter(self, one: FieldInfo) -> Argument:
        type_ = self.spelling.argument(one.type)
        if get_origin(one.type) is list:
            type_ = f"{type_} | {self.spelling.argument(get_args(one.type)[0])}"
        type_ = type_.removesuffix(" | None")
        meaning = words.read_description(one.type)
        if one.required:
            return Argument(one.name, type_, one.encode_name, meaning, True, "")
        return Argument(one.name, f"{type_} | None", one.encode_name, meaning, False, "None")

    def body(self, each: Operation) -> list[Argument]:
        if each.body is None:
            return []
        return [
            self._field(one)
            for one in msgspec.structs.fields(each.body)
            if one.name not in each.parameters
        ]

    def _field(self, one: FieldInfo) -> Argument:
        type_, meaning = self.spelling.argument(one.type), words.read_description(one.type)
        if one.required:
            return Argument(one.name, type_, one.encode_name, meaning, True, "")
        return Argument(one.name, left_out(type_), one.encode_name, meaning, False, "UNSET")

    def _docstring(self, each: Operation, arguments: Sequence[Argument]) -> str:
        indent = " " * 8
        parts = [f"{summary(each)}."]
        if each.description:
            parts.append(textwrap.fill(each.description, WIDTH - 8))
        described = [one for one in arguments if one.meaning]
        if described:
            lines = [
                textwrap.fill(
                    f"{one.name}: {one.meaning.replace('next_cursor', 'next')}",
                    WIDTH - 8,
                    initial_indent="    ",
                    subsequent_indent="        ",
                )
                for one in described
            ]
            parts.append("\n".join(["Args:", *lines]))
        text = "\n\n".join(parts)
        closing = '"""' if len(parts) == 1 else '\n"""'
        return textwrap.indent(f'"""{text}{closing}', indent)


def summary(each: Operation) -> str:
    """The summary for the client, where a stream has its own method."""
    if STREAM in each.other_media:
        return f"{each.summary.partition(';')[0]}; `follow_logs` streams new lines"
    return each.summary


def headers(each: Operation) -> Iterator[Argument]:
    if each.method == "POST" and each.scope != "none":
        meaning = "For a day, a repeated request with the same key returns the first response."
        yield Argument("idempotency_key", "str | None", "", meaning, False, "None")
    if "version_changed" in each.problems:
        meaning = "Fail if the current `version` is not this one. Default: no check."
        yield Argument("if_match", "int | None", "", meaning, False, "None")


def repeat(each: Operation) -> str:
    if each.method != "POST" or each.name in READS:
        return "freely"
    shape = each.answer
    is_secret = is_struct(shape) and any(
        one.name in SECRETS for one in msgspec.structs.fields(shape)
    )
    return "never" if is_secret else "by_key"


def is_alone(body: Sequence[Argument]) -> bool:
    """Whether the body has one required field, which becomes a positional argument."""
    return len(body) == 1 and body[0].is_required


def mapping(arguments: Sequence[Argument]) -> str:
    return "{" + ", ".join(f"{one.wire!r}: {one.name}" for one in arguments) + "}"


def place_type(name: str) -> str:
    return "int | str" if name == "tenant_id" else "str"


# The reference page


def client_markdown(operations: Sequence[Operation], introduction: str) -> str:
    """Render the methods by resource, below a hand-written introduction."""
    lines = ["<!-- Generated from src/rota/api by `make generate`; do not edit. -->"]
    lines += [introduction.rstrip(), "", "## Methods"]
    tag = ""
    for each in sort_operations(operations):
        if each.tag != tag:
            tag = each.tag
            lines += [
                "",
                f"### {capitalize_tag(tag)}",
                "",
                "| Method | Returns | Description |",
                "|---|---|---|",
            ]
        lines.append(row(each))
    return "\n".join([*lines, ""])


def row(each: Operation) -> str:
    methods = Methods()
    query, body = methods.query(each), methods.body(each)
    if is_alone(body):
        needed, rest = [*each.parameters, body[0].name], query
    else:
        needed, rest = [*each.parameters], [*query, *body]
    needed += [f"{one.name}=…" for one in rest if one.is_required]
    if not all(one.is_required for one in rest):
        needed.append("…")
    answer = "Iterator[FeedEvent]" if each.media == STREAM else methods.answer(each)[0]
    answer = answer.replace("|", "\\|")
    return f"| `{each.name}({', '.join(needed)})` | `{answer}` | {summary(each)} |"
