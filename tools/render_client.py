"""Renders the operations and shapes of rota.sdk.client from the catalogue of the API.

The SDK may not import the API, and people who write jobs shall not have to install what it needs:
so its methods are written down, each with the types and words of the operation that it calls.
Streams are followed by methods that are written by hand (sdk/client/blocking.py).
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

from rota.api import fields as words
from rota.api.describe import in_order, title
from rota.api.operations import Operation
from rota.api.paging import Page
from rota.api.shapes import cluster, jobs, runs, schedules, statistics, tenancy

MODULES: Final[tuple[ModuleType, ...]] = (cluster, jobs, runs, schedules, statistics, tenancy)
STREAM: Final = "text/event-stream"
WIDTH: Final = 100
# Answers say times as text; these are their names. What a schedule says is as somebody wrote it.
MOMENTS: Final = re.compile(r".*(_at|_time|_seen|_since)|at|since|now|start")
NOT_MOMENTS: Final = frozenset({"schedule_time"})
# A POST that changes nothing needs no key to be sent again.
READS: Final = frozenset({"plan_manifest", "preview_schedule"})
# A key in the answer would have to be stored, to be told again to whoever repeats the request.
SECRETS: Final = frozenset({"key"})
PLAIN: Final = {str: "str", int: "int", float: "float", bool: "bool", NoneType: "None", Any: "Any"}
HEAD: Final = """\
\"\"\"{sign} Room: sdk/client/generated.

Rendered from src/rota/api by `make generate`; do not edit.
\"\"\"
"""
# The API decides about names and how many there are.
RULES: Final = "\n# ruff: noqa: A002, D417, PLR0913"


def shapes_py(operations: Sequence[Operation]) -> str:
    """What the API answers, and what can be part of a body."""
    page = Shapes()
    for each in operations:
        if each.answer is not None:
            page.answer(each.answer)
        if each.body is not None:
            page.body(each.body)
    return page.render()


def operations_py(operations: Sequence[Operation]) -> str:
    """Each operation once: both clients make their methods of it."""
    return Methods().render(operations)


def shaped(text: str) -> str:
    """As `ruff format` writes it: what is rendered is looked at by the same checks as the rest."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", "rendered.py", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def called(operations: Sequence[Operation]) -> list[Operation]:
    """Those that become a method here, in the order of the reference page. What is signed instead
    of carrying a key is called by others.
    """
    others = [each.name for each in operations if each.read is not None and each.body is None]
    found = in_order(operations)
    return [each for each in found if each.media != STREAM and each.name not in others]


# Types


def aliases() -> dict[str, Any]:
    """Names of the API for a choice of words."""
    found: dict[str, Any] = {}
    for module in MODULES:
        for name, value in vars(module).items():
            if get_origin(value) in {Literal, Union, UnionType} and not name.startswith("_"):
                found.setdefault(name, value)
    return found


ALIASES: Final = aliases()


@dataclass
class Spelling:
    """Writes annotations as an argument takes them, or as an answer has them; keeps the names."""

    used: set[str] = field(default_factory=set)

    def argument(self, annotation: Any) -> str:
        return " | ".join(dict.fromkeys(self._options(annotation)))

    def _options(self, annotation: Any) -> Iterator[str]:
        origin, inner = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            forms = [words.FORMS[id(meta)] for meta in inner[1:] if id(meta) in words.FORMS]
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
        # None comes last, as people write it.
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
            origin, inner = Page, get_args(msgspec.structs.fields(annotation)[0].type)
        if origin is Annotated:
            return self.answer(inner[0], name)
        if origin in {Union, UnionType}:
            options = [each for each in inner if each is not UnsetType]
            return " | ".join(dict.fromkeys(self.answer(each, name) for each in options))
        if origin is Literal:
            # A newer API may know more of them.
            return "str"
        if origin is not None:
            inside = ", ".join(self.answer(each) for each in inner)
            return f"{self.use(origin.__name__)}[{inside}]"
        if is_struct(annotation):
            return self.use(annotation.__name__)
        if annotation is str and MOMENTS.fullmatch(name) and name not in NOT_MOMENTS:
            return "datetime"
        return PLAIN[annotation]

    def use(self, name: str) -> str:
        self.used.add(name)
        return name


