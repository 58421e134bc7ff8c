"""An answer that reveals a secret is shown once: no row of the database has the secret (T4)."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.serving import Caller, Served, serving

from rota.api import resources
from rota.api.operations import Operation, catalogue
from rota.store.driver import Connection

resources.load_operations()
REVEALING = ("key", "secret", "ticket", "ping_url")
CREATING = [
    ("/v1/keys", {"name": "deployment", "role": "viewer"}, "key", "key_id"),
    ("/v1/tenants/1/keys", {"name": "deployment", "role": "viewer"}, "key", "key_id"),
    ("/v1/hooks", {"name": "payments", "type": "paid"}, "secret", "hook_id"),
    (
        "/v1/webhooks",
        {"url": "https://93.184.216.34/hook", "events": ["run.failed"]},
        "secret",
        "webhook_id",
    ),
    ("/v1/pings", {"name": "backup", "every": "1d"}, "ping_url", "ping_id"),
    ("/v1/login-tickets", None, "ticket", None),
]


def reveals(operation: Operation) -> bool:
    if not (isinstance(operation.answer, type) and issubclass(operation.answer, msgspec.Struct)):
        return False
    return any(each in operation.answer.__struct_fields__ for each in REVEALING)


async def columns_with(conn: Connection, secret: str) -> list[str]:
    """Search every column of every table that can hold text."""
    columns = await conn.fetch(
        "select c.table_name, c.column_name, c.data_type from information_schema.columns as c"
        " inner join information_schema.tables as t using (table_schema, table_name)"
        " where c.table_schema = 'rota' and t.table_type = 'BASE TABLE' and c.data_type in"
        " ('text', 'jsonb', 'json', 'bytea', 'character varying', 'ARRAY')"
    )
    assert len(columns) > 100
    found = []
    for table, column, kind in columns:
        shown = f"encode({column}, 'escape')" if kind == "bytea" else f"{column}::text"
        number = await conn.fetchval(
            f"select count(*) from rota.{table} where position($1 in {shown}) > 0",
            secret,
        )
        found += [f"{table}.{column}"] if number else []
    return found


async def rotate(caller: Caller, hook_id: str, key: str) -> Any:
    return await caller.post(f"/v1/hooks/{hook_id}/rotate", {}, Idempotency_Key=key)


def test_every_operation_that_answers_a_secret_says_so() -> None:
    marked = {each.name for each in catalogue.operations if each.reveals_secret}

    assert marked == {each.name for each in catalogue.operations if reveals(each)}
    assert {"create_key", "create_hook", "rotate_hook", "create_login_ticket"} < marked


@pytest.mark.parametrize(("path", "body", "field", "id_field"), CREATING)
async def test_a_repeat_names_what_was_made_and_the_secret_is_stored_nowhere(
    api: Served, path: str, body: Any, field: str, id_field: str | None
) -> None:
    first = await api.platform.post(path, body, Idempotency_Key="again")
    second = await api.platform.post(path, body, Idempotency_Key="again")

    assert first.status == 201
    assert (second.status, second.json["code"]) == (409, "secret_shown_once")
    assert first.json[field] not in second.text
    if id_field is not None:
        assert first.json[id_field] in second.json["detail"]
    assert await columns_with(api.conn, first.json[field]) == []


async def test_a_rotation_is_not_repeated_and_makes_no_second_secret(api: Served) -> None:
    made = (await api.platform.post("/v1/hooks", {"name": "paid", "type": "paid"})).json
    first = await rotate(api.platform, made["hook_id"], "again")
    second = await rotate(api.platform, made["hook_id"], "again")

    assert (first.status, second.status) == (200, 409)
    assert made["hook_id"] in second.json["detail"]
    assert (await api.platform.get("/v1/hooks")).json["data"][0]["version"] == 2
    assert await columns_with(api.conn, first.json["secret"]) == []


async def test_a_start_blanks_the_secrets_that_an_older_release_stored(
    database: str, tmp_path: Path
) -> None:
    secret, other = "rota_older_secret", b'{"job_id":"job_1"}'
    async with serving(database, tmp_path) as api:
        for path, body in (("/v1/keys", b'{"key":"%s"}' % secret.encode()), ("/v1/jobs", other)):
            await api.conn.execute(
                "insert into rota.idempotency (tenant_id, scope, key, fingerprint, status, body)"
                " values (1, $1, 'k', sha256('x'), 201, $2)",
                f"0190 POST {path}",
                body,
            )
        assert await columns_with(api.conn, secret) == ["idempotency.body"]

    async with serving(database, tmp_path) as api:
        assert await columns_with(api.conn, secret) == []
        kept = await api.conn.fetch("select body from rota.idempotency order by scope")

    assert [bytes(row[0]) for row in kept] == [other, b"{}"]
