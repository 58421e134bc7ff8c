"""What payloads of `sql` and `etl` may say, and what connections may be."""

from pathlib import Path
from typing import Any

import pytest

from rota.core.errors import InvalidInput, InvalidSetting
from rota.executors.sql import DataFolder, EtlExecutor, SqlConnection, SqlConnections, SqlExecutor
from rota.executors.sql.etl.object_store import compile_pattern

CONNECTIONS = SqlConnections(
    [
        SqlConnection(name="shop", url="postgresql://me:hunter2@db/shop"),
        SqlConnection(name="seen", url="sqlite:///srv/seen.db", read_only=True),
        SqlConnection(name="lake", url="s3://key@bucket/folder"),
    ]
)
SQL: dict[str, Any] = {"connection": "shop", "query": "select 1"}
ETL: dict[str, Any] = {
    "extract": [{"name": "a", "from": {"connection": "shop", "query": "select 1"}}],
    "load": {"to": {"connection": "shop", "table": "sales.daily"}},
}


def read(payload: Any, *, folder: Path | None = Path("/srv/data")) -> Any:
    kind = SqlExecutor if "extract" not in payload else EtlExecutor
    executor = kind(connections=CONNECTIONS, folder=DataFolder(folder))
    return executor.read(executor.kinds[0], payload)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"connection": "gone"}, "available: lake, seen, shop"),
        ({"connection": "lake"}, "not to an object store"),
        ({"connection": None}, "connection: None is invalid: expected text"),
        ({"quary": "x"}, "payload.quary"),
        ({"statements": ["select 1"]}, "expected either query or statements"),
        ({"query": None, "statements": [7]}, "statements[0]: 7 is invalid"),
        ({"query": None, "statements": [{"query": "x", "parameter": []}]}, "statements[0].param"),
        ({"parameters": [0] * 1001}, "(at most 1,000 items)"),
        ({"timeout": 30}, "a number alone has no unit"),
        ({"max_rows": 10_001}, "(0 to 10,000)"),
        ({"max_rows": True}, "(0 to 10,000)"),
        ({"read_only": "yes"}, "true or false"),
        ({"result": "file"}, 'file and "result": "file" must be used together'),
        (
            {"result": "rows", "file": {"path": "x.csv"}},
            'file and "result": "file" must be used together',
        ),
        ({"file": "x.csv"}, "an object with path, format"),
        ({"file": {"path": "/etc/x.csv"}}, "below the data folder"),
        ({"file": {"path": "a/../../x.csv"}}, "below the data folder"),
        ({"file": {"path": "*.csv"}}, "the name of one file"),
        ({"file": {"path": "x.xls"}}, "one of csv, json, parquet"),
        ({"file": {"path": "{scheduled_at.year}.csv"}}, "one of {run_id}"),
        ({"file": {"path": "x\n.csv"}}, "the path of a file"),
    ],
)
def test_a_wrong_sql_payload_is_refused_in_one_sentence(change: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read({**SQL, **change})

    assert said in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"extract": [{"name": "a b", "from": {"file": "x.csv"}}]}, "letters, digits and _"),
        ({"extract": [{"name": "rota_x", "from": {"file": "x.csv"}}]}, "not start with rota_"),
        ({"extract": ETL["extract"] * 2, "transform": "select 1"}, "must be unique"),
        ({"extract": [{"name": "a", "from": {"file": "x"}}]}, "one of csv"),
        (
            {"extract": [{"name": "a", "from": {"connection": "shop", "file": "x.csv"}}]},
            "object store",
        ),
        ({"extract": [{**ETL["extract"][0], "columns": {"a": "x; drop"}}]}, "a type such as"),
        (
            {"extract": [*ETL["extract"], {"name": "b", "from": {"file": "x.csv"}}]},
            "more than one extract",
        ),
        ({"transform": []}, "(1 to 64 items)"),
        ({"transform": [{"query": "select 1"}, {"query": "select 2"}]}, "transform[0].name"),
        ({"load": {"to": {"connection": "seen", "table": "t"}}}, "may write"),
        ({"load": {"to": {"connection": "shop", "table": "t; drop"}}}, "the name of a table"),
        ({"load": {"to": {"connection": "shop", "table": "a.b.c"}}}, "the name of a table"),
        ({"load": {"to": {"connection": "shop", "table": "t", "mode": "x"}}}, "one of append"),
        ({"load": {"to": {"connection": "shop", "table": "t", "mode": "upsert"}}}, "unique key"),
        ({"load": {"to": {"connection": "shop", "table": "t", "key": ["a"]}}}, "unique key"),
        (
            {"extract": [{"name": "a", "from": {"file": "x.csv", "query": "select 1"}}]},
            "extract[0].from.query: 'select 1' is invalid: cannot be combined with file",
        ),
        ({"extract": [{"name": "a", "from": {"connection": "shop"}}]}, "a query, or a file"),
        (
            {"load": {"to": {"file": "x.csv", "table": "t"}}},
            "load.to.table: 't' is invalid: cannot be combined with file",
        ),
        ({"load": {"to": {"connection": "shop"}}}, "the name of a table"),
        ({"chunk_rows": 0}, "(1 to 100,000)"),
    ],
)
def test_a_wrong_etl_payload_is_refused_in_one_sentence(change: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read({**ETL, **change})

    assert said in str(refused.value)


def test_without_a_data_folder_files_are_refused() -> None:
    for payload in ({**SQL, "file": {"path": "x.csv"}}, {**ETL, "load": {"to": {"file": "x.csv"}}}):
        with pytest.raises(InvalidInput, match=r"its operator sets executors\.data_folder"):
            read(payload, folder=None)


def test_a_connection_that_may_only_read_makes_the_job_read_only() -> None:
    assert read({**SQL, "connection": "seen"}).read_only
    assert not read(SQL).read_only


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h/x",
        "sqlite://relative.db",
        "duckdb:x",
        "s3:///folder",
        "just a text",
        "mysql://[",
    ],
)
def test_a_wrong_connection_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        SqlConnection(name="shop", url=url)

    assert refused.value.field == "executors.connections.shop.url"
    assert url not in str(refused.value)


@pytest.mark.parametrize(
    ("pattern", "key", "fits"),
    [
        ("in/*.csv", "in/a.csv", True),
        ("in/*.csv", "in/b/a.csv", False),
        ("in/**/*.csv", "in/b/c/a.csv", True),
        ("in/**/*.csv", "in/a.csv", True),
        ("in/?.csv", "in/ab.csv", False),
        ("in/a+b.csv", "in/aab.csv", False),
    ],
)
def test_patterns_of_objects(pattern: str, key: str, fits: bool) -> None:
    assert bool(compile_pattern(pattern).fullmatch(key)) is fits