def left_out(type_: str) -> str:
    """The type of what need not be given."""
    if type_.endswith(" | None"):
        return f"{type_.removesuffix(' | None')} | UnsetType | None"
    return f"{type_} | UnsetType"


def is_struct(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Struct)


def is_list_of_all(annotation: Any) -> bool:
    """A list that comes whole is a page of which there is one."""
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
    """Each shape after those that it is made of."""

    spelling: Spelling = field(default_factory=Spelling)
    classes: dict[str, str] = field(default_factory=dict)

    def answer(self, annotation: Any) -> None:
        for shape in structs_in(annotation):
            if shape.__name__ in self.classes:
                continue
            bases = [each for each in shape.__bases__ if each is not Struct]
            for part in (*bases, *(each.type for each in msgspec.structs.fields(shape))):
                self.answer(part)
            if not is_list_of_all(shape) and shape is not Page:
                self.classes[shape.__name__] = self._answer_class(shape, bases)

    def _answer_class(self, shape: type[Struct], bases: Sequence[type]) -> str:
        above = {each.name for base in bases for each in msgspec.structs.fields(base)}
        lines = [f"class {shape.__name__}({named(bases)}, frozen=True, kw_only=True):"]
        lines += documented(shape)
        for each in msgspec.structs.fields(shape):
            if each.name not in above:
                type_ = self.spelling.answer(each.type, each.name)
                # An older API may not know what need not be there.
                default = " = None" if type_.endswith("None") else ""
                if each.encode_name == "data" and type_.startswith("list["):
                    lines.append(f'    items: {type_} = field(name="data")')
                else:
                    lines.append(f"    {each.name}: {type_}{default}")
        return "\n".join(lines)

    def body(self, shape: type[Struct]) -> None:
        """The shapes inside a body; the body itself becomes arguments."""
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
            HEAD.format(sign="The JSON that the API takes and gives."),
            "from __future__ import annotations",
            "",
            "from collections.abc import Mapping, Sequence",
            "from datetime import datetime, timedelta",
            "from typing import Any, Literal",
            "",
            "from msgspec import UNSET, Struct, UnsetType, field",
            "",
            "# How times and durations may be given.",
            "Moment = str | datetime",
            "Duration = str | timedelta",
        ]
        plain = Spelling()
        for name, value in ALIASES.items():
            options = [] if get_origin(value) is Literal else list(get_args(value))
            if not options:
                options = [value]
            said = [
                f"Literal[{', '.join(map(repr, get_args(each)))}]"
                if get_origin(each) is Literal
                else plain.argument(each)
                for each in options
            ]
            lines.append(f"{name} = {' | '.join(said)}")
        return shaped("\n".join([*lines, *(f"\n\n{text}" for text in self.classes.values()), ""]))


def named(bases: Sequence[type]) -> str:
    return ", ".join(each.__name__ for each in bases) or "Struct"


def documented(shape: type[Struct]) -> list[str]:
    said = inspect.cleandoc(shape.__doc__ or "")
    if not said or said.startswith(f"{shape.__name__}("):
        return []
    return docstring(said, "    ")


def docstring(said: str, indent: str) -> list[str]:
    text = said if "\n" in said else textwrap.fill(said, WIDTH - len(indent) - 3)
    closing = '"""' if "\n" not in text else f'\n{indent}"""'
    return [
        textwrap.indent(f'"""{text}{closing}', indent, lambda line: not line.startswith(indent))
    ]


# Operations


