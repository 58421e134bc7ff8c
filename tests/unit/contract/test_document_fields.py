"""Schedules, graphs and calendars in requests are described by their structs."""

from dataclasses import fields
from typing import Any

import pytest

from rota.api import openapi, resources
from rota.api.operations import catalogue
from rota.cli.job_options import ScheduleOptions
from rota.contract.document_fields import DOCUMENT_STRUCTS
from rota.contract.documents import fields_by_name
from rota.contract.schedule_fields import RULE_FIELDS


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    resources.load_operations()
    found: dict[str, Any] = openapi.build_document(catalogue.operations, version="1")["components"]
    return found["schemas"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("shape", "field", "document"),
    [
        ("JobDraft", "schedule", "ScheduleDocument"),
        ("JobEdit", "schedule", "ScheduleDocument"),
        ("PreviewDraft", "schedule", "ScheduleDocument"),
        ("JobDraft", "graph", "GraphDocument"),
        ("CalendarDraft", "calendar", "CalendarDocument"),
        ("DeclaredCalendar", "calendar", "CalendarDocument"),
    ],
)
def test_the_openapi_document_refers_to_the_struct(
    schemas: dict[str, Any], shape: str, field: str, document: str
) -> None:
    said = schemas[shape]["properties"][field]

    assert f"#/components/schemas/{document}" in str(said)


def test_every_field_is_described_and_every_optional_one_has_its_default(
    schemas: dict[str, Any],
) -> None:
    for struct in DOCUMENT_STRUCTS:
        schema = schemas[struct.__name__]
        assert list(schema["properties"]) == list(fields_by_name(struct))
        assert schema["additionalProperties"] is False
        for name, said in schema["properties"].items():
            assert said["description"].endswith("."), name
            if name not in schema.get("required", ()):
                assert "Default: " in said["description"], name


def test_the_command_line_has_an_option_for_each_rule() -> None:
    options = {each.name for each in fields(ScheduleOptions)}

    assert set(RULE_FIELDS) - options == {"immediate"}
