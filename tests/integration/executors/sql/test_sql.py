"""Statements and queries on real servers (E17)."""

import asyncio
import csv
import json
import sqlite3
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import duckdb
import pytest
from tests.integration.executors.sql.conftest import DIALECTS, Bench
from tests.support.mariadb import PASSWORD, Mariadb

from rota.core.errors import InvalidInput
from rota.core.executor import Stream
from rota.executors.sql import SqlConnection
from rota.sdk.testing import RecordingContext

# Takes minutes, unless it is stopped.
ENDLESS = {
    "postgresql": "select pg_sleep(300)",
    "mysql": "select sleep(300)",
    "sqlite": "with recursive n(i) as (select 1 union all select i + 1 from n) select sum(i) from n"
    " where i < 0",
    "duckdb": "select count(*) from range(100000000000000) r(i) where i % 7 = 3",
}
MARKS = {"postgresql": "$1", "mysql": "?", "sqlite": "?", "duckdb": "?"}


@pytest.mark.parametrize("place", DIALECTS)
async def test_statements_are_one_transaction_and_the_last_rows_are_the_result(
    all_four: Bench, place: str
) -> None:
    await all_four.do(place, "create table t (id integer primary key, word varchar(20))")

    result = await all_four.result(
        {
            "connection": place,
            "statements": [
                {
                    "query": "insert into t (id, word) values (:a, :word), (:b, '50 % :word ''?')",
                    "parameters": {"a": 1, "b": 2, "word": "it's; -- \\"},
                },
                {
                    "query": f"update t set word = 'changed' where id = {MARKS[place]}",
                    "parameters": [7],
                },
                "select id, word from t order by id",
            ],
        }
    )
    broken = await all_four.failure(
        {"connection": place, "statements": ["delete from t", "select no_such_column from t"]}
    )

    assert result["columns"] == ["id", "word"]
    assert result["rows"] == [[1, "it's; -- \\"], [2, "50 % :word '?"]]
    assert result["affected"] == [2, 0, None]
    assert broken.final
    assert await all_four.rows(place, "select count(*) from t") == [[2]]


@pytest.mark.parametrize("place", DIALECTS)
async def test_a_statement_knows_its_own_run(all_four: Bench, place: str) -> None:
    await all_four.do(place, "create table once (k varchar(64) primary key, moment timestamp)")
    insert = "insert into once (k, moment) values (:rota_idempotency_key, :rota_scheduled_at)"
    payload = {"connection": place, "query": insert}

    await all_four.result(payload)
    again = await all_four.failure(payload, RecordingContext(attempt=2))

    assert again.final
    [[key, at]] = await all_four.rows(place, "select k, moment from once")
    assert key == RecordingContext().idempotency_key
    assert str(at).startswith("2030-01-01T09:00:00")


@pytest.mark.parametrize("place", DIALECTS)
async def test_rows_are_cut_at_the_number_that_was_asked_for(all_four: Bench, place: str) -> None:
    await all_four.do(place, "create table t (i integer)")
    await all_four.do(place, f"insert into t values {', '.join(f'({i})' for i in range(50))}")
    payload = {"connection": place, "query": "select i from t order by i", "max_rows": 3}

    cut = await all_four.result(payload)
    whole = await all_four.result({**payload, "max_rows": 50})

    assert (cut["rows"], cut["truncated"]) == ([[0], [1], [2]], True)
    assert (len(whole["rows"]), whole["truncated"]) == (50, False)


@pytest.mark.parametrize("place", ["mysql", "duckdb"])
async def test_a_result_never_outgrows_what_can_be_stored(all_four: Bench, place: str) -> None:
    await all_four.do(place, "create table t (word varchar(2000))")
    words = ", ".join(f"('{'x' * 2000}')" for _ in range(60))
    await all_four.do(place, f"insert into t values {words}")

    result = await all_four.result({"connection": place, "query": "select word from t"})

    assert result["truncated"]
    assert 10 < len(result["rows"]) < 60
    assert len(json.dumps(result)) < 64 * 1024


@pytest.mark.parametrize("place", DIALECTS)
async def test_a_query_that_takes_too_long_is_stopped_on_the_server(
    all_four: Bench, mariadb: Mariadb, place: str
) -> None:
    payload = {"connection": place, "query": ENDLESS[place], "timeout": "300ms"}

    failed = await all_four.failure(payload)

    assert failed.timed_out
    assert failed.failure.type == "timeout"
    assert await running(all_four, mariadb, place) == []