@dataclass(frozen=True)
class Argument:
    """`wire` is its name in the query or the body."""

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
            HEAD.format(sign="The request that each operation of the API makes of its arguments.")
            + RULES,
            "",
            # Nobody asks for these types while the program runs: they need not be built.
            "from __future__ import annotations",
            "",
            "from collections.abc import Mapping, Sequence",
            "from types import NoneType",
            "from typing import Any, Literal",
            "",
            "from msgspec import UNSET, UnsetType",
            "",
            "from rota.sdk.client.generated.shapes import (",
            *(f"    {each}," for each in shapes),
            ")",
            "from rota.sdk.client.methods import ApiMethod",
            "from rota.sdk.client.pages import Page",
            "from rota.sdk.client.requests import Request",
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
            f"    def {each.name}({', '.join(given)}) -> Request[{answer}]:",
            self._said(each, [*first, *rest, *extra]),
            f"        return Request({request})",
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
        given["answer"] = shape
        if places:
            given["places"] = f"({', '.join(one.name for one in places)},)"
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
        """The answer as an annotation, and as a value."""
        if each.answer is not None:
            said = self.spelling.answer(each.answer)
            return said, said
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
        meaning = words.meaning(one.type)
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
        type_, meaning = self.spelling.argument(one.type), words.meaning(one.type)
        if one.required:
            return Argument(one.name, type_, one.encode_name, meaning, True, "")
        return Argument(one.name, left_out(type_), one.encode_name, meaning, False, "UNSET")

    def _said(self, each: Operation, arguments: Sequence[Argument]) -> str:
        indent = " " * 8
        parts = [f"{summary(each)}."]
        if each.description:
            parts.append(textwrap.fill(each.description, WIDTH - 8))
        told = [one for one in arguments if one.meaning]
        if told:
            lines = [
                textwrap.fill(
                    f"{one.name}: {one.meaning.replace('next_cursor', 'next')}",
                    WIDTH - 8,
                    initial_indent="    ",
                    subsequent_indent="        ",
                )
                for one in told
            ]
            parts.append("\n".join(["Args:", *lines]))
        text = "\n\n".join(parts)
        closing = '"""' if len(parts) == 1 else '\n"""'
        return textwrap.indent(f'"""{text}{closing}', indent)


def summary(each: Operation) -> str:
    """In the words of the client: a stream has a method of its own."""
    if STREAM in each.other_media:
        return f"{each.summary.partition(';')[0]}; `follow_logs` goes on as they come"
    return each.summary


def headers(each: Operation) -> Iterator[Argument]:
    if each.method == "POST" and each.scope != "none":
        said = "The same key with the same request gets the same answer, for a day."
        yield Argument("idempotency_key", "str | None", "", said, False, "None")
    if "version_changed" in each.problems:
        said = "Only if this is still its `version`."
        yield Argument("if_match", "int | None", "", said, False, "None")


def repeat(each: Operation) -> str:
    if each.method != "POST" or each.name in READS:
        return "freely"
    shape = each.answer
    is_secret = is_struct(shape) and any(
        one.name in SECRETS for one in msgspec.structs.fields(shape)
    )
    return "never" if is_secret else "by_key"


def is_alone(body: Sequence[Argument]) -> bool:
    """A body of one field needs no keyword."""
    return len(body) == 1 and body[0].is_required


def mapping(arguments: Sequence[Argument]) -> str:
    return "{" + ", ".join(f"{one.wire!r}: {one.name}" for one in arguments) + "}"


def place_type(name: str) -> str:
    return "int | str" if name == "tenant_id" else "str"


# The reference page


def client_markdown(operations: Sequence[Operation], introduction: str) -> str:
    """The methods by what they are about; what stands above them is written by hand."""
    lines = ["<!-- Generated from src/rota/api by `make generate`; do not edit. -->"]
    lines += [introduction.rstrip(), "", "## Methods"]
    tag = ""
    for each in in_order(operations):
        if each.tag != tag:
            tag = each.tag
            lines += ["", f"### {title(tag)}", "", "| Method | Answer | |", "|---|---|---|"]
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
    answer = "FeedEvent, one after the other" if each.media == STREAM else methods.answer(each)[0]
    answer = answer.replace("|", "\\|")
    return f"| `{each.name}({', '.join(needed)})` | `{answer}` | {summary(each)} |"
