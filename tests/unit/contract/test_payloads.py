"""Payloads are read and described by one struct per kind."""

from typing import Any

import pytest
from msgspec import Struct

from rota.contract.documents import fields_by_name
from rota.contract.payloads.etl import EtlPayload
from rota.contract.payloads.http import HttpPayload, WebhookPayload
from rota.contract.payloads.notify import NotifyPayload
from rota.contract.payloads.reader import read_payload
from rota.contract.payloads.shell import ShellPayload
from rota.contract.payloads.sql import SqlPayload
from rota.contract.payloads.sync import SyncPayload
from rota.contract.schemas import render_schema
from rota.core.errors import InvalidInput

URL = "https://example.org/"
# Each with the least that it must say.
PAYLOADS: dict[type[Struct], dict[str, Any]] = {
    HttpPayload: {"url": URL},
    WebhookPayload: {"webhook": "partner", "url": URL},
    NotifyPayload: {"channel": "ops", "body": "done"},
    ShellPayload: {"argv": ["/bin/true"]},
    SqlPayload: {"connection": "shop"},
    EtlPayload: {
        "extract": [{"name": "a", "from": {"file": "a.csv"}}],
        "load": {"to": {"file": "b.csv"}},
    },
    SyncPayload: {"from": "photos:/", "to": "backup:/"},
}


def named(value: object) -> str | None:
    return value.__name__ if isinstance(value, type) else None


def read(shape: type[Struct], **payload: Any) -> Struct:
    return read_payload(shape, {**PAYLOADS[shape], **payload}, example="{}")


@pytest.mark.parametrize("shape", PAYLOADS, ids=named)
def test_a_form_has_every_field_with_a_description_and_its_default(shape: type[Struct]) -> None:
    schema = render_schema(shape)

    assert list(schema["properties"]) == list(fields_by_name(shape))
    assert set(schema["required"]) == set(PAYLOADS[shape])
    assert schema["additionalProperties"] is False
    for name, field in schema["properties"].items():
        assert ("Default:" in field["description"]) == (name not in schema["required"]), name
    assert not any(word in str(schema) for word in ("$ref", shape.__name__, "'default': None"))


@pytest.mark.parametrize("shape", PAYLOADS, ids=named)
def test_what_a_form_calls_the_default_is_read(shape: type[Struct]) -> None:
    defaults = {
        name: field["default"]
        for name, field in render_schema(shape)["properties"].items()
        if "default" in field
    }

    assert read(shape, **defaults) == read(shape)


@pytest.mark.parametrize("shape", PAYLOADS, ids=named)
def test_null_counts_as_not_given(shape: type[Struct]) -> None:
    optional = [name for name in fields_by_name(shape) if name not in PAYLOADS[shape]]

    assert read(shape, **dict.fromkeys(optional)) == read(shape)


@pytest.mark.parametrize("shape", PAYLOADS, ids=named)
def test_a_required_field_that_is_null_or_missing_is_named(shape: type[Struct]) -> None:
    for name in PAYLOADS[shape]:
        rest = {each: value for each, value in PAYLOADS[shape].items() if each != name}
        for payload in (rest, {**rest, name: None}):
            with pytest.raises(InvalidInput) as refusal:
                read_payload(shape, payload, example="{}")
            assert (refusal.value.field, refusal.value.value) == (name, None)


@pytest.mark.parametrize(
    ("shape", "payload", "sentence"),
    [
        (
            SyncPayload,
            {"dryrun": True},
            (
                "payload.dryrun: unknown field; known fields: from, to, mode, compare, "
                "include, exclude, dry_run, max_delete, allow_empty, parallel; "
                "did you mean dry_run?"
            ),
        ),
        (
            EtlPayload,
            {"load": {"to": {"file": "b.csv", "mod": "append"}}},
            (
                "load.to.mod: unknown field; known fields: connection, table, mode, "
                "key, file, format; did you mean mode?"
            ),
        ),
        (
            HttpPayload,
            {"headers": {"A": "x", "B": 1}},
            "headers.B: 1 is invalid: expected text",
        ),
        (
            HttpPayload,
            {"ok": [200, 99]},
            'ok[1]: 99 is invalid: expected a status such as 204 or "2xx"',
        ),
        (
            SqlPayload,
            {"timeout": 30},
            (
                "timeout: 30 is invalid: expected a duration such as 90s, 15m, 1h30m, 2d or "
                "PT15M; a number alone has no unit"
            ),
        ),
        (
            SqlPayload,
            {"max_rows": 10_001},
            "max_rows: 10001 is invalid: expected a whole number (0 to 10,000)",
        ),
        (
            ShellPayload,
            {"env": ["A=b"]},
            "env: ['A=b'] is invalid: expected an object of text (at most 64 fields)",
        ),
    ],
)
def test_a_wrong_field_is_refused_in_one_sentence(
    shape: type[Struct], payload: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read(shape, **payload)

    assert str(refusal.value) == sentence


def test_what_is_no_object_is_told_what_to_write() -> None:
    expected = r"^payload: 'echo' is invalid: expected an object such as"
    with pytest.raises(InvalidInput, match=expected):
        read_payload(ShellPayload, "echo", example='{"argv": ["/bin/true"]}')
