"""Documents are read strictly from people and leniently from the database."""

from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

from rota.contract.documents import FALLBACK_META, SECRET_META, read_input, read_stored
from rota.core.errors import InvalidInput, NewerDocument


class Waiting(Struct, kw_only=True, forbid_unknown_fields=True):
    max: Annotated[int, Meta(ge=0, le=100)] = 3
    jitter: Annotated[Literal["full", "none"], Meta(extra=FALLBACK_META)] = "full"


class Sample(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=5)]
    retries: Waiting | Annotated[int, Meta(ge=0, le=100)] = 3
    steps: list[Waiting] = []
    promise: Literal["once", "twice"] = "once"


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (
            {"name": "a", "retries": {"max": 101}},
            "retries.max: 101 is invalid: expected a whole number (0 to 100)",
        ),
        (
            {"name": "a", "retrys": 1},
            (
                "retrys: unknown field; known fields: name, retries, steps, promise; "
                "did you mean retries?"
            ),
        ),
        ({}, "name: required; expected text (1 to 5 characters)"),
        ({"name": 4}, "name: 4 is invalid: expected text (1 to 5 characters)"),
        (
            {"name": "a", "steps": [{}, {"maxx": 1}]},
            "steps[1].maxx: unknown field; known fields: max, jitter; did you mean max?",
        ),
        (
            {"name": "a", "promise": "never"},
            "promise: 'never' is invalid: expected one of once, twice",
        ),
        ([], "document: [] is invalid: expected an object with name, retries, steps, promise"),
    ],
)
def test_input_is_refused_with_its_path_its_value_and_what_is_allowed(
    document: Any, sentence: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_input(Sample, document)

    assert str(caught.value) == sentence


def test_a_path_says_where_a_document_stands_in_a_larger_one() -> None:
    with pytest.raises(InvalidInput, match=r"^jobs\[2\]\.retries\.max: -1"):
        read_input(Sample, {"name": "a", "retries": {"max": -1}}, path="jobs[2]")


def test_a_stored_document_keeps_what_only_newer_code_knows() -> None:
    stored = {
        "name": "a",
        "colour": {"hue": 1},
        "retries": {"max": 2, "jitter": "lunar", "moon": True},
        "steps": [{"max": 1, "tide": 2}],
    }

    document, unread = read_stored(Sample, stored)

    assert document == Sample(name="a", retries=Waiting(max=2), steps=[Waiting(max=1)])
    assert unread == {name: stored[name] for name in ("colour", "retries", "steps")}


def test_a_stored_choice_without_a_fallback_waits_for_newer_code() -> None:
    with pytest.raises(NewerDocument, match="promise: 'thrice'"):
        read_stored(Sample, {"name": "a", "promise": "thrice"})


def test_what_is_refused_from_people_is_refused_although_it_was_stored_by_older_code() -> None:
    with pytest.raises(NewerDocument, match=r"retries\.max"):
        read_stored(Sample, {"name": "a", "retries": {"max": 1000}})


def test_an_error_does_not_show_a_secret() -> None:
    class Credentials(Struct, kw_only=True, forbid_unknown_fields=True):
        password: Annotated[Annotated[str, Meta(min_length=8)], Meta(extra=SECRET_META)]

    with pytest.raises(InvalidInput) as caught:
        read_input(Credentials, {"password": "hunter2"})

    assert str(caught.value) == "password: '***' is invalid: expected text (at least 8 characters)"