@pytest.mark.parametrize("place", DIALECTS)
async def test_a_cancelled_query_is_stopped_on_the_server(
    all_four: Bench, mariadb: Mariadb, place: str
) -> None:
    running_job = asyncio.create_task(all_four.run({"connection": place, "query": ENDLESS[place]}))
    await asyncio.wait([running_job], timeout=0.25)

    running_job.cancel()
    await asyncio.wait([running_job], timeout=3)

    assert running_job.cancelled()
    assert await running(all_four, mariadb, place) == []


async def running(bench: Bench, mariadb: Mariadb, place: str) -> list[Any]:
    """The endless queries that the server still works on; in this process a thread would."""
    if place == "postgresql":
        asked = (
            "select pid from pg_stat_activity where query like 'select pg_sl%' and state = 'active'"
        )
        return await bench.rows(place, asked)
    if place == "mysql":
        asked = "select id from information_schema.processlist where info like 'select sleep%'"
        return mariadb.run(asked)
    before = time.thread_time_ns(), time.process_time_ns()
    await asyncio.wait([asyncio.ensure_future(asyncio.Event().wait())], timeout=0.2)
    spent = time.process_time_ns() - before[1]
    return [] if spent < 150_000_000 else [spent]


ESCAPES = {
    "postgresql": "set transaction read write",
    "mysql": "set autocommit = 1",
    "sqlite": "pragma query_only = off",
    "duckdb": "set enable_external_access = true",
}


@pytest.mark.parametrize("place", DIALECTS)
async def test_a_connection_that_may_only_read_changes_nothing(all_four: Bench, place: str) -> None:
    await all_four.do(place, "create table t (i integer)")
    there = next(one for one in all_four.connections if one.name == place)
    all_four.connections.append(replace(there, name="seen", read_only=True))

    for first in ("select 1", ESCAPES[place]):
        payload = {"connection": "seen", "statements": [first, "insert into t values (1)"]}
        try:
            failed = await all_four.failure(payload)
        except InvalidInput:
            continue
        assert failed.final

    assert await all_four.rows(place, "select count(*) from t") == [[0]]


@pytest.mark.parametrize(
    ("place", "query"),
    [
        ("postgresql", "selec 1"),
        ("mysql", "select * from no_such_table"),
        ("sqlite", "selec 1"),
        ("duckdb", "select * from no_such_table"),
    ],
)
async def test_what_a_retry_cannot_mend_fails_at_once(
    all_four: Bench, place: str, query: str
) -> None:
    failed = await all_four.failure({"connection": place, "query": query})

    assert failed.final
    assert failed.failure.message.startswith(f"{place}: ")


@pytest.mark.parametrize("place", DIALECTS)
async def test_a_parameter_that_does_not_fit_is_a_clear_failure(
    all_four: Bench, place: str
) -> None:
    failed = await all_four.failure(
        {"connection": place, "query": f"select {MARKS[place]}", "parameters": [1, 2, 3]}
    )

    assert failed.final
    assert failed.failure.message


async def test_postgresql_values_keep_their_meaning(all_four: Bench) -> None:
    result = await all_four.result(
        {
            "connection": "postgresql",
            "query": "select :n::numeric, :d::date, :t::timestamptz, :u::uuid, :j::jsonb,"
            " 'x'::bytea, 'nan'::float8,"
            " interval '90 seconds', array[1, 2], null, true, 'a', :i::int8, "
            "numrange(1, 2), time '10:30'",
            "parameters": {
                "n": "12345678901234567890.10",
                "d": "2030-01-31",
                "t": "2030-01-31T10:00:00+02:00",
                "u": "01890000-0000-7000-8000-000000000001",
                "j": {"a": [1, None]},
                "i": 2**62,
            },
        }
    )

    assert result["rows"] == [
        [
            "12345678901234567890.10",
            "2030-01-31",
            "2030-01-31T08:00:00+00:00",
            "01890000-0000-7000-8000-000000000001",
            {"a": [1, None]},
            "eA==",
            "nan",
            "PT1M30S",
            [1, 2],
            None,
            True,
            "a",
            2**62,
            result["rows"][0][13],
            "10:30:00",
        ]
    ]


