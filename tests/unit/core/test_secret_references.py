"""References to secrets: what is one, what is refused, and what takes their place (5.6)."""

from typing import Any

import pytest

from rota.core.errors import InvalidInput
from rota.core.secret_references import (
    encode_payload,
    find_secret_names,
    insert_secrets,
    reject_public_secrets,
    reject_references_from_data,
)
from rota.core.submissions import encode_json


def test_values_take_the_places_of_their_names_in_every_text() -> None:
    payload = {
        "url": "https://{{secret:user}}:{{secret:password}}@example.org/",
        "headers": {"Authorization": "Bearer {{secret:token}}"},
        "body": [{"deep": ["{{secret:token}}", 7, None, True]}],
    }

    assert find_secret_names(payload) == {"user", "password", "token"}
    assert insert_secrets(payload, {"user": "u", "password": "p", "token": "t"}) == {
        "url": "https://u:p@example.org/",
        "headers": {"Authorization": "Bearer t"},
        "body": [{"deep": ["t", 7, None, True]}],
    }


def test_a_value_that_looks_like_a_reference_or_a_pattern_stays_as_it_is() -> None:
    values = {"a": "{{secret:b}}", "b": r"\1 \g<0> {0} %s $HOME"}

    assert insert_secrets("{{secret:a}}{{secret:b}}", values) == values["a"] + values["b"]


def test_a_name_may_have_spaces_inside_and_is_composed_the_usual_way() -> None:
    assert find_secret_names(["{{secret:smtp password}}", "{{secret:cafe\u0301}}"]) == {
        "smtp password",
        "caf\u00e9",
    }
    assert insert_secrets("{{secret:cafe\u0301}}", {"caf\u00e9": "x"}) == "x"


@pytest.mark.parametrize(
    "text",
    [
        "{{secret:}}",
        "{{secret: }}",
        "{{secret: name}}",
        "{{secret:name }}",
        "{{secret:name}",
        "{{secret:name",
        "{{secret:{{secret:name}}}}",
        "{{secret:a{b}}",
        "{{secret:good}} and {{secret:",
        "{{secret:" + "x" * 201 + "}}",
        "{{secret:a\u0000b}}",
    ],
)
def test_what_begins_like_a_reference_and_is_none_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        encode_payload({"body": [1, {"text": text}]})

    assert caught.value.field in {"payload.body[1].text", "payload"}


def test_other_braces_are_nobodys_business() -> None:
    payload = {"a": "{{name}} {{ secret:x }} {{SECRET:x}} {secret:x}", "{{b}}": "}}"}

    assert find_secret_names(payload) == set()
    assert encode_payload(payload) == encode_json(payload, "payload")


def test_the_name_of_a_field_cannot_be_a_secret() -> None:
    with pytest.raises(InvalidInput, match="not in field names"):
        encode_payload({"{{secret:x}}": 1})


@pytest.mark.parametrize(
    "payload",
    [{"argv": ["/bin/echo", "--key={{secret:x}}"]}, {"argv": ["/bin/pwd"], "cwd": "/{{secret:x}}"}],
)
def test_a_program_is_given_secrets_where_nobody_else_sees_them(payload: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="pass the secret in env or stdin"):
        encode_payload(payload, kind="shell")

    reject_public_secrets("shell", {"argv": ["/bin/true"], "env": {"KEY": "{{secret:x}}"}})
    reject_public_secrets("http", payload)
    reject_public_secrets("shell", ["{{secret:x}}"])


TEMPLATE = {"token": "{{secret:x}}", "data": {"$": "event.data"}}


def test_what_a_template_says_itself_may_name_secrets() -> None:
    text = encode_json({"token": "{{secret:x}}", "data": "harmless"}, "payload") or ""

    assert reject_references_from_data(text, TEMPLATE) == text


@pytest.mark.parametrize(
    ("filled", "template"),
    [
        ({"token": "{{secret:x}}", "data": "{{secret:x}}"}, TEMPLATE),
        ({"token": "{{secret:x}}", "data": {"{{secret:y}}": 1}}, TEMPLATE),
        ({"data": "{{secret:y}}"}, {"data": {"$": "'{{secret:y}}'"}}),
        (["{{secret:y}}"], [{"$": "item"}]),
        ({"event": {"data": "{{secret:y}}"}}, None),
    ],
)
def test_data_from_elsewhere_cannot_name_a_secret(filled: object, template: object) -> None:
    with pytest.raises(InvalidInput, match="only the job itself may reference a secret"):
        reject_references_from_data(encode_json(filled, "payload") or "", template)
