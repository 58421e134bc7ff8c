"""The reference page of the API: what is made of shapes, and that nothing on it leads nowhere (I1).

That its examples work is tried in tests/integration/api/test_reference.py.
"""

import re
from typing import Annotated, Any, Literal

import pytest
from msgspec import UNSET, Meta, Struct, UnsetType
from tests.support.examples import PAGE
from tools.reference import field_tables
from tools.reference.api_page import build_anchor, render_body, render_json, sort_operations
from tools.reference.field_tables import FieldRow, ShownSchemas, list_rows

from rota.api import resources
from rota.api.operations import Operation, catalogue
from rota.api.schemas.field_types import Duration, Moment

resources.load_operations()
TEXT = PAGE.read_text()
SHAPED = [each for each in catalogue.operations if each.body or each.query]


class Inner(Struct):
    per: Annotated[Duration, Meta(description="How long.")] | UnsetType = UNSET


class Outer(Struct):
    at: Moment
    mode: Annotated[Literal["a", "b"] | None, Meta(description="Which.")] = None
    count: Annotated[int, Meta(ge=1, le=1000)] = 7
    free: Any = None
    many: list[Inner] = []
    one: Annotated[Inner | None, Meta(description="One | another.")] = None


class Fewer(Struct):
    at: Moment
    mode: Annotated[Literal["a", "b"] | None, Meta(description="Which.")] = None
    count: Annotated[int, Meta(ge=1, le=1000)] = 7
    free: Any = None
    many: list[Inner] = []


def test_a_shape_becomes_rows_with_those_of_its_objects_below_them() -> None:
    assert list(list_rows(Outer)) == [
        FieldRow("at", "time, required", "Time in RFC 3339, such as 2026-07-01T12:00:00Z."),
        FieldRow("mode", "`a`, `b`", "Which."),
        FieldRow("count", "integer from 1 to 1,000", "Default: `7`."),
        FieldRow("free", "any JSON", ""),
        FieldRow("many", "list of objects", ""),
        FieldRow("many[].per", "duration", "How long."),
        FieldRow("one", "object", "One | another."),
        FieldRow("one.per", "duration", "How long."),
    ]


def test_a_bar_in_a_meaning_does_not_break_the_table() -> None:
    assert "| `one` | object | One \\| another |" in field_tables.render_table("Field", Outer)


def test_a_shape_that_was_shown_is_referred_to_with_what_it_lacks() -> None:
    shown = ShownSchemas()

    first = field_tables.render_body_fields(Outer, "there", shown)
    second = field_tables.render_body_fields(Fewer, "here", shown)

    assert first.startswith("| Field | Type | Meaning |")
    assert second == "The body has the fields of there, without `one`."


@pytest.mark.parametrize("operation", SHAPED, ids=lambda each: each.name)
def test_every_parameter_and_field_says_what_it_means(operation: Operation) -> None:
    shapes = [shape for shape in (operation.query, operation.body) if shape]
    rows = [row for shape in shapes for row in list_rows(shape)]

    assert [row.name for row in rows if not row.meaning] == []


def test_what_deletes_comes_last_among_its_like() -> None:
    ordered = sort_operations(catalogue.operations)
    last = {each.tag: each.method for each in ordered}

    assert sorted(ordered, key=id) == sorted(catalogue.operations, key=id)
    assert (last["jobs"], last["keys"], last["tenants"]) == ("DELETE", "DELETE", "DELETE")


def test_every_link_on_the_page_leads_somewhere() -> None:
    headings = {build_anchor(each) for each in re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)}
    inside = set(re.findall(r"\]\(#([^)]*)\)", TEXT))
    beside = set(re.findall(r"\]\(([^#)][^)]*)\)", TEXT))

    assert inside <= headings
    assert len(inside) > len(catalogue.operations)
    assert [each for each in beside if not (PAGE.parent / each).is_file()] == []


def test_json_gets_a_line_for_what_is_too_long_for_one() -> None:
    value = {"short": [1, 2], "long": ["x" * 50, "y" * 50], "empty": {}}

    assert render_json({"a": 1}) == '{"a": 1}'
    assert render_json(value).splitlines() == [
        "{",
        '  "short": [1, 2],',
        '  "long": [',
        f'    "{"x" * 50}",',
        f'    "{"y" * 50}"',
        "  ],",
        '  "empty": {}',
        "}",
    ]


@pytest.mark.parametrize("text", ["it's", "$HOME"])
def test_an_example_that_a_shell_would_change_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a shell"):
        render_body({"reason": text})
