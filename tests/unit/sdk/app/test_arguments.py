"""A payload is the object of a function's arguments (I3)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
import pytest

import rota
from rota.core.errors import InvalidInput
from rota.sdk.app.handlers import Arguments

NOON = datetime(2030, 5, 1, 12, tzinfo=UTC)
ID = UUID(int=7)


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


@dataclass
class Line:
    item: str
    count: int = 1


class Address(msgspec.Struct):
    city: str


def order(
    lines: list[Line],
    to: Address,
    at: datetime,
    *,
    id_: UUID = ID,
    size: Size = Size.SMALL,
    note: str | int | None = None,
    prices: dict[int, Decimal] | None = None,
    speed: Literal["fast", "slow"] = "slow",
    wait: timedelta = timedelta(),
    raw: bytes = b"",
) -> None: ...


GIVEN = {
    "lines": [Line("tea", 2)],
    "to": Address("Kyiv"),
    "at": NOON,
    "id_": ID,
    "size": Size.LARGE,
    "note": 5,
    "prices": {3: Decimal("1.50")},
    "speed": "fast",
    "wait": timedelta(seconds=90),
    "raw": b"\x00\x01",
}


def test_typed_arguments_come_back_from_json_as_they_were() -> None:
    arguments = Arguments(order)

    payload = arguments.to_payload((), GIVEN)
    sent = msgspec.json.decode(msgspec.json.encode(payload))

    assert arguments.from_payload(sent) == GIVEN


def test_positional_arguments_get_their_names() -> None:
    payload = Arguments(order).to_payload(([], Address("Lviv"), NOON), {"note": "x"})

    assert payload == {
        "lines": [],
        "to": {"city": "Lviv"},
        "at": "2030-05-01T12:00:00Z",
        "note": "x",
    }


def test_what_is_left_out_is_left_to_the_functions_own_default() -> None:
    def charge(amount: int, tags: list[str] = ["a"]) -> None: ...  # noqa: B006 — as people write

    assert Arguments(charge).from_payload({"amount": 1}) == {"amount": 1}


def test_a_function_without_parameters_takes_no_payload_or_an_empty_one() -> None:
    def sweep() -> None: ...

    assert Arguments(sweep).from_payload(None) == {}
    assert Arguments(sweep).from_payload({}) == {}


def charge(amount: Annotated[int, msgspec.Meta(gt=0)], line: Line | None = None) -> None: ...


@pytest.mark.parametrize(
    ("args", "kwargs", "field", "wanted"),
    [
        (("5",), {}, "amount", "expected int, got str"),
        ((True,), {}, "amount", "expected int, got bool"),
        ((0,), {}, "amount", "expected int >= 1"),
        ((1, {"item": 2}), {}, "line.item", "expected str, got int"),
        ((1, {}), {}, "line.item", "a value is required"),
        ((), {}, "arguments", "missing a required argument: 'amount'"),
        ((1,), {"colour": "red"}, "arguments", "unexpected keyword argument 'colour'"),
        ((1, None, 3), {}, "arguments", "too many positional arguments"),
        ((object(),), {}, "amount", "expected a value that JSON can represent"),
    ],
)
def test_wrong_arguments_are_refused_by_name(
    args: tuple[Any, ...], kwargs: dict[str, Any], field: str, wanted: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        Arguments(charge).to_payload(args, kwargs)

    assert refused.value.field == field
    assert wanted in refused.value.wanted


@pytest.mark.parametrize(
    ("payload", "field", "wanted"),
    [
        ({}, "amount", "a value is required"),
        (None, "amount", "a value is required"),
        ({"amount": 1, "colour": "red"}, "colour", "unknown parameter"),
        ({"amount": None}, "amount", "expected int, got null"),
        ([1], "arguments", "expected object, got array"),
        ("x", "arguments", "expected object, got str"),
    ],
)
def test_a_payload_that_does_not_fit_is_refused_by_name(
    payload: Any, field: str, wanted: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        Arguments(charge).from_payload(payload)

    assert refused.value.field == field
    assert wanted in refused.value.wanted


def test_a_number_that_json_does_not_know_is_refused() -> None:
    def measure(value: float) -> None: ...

    with pytest.raises(InvalidInput, match="value: nan is invalid: must be a finite number"):
        Arguments(measure).to_payload((float("nan"),), {})


class Door: ...


def takes_stars(*amounts: int) -> None: ...
def takes_keywords(**amounts: int) -> None: ...
def takes_a_nameless(amount: int, /) -> None: ...
def takes_a_door(door: Door) -> None: ...
def takes_two_texts(when: datetime | UUID) -> None: ...
def takes_the_unknown(what: "Nowhere") -> None: ...  # type: ignore[name-defined] # noqa: F821


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (takes_stars, "must be passable by name"),
        (takes_keywords, "must be passable by name"),
        (takes_a_nameless, "must be passable by name"),
        (takes_a_door, "must have types that JSON can represent"),
        (takes_two_texts, "must have types that JSON can represent"),
        (takes_the_unknown, "annotations must be resolvable"),
    ],
)
def test_a_function_that_no_payload_fits_is_refused_when_it_is_declared(
    function: Callable[..., Any], wanted: str
) -> None:
    with pytest.raises(InvalidInput, match=wanted):
        Arguments(function)


def by_name(ctx: Any, amount: int) -> None: ...
def by_annotation(attempt: rota.SyncContext, amount: int) -> None: ...
async def in_the_middle(amount: int, attempt: rota.Context | None = None) -> None: ...
def not_at_all(amount: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "context"),
    [
        (by_name, "ctx"),
        (by_annotation, "attempt"),
        (in_the_middle, "attempt"),
        (not_at_all, None),
    ],
)
def test_the_context_is_found_by_its_name_or_its_type_and_is_no_argument(
    function: Callable[..., Any], context: str | None
) -> None:
    arguments = Arguments(function)

    assert arguments.context == context
    assert arguments.names == ("amount",)


def test_a_result_comes_back_as_annotated() -> None:
    def find() -> Line: ...  # type: ignore[empty-body]
    def free(): ...

    assert Arguments(find).convert_result({"item": "tea", "count": 3}) == Line("tea", 3)
    assert Arguments(free).convert_result({"item": "tea"}) == {"item": "tea"}
    with pytest.raises(InvalidInput, match="a value of the annotated return type"):
        Arguments(find).convert_result({"truncated": True})


def test_the_parameters_of_a_function_are_its_schema() -> None:
    def job(customer: str, count: int = 3, ctx: object = None, *, note: str | None = None) -> None:
        """`ctx` gets the context and is no part of a payload."""

    schema = Arguments(job).schema()

    assert schema is not None
    assert schema["required"] == ["customer"]
    assert schema["properties"]["count"] == {"type": "integer", "default": 3}
    assert list(schema["properties"]) == ["customer", "count", "note"]
    assert schema["additionalProperties"] is False