async def test_duckdb_gives_instants_and_nested_values(bench: Bench) -> None:
    query = (
        "select timestamptz '2030-01-31 10:00:00+02' as at, [1, 2] as l, {'a': 1} as s, "
        "1.50::decimal(5, 2) as d, 'x'::blob as b  -- a comment at the end"
    )

    rows = await bench.rows("duckdb", query)

    assert rows == [["2030-01-31T08:00:00+00:00", [1, 2], {"a": 1}, "1.50", "eA=="]]


@pytest.mark.parametrize(
    ("place", "format_"),
    [
        *((place, "parquet") for place in DIALECTS),
        ("postgresql", "csv"),
        ("mysql", "json"),
        ("sqlite", "json"),
        ("duckdb", "csv"),
    ],
)
async def test_rows_are_written_to_a_file(
    all_four: Bench, tmp_path: Path, place: str, format_: str
) -> None:
    await all_four.do(place, "create table t (i integer, word varchar(20), d decimal(8, 2))")
    await all_four.do(
        place, "insert into t values (1, 'a,\"b', 1.50), (2, null, null), (3, 'ü\nx', 20.25)"
    )
    query = "select i, word, d from t order by i"

    result = await all_four.result(
        {
            "connection": place,
            "query": query,
            "result": "file",
            "file": {"path": f"out/{{scheduled_at:date}}.{format_}"},
        }
    )

    written = all_four.folder / "out" / f"2030-01-01.{format_}"
    assert result["rows"] == 3
    assert result["file"] == f"out/2030-01-01.{format_}"
    found = [tuple(row) for row in duckdb.execute(f"from '{written}'").fetchall()]
    assert [(row[0], row[1], None if row[2] is None else float(row[2])) for row in found] == [
        (1, 'a,"b', 1.5),
        (2, None, None),
        (3, "ü\nx", 20.25),
    ]
    assert [path.name for path in written.parent.iterdir()] == [written.name]


async def test_a_failed_query_leaves_no_file_and_keeps_the_old_one(bench: Bench) -> None:
    (bench.folder / "out.csv").write_text("old")
    query = "select case when i < 3000 then i else json('no') end from"
    query += " (select value as i from json_each(?))"
    numbers = json.dumps(list(range(5000)))

    failed = await bench.failure(
        {
            "connection": "sqlite",
            "query": query,
            "parameters": [numbers],
            "file": {"path": "out.csv"},
        }
    )

    assert failed.final
    assert (bench.folder / "out.csv").read_text() == "old"
    assert [path.name for path in bench.folder.iterdir()] == ["out.csv"]


async def test_a_large_result_goes_to_a_file_row_by_row(bench: Bench) -> None:
    payload = {
        "connection": "duckdb",
        "query": "select i, i * 2 as j from range(100000) r(i)",
        "file": {"path": "big.csv", "format": "csv"},
    }

    result = await bench.result(payload)

    with (bench.folder / "big.csv").open() as file:
        rows = list(csv.reader(file))
    assert result["rows"] == 100_000
    assert (rows[0], rows[1], rows[-1], len(rows)) == (
        ["i", "j"],
        ["0", "0"],
        ["99999", "199998"],
        100_001,
    )


async def test_a_link_out_of_the_data_folder_is_not_followed(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (bench.folder / "link").symlink_to(tmp_path / "outside")
    payload = {"connection": "sqlite", "query": "select 1 as i", "file": {"path": "link/out.csv"}}

    failed = await bench.failure(payload)

    assert failed.final
    assert "out of the data folder" in failed.failure.message
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize(
    "query",
    [
        "attach database '/etc/passwd' as p",
        "vacuum into '/tmp/rota-stolen.db'",
        "select load_extension('x')",
    ],
)
async def test_sqlite_reaches_no_other_file(bench: Bench, query: str) -> None:
    failed = await bench.failure({"connection": "sqlite", "query": query})

    assert failed.final


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_text('/etc/passwd')",
        "from '/etc/passwd'",
        "copy (select 1) to '/tmp/rota-stolen.csv'",
        "attach '/tmp/rota-stolen.duckdb'",
        "set enable_external_access = true",
        "set allowed_directories = ['/etc']",
        "set allowed_paths = ['/etc/passwd']",
        "set temp_directory = '/etc'",
        "set secret_directory = '/etc'",
        "from enable_logging(storage='file', storage_config={'path': '/tmp/rota-stolen'})",
        "pragma enable_profiling='json'",
        "install httpfs",
        "select 1; select * from read_text('/etc/passwd')",
    ],
)
async def test_duckdb_reaches_no_file(bench: Bench, query: str) -> None:
    failed = await bench.failure({"connection": "duckdb", "query": query})

    assert failed.final


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
async def test_a_server_that_is_away_is_tried_again_and_its_password_is_not_told(
    bench: Bench, scheme: str
) -> None:
    url = f"{scheme}://me:hunter%21of-two@127.0.0.1:1/shop"
    bench.connections.append(SqlConnection(name="away", url=url))
    context = RecordingContext()

    failed = await bench.failure({"connection": "away", "query": "select 1"}, context)

    assert (failed.final, failed.reached) == (False, False)
    assert "of-two" not in repr(failed) + context.all_output + repr(bench.connections)


