"""What executors tell of their payloads agrees with what they read."""

from typing import Any

import pytest

from rota.executors.http import spec as http
from rota.executors.http import webhook_spec
from rota.executors.http.schemas import HTTP, WEBHOOK
from rota.executors.notify import spec as notify
from rota.executors.notify.schemas import NOTIFY
from rota.executors.shell import spec as shell
from rota.executors.shell.schemas import SHELL
from rota.executors.sql import spec as sql
from rota.executors.sql.etl import spec as etl
from rota.executors.sql.schemas import ETL, SQL
from rota.executors.sync import spec as sync
from rota.executors.sync.schemas import SYNC
from rota.sdk.app.arguments import Arguments

TOLD: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "http": (HTTP, http.KNOWN),
    "webhook": (WEBHOOK, webhook_spec.KNOWN),
    "shell": (SHELL, shell.KNOWN),
    "notify": (NOTIFY, notify.KNOWN),
    "sql": (SQL, sql.KNOWN),
    "etl": (ETL, etl.KNOWN),
    "sync": (SYNC, sync.KNOWN),
}


@pytest.mark.parametrize("kind", TOLD)
def test_a_schema_has_the_fields_that_are_read_and_no_others(kind: str) -> None:
    schema, known = TOLD[kind]

    assert set(schema["properties"]) == set(known)
    assert set(schema["required"]) <= set(known)
    assert schema["additionalProperties"] is False


def test_what_a_schema_calls_the_default_is_read() -> None:
    assert (
        http.read_request({"url": "https://example.org/"}).method
        == (HTTP["properties"]["method"]["default"])
    )
    assert http.read_request({"url": "https://example.org/"}).redirects == 0
    assert shell.read_command({"argv": ["/bin/true"]}, allow=["*"]).ok_codes == {0}


def test_the_parameters_of_a_function_are_its_schema() -> None:
    def job(customer: str, count: int = 3, ctx: object = None, *, note: str | None = None) -> None:
        """`ctx` gets the context and is no part of a payload."""

    schema = Arguments(job).schema()

    assert schema is not None
    assert schema["required"] == ["customer"]
    assert schema["properties"]["count"] == {"type": "integer", "default": 3}
    assert list(schema["properties"]) == ["customer", "count", "note"]
    assert schema["additionalProperties"] is False
