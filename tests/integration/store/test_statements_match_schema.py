"""Every statement is prepared against the real schema and held against its declaration."""

import importlib
import pkgutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from enum import Enum
from importlib.resources import files
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints
from uuid import UUID

import asyncpg
import pytest

import rota.store
from rota.store.pool import HOT_PLANNER_SETTINGS, DatabaseAccess, open_connection
from rota.store.statement import STATEMENTS, Statement

for module in pkgutil.iter_modules(rota.store.__path__):
    if not module.ispkg:
        importlib.import_module(f"rota.store.{module.name}")
importlib.import_module("rota_bench.database")

PYTHON_OF = {
    "uuid": UUID,
    "int2": int,
    "int4": int,
    "int8": int,
    "float4": float,
    "bool": bool,
    "text": str,
    "jsonb": str,
    "timestamptz": datetime,
    "interval": timedelta,
    "run_state": str,
    "run_trigger": str,
    "job_state": str,
    "guarantee": str,
    "overlap": str,
    "when_queue_paused": str,
    "session_role": str,
    "backfill_state": str,
    "bytea": bytes,
}


@pytest.mark.parametrize("name", sorted(STATEMENTS))
async def test_a_statement_returns_the_columns_its_row_declares(name: str, schema: str) -> None:
    statement = STATEMENTS[name]

    async with connected(schema) as conn:
        prepared = await conn.prepare(statement.text)

        attributes = prepared.get_attributes()

    assert [attribute.name for attribute in attributes] == list(statement.row._fields)
    hints = get_type_hints(statement.row)
    for attribute in attributes:
        assert accepts(hints[attribute.name], attribute.type.name), attribute


@pytest.mark.parametrize("name", sorted(STATEMENTS))
async def test_a_statement_casts_each_of_its_parameters(name: str, schema: str) -> None:
    statement = STATEMENTS[name]

    async with connected(schema) as conn:
        prepared = await conn.prepare(statement.text)
        parameters = prepared.get_parameters()

    assert len(parameters) == len(statement.parameters)
    for number, parameter in enumerate(statement.parameters, start=1):
        assert f"${number}::" in statement.text, f"{parameter} has no type"


def test_every_sql_file_is_declared_once() -> None:
    on_disk = {
        f"{group.name}/{entry.name.removesuffix('.sql')}"
        for package in ("rota.store", "rota_bench")
        for group in files(package).joinpath("sql").iterdir()
        for entry in group.iterdir()
    }

    assert on_disk == set(STATEMENTS)


async def test_the_hot_pool_may_set_what_it_sets(schema: str) -> None:
    async with open_connection(DatabaseAccess(url=schema), hot=True) as conn:
        for setting, value in HOT_PLANNER_SETTINGS.items():
            assert await conn.fetchval("select current_setting($1)", setting) == value


def test_a_missing_or_unknown_parameter_is_refused_before_it_is_sent() -> None:
    statement: Statement[Any] = STATEMENTS["shards/release"]

    with pytest.raises(TypeError, match="shards/release expects"):
        statement._bind({"owner": None})


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Any]:
    conn = await asyncpg.connect(url)
    try:
        yield conn
    finally:
        await conn.close()


def accepts(hint: Any, type_name: str) -> bool:
    if get_origin(hint) is UnionType:
        return any(accepts(part, type_name) for part in get_args(hint) if part is not NoneType)
    if get_origin(hint) is list and type_name.endswith("[]"):
        return type_name.endswith("[]") and accepts(get_args(hint)[0], type_name[:-2])
    expected = PYTHON_OF[type_name]
    return hint is expected or (
        expected is str and isinstance(hint, type) and issubclass(hint, Enum)
    )