async def test_a_wrong_password_fails_at_once_and_is_not_told(
    bench: Bench, mariadb: Mariadb
) -> None:
    url = mariadb.url.replace(PASSWORD, f"not-{PASSWORD}")
    bench.connections.append(SqlConnection(name="my", url=url))

    failed = await bench.failure({"connection": "my", "query": "select 1"})

    assert failed.final
    assert PASSWORD not in repr(failed)


async def test_a_lock_that_another_has_is_tried_again(all_four: Bench, mariadb: Mariadb) -> None:
    await all_four.do("mysql", "create table t (i integer)", "insert into t values (1)")
    with mariadb.connect() as holder, holder.cursor() as cursor:
        cursor.execute("start transaction")
        cursor.execute("select * from t for update")
        failed = await all_four.failure(
            {"connection": "mysql", "query": "select * from t for update nowait"}
        )

    assert failed.failure.type == "mysql 1205"
    assert not failed.final


async def test_a_conflict_of_transactions_is_tried_again(all_four: Bench) -> None:
    await all_four.do("postgresql", "create table t (i integer)", "insert into t values (1)")
    url = next(one.url for one in all_four.connections if one.name == "postgresql")
    other = await asyncpg.connect(url)
    try:
        await other.execute("begin")
        await other.execute("update t set i = 2")
        failed = await all_four.failure(
            {
                "connection": "postgresql",
                "statements": ["set local lock_timeout = '10ms'", "update t set i = 3"],
            }
        )
    finally:
        await other.close()

    assert failed.failure.type == "sqlstate 55P03"
    assert not failed.final


async def test_sqlite_that_is_locked_is_tried_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rota.executors.sql.sqlite_session.BUSY_TIMEOUT_S", 0.05)
    path = next(one.path for one in bench.connections if one.name == "sqlite")
    await bench.do("sqlite", "create table t (i integer)")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("begin exclusive")

    failed = await bench.failure({"connection": "sqlite", "query": "insert into t values (1)"})
    holder.close()

    assert failed.failure.type == "SQLITE_BUSY"
    assert not failed.final


async def test_a_file_that_is_no_database_or_is_not_there_fails_at_once(
    bench: Bench, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("no database " * 100)
    bench.connections += [
        SqlConnection(name="gone", url=f"sqlite://{tmp_path}/gone.db"),
        SqlConnection(name="text", url=f"sqlite://{tmp_path}/text"),
        SqlConnection(name="none", url=f"duckdb://{tmp_path}/gone.duckdb"),
    ]

    for name in ("gone", "text", "none"):
        failed = await bench.failure({"connection": name, "query": "select 1"})
        assert failed.final
    assert not (tmp_path / "gone.db").exists()


async def test_the_log_of_an_attempt_tells_how_many_rows(bench: Bench) -> None:
    context = RecordingContext()

    await bench.result({"connection": "sqlite", "query": "select 1"}, context)

    assert context.output_of(Stream.ROTA).text == "1 rows on sqlite\n"


async def test_without_connections_every_job_is_refused_at_once() -> None:
    bench = Bench(connections=[], folder=Path("/nowhere"), work=Path("/nowhere"))

    with pytest.raises(InvalidInput) as refused:
        bench.sql.read("sql", {"connection": "shop", "query": "select 1"})

    assert "available: none" in str(refused.value)
