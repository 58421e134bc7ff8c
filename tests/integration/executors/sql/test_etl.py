"""Extract, transform, load between real databases, files and an object store (E17)."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pytest
from tests.integration.executors.sql.conftest import DIALECTS, Bench
from tests.support.s3 import KEY, SECRET, s3_in

from rota.core.executor import Stream
from rota.executors.sql import SqlConnection
from rota.sdk.testing import RecordingContext

OTHER_RUN = UUID("01890000-0000-7000-8000-000000000009")


def numbers(count: int, *, to: Any, chunk_rows: int = 100) -> dict[str, Any]:
    """A job that loads as many rows, from a file of one line."""
    transform = f"select i::integer as id, 'word ' || i as word from one, range({count}) r(i)"
    return {
        "extract": [{"name": "one", "from": {"file": "one.csv"}}],
        "transform": f"{transform} order by i",
        "load": {"to": to},
        "chunk_rows": chunk_rows,
    }


@pytest.fixture(autouse=True)
def one(bench: Bench) -> None:
    (bench.folder / "one.csv").write_text("n\n1\n")


@pytest.mark.parametrize("place", DIALECTS)
async def test_orders_and_rates_become_totals_in_a_table(all_four: Bench, place: str) -> None:
    await all_four.do(
        place,
        "create table orders (id integer, day date, amount decimal(10, 2), currency varchar(3))",
        "insert into orders values (1, '2030-01-01', 10.10, 'EUR'), (2, '2030-01-01', 0.20, 'USD'),"
        " (3, '2030-01-02', null, 'EUR')",
        "create table totals (day date, total decimal(12, 2), orders integer)",
    )
    (all_four.folder / "rates.csv").write_text("currency,rate\nEUR,1.0\nUSD,0.5\n")
    context = RecordingContext()

    result = await all_four.result(
        {
            "extract": [
                {
                    "name": "orders",
                    "from": {"connection": place, "query": "select * from orders where id < 9"},
                    "columns": {"amount": "DECIMAL(10,2)"},
                },
                {"name": "rates", "from": {"file": "rat*.csv"}},
            ],
            "transform": [
                {
                    "name": "priced",
                    "query": "select day, amount * rate as worth from orders"
                    " join rates using (currency)",
                },
                {
                    "query": "select day::date as day, sum(worth)::decimal(12, 2) as total,"
                    " count(*) as orders from priced group by all order by all"
                },
            ],
            "load": {"to": {"connection": place, "table": "totals"}},
        },
        context,
    )

    assert result["extracted"] == {"orders": 3, "rates": 2}
    assert (result["rows"], result["chunks"], result["table"]) == (2, 1, "totals")
    rows = await all_four.rows(place, "select day, total, orders from totals order by day")
    assert [(row[0], None if row[1] is None else float(row[1]), row[2]) for row in rows] == [
        ("2030-01-01", 10.2, 2),
        ("2030-01-02", None, 1),
    ]
    assert context.progress_reports[-1] == (1.0, "loaded 2 rows")
    assert "extracted orders" in context.output_of(Stream.ROTA).text


@pytest.mark.parametrize("place", DIALECTS)
async def test_modes_append_replace_and_upsert(all_four: Bench, place: str) -> None:
    await all_four.do(
        place,
        "create table t (id integer primary key, word varchar(20))",
        "insert into t values (1, 'old'), (999, 'other')",
    )
    to = {"connection": place, "table": "t"}

    upserted = numbers(250, to={**to, "mode": "upsert", "key": ["id"]})
    assert (await all_four.result(upserted))["chunks"] == 3
    after_upsert = await all_four.rows(place, "select count(*), min(word) from t where id < 2")
    doubled = await all_four.failure(numbers(5, to=to), RecordingContext(run_id=OTHER_RUN))
    replaced = numbers(20, to={**to, "mode": "replace"})
    await all_four.result(replaced, RecordingContext(run_id=UUID(int=3)))

    assert after_upsert == [[2, "word 0"]]
    assert doubled.final
    assert await all_four.rows(place, "select count(*), max(id) from t") == [[20, 19]]


@pytest.mark.parametrize("place", DIALECTS)
async def test_a_run_that_was_done_already_adds_nothing(all_four: Bench, place: str) -> None:
    """The worker died after the last commit and before it could say so (E1)."""
    await all_four.do(place, "create table t (id integer, word varchar(20))")
    payload = numbers(250, to={"connection": place, "table": "t"})
    await all_four.result(payload)
    (all_four.folder / "one.csv").unlink()

    again = await all_four.result(payload, RecordingContext(attempt=2))

    assert again["rows"] == 250
    assert await all_four.rows(place, "select count(*) from t") == [[250]]


@pytest.mark.parametrize("place", DIALECTS)
async def test_a_load_that_broke_goes_on_after_its_last_chunk(all_four: Bench, place: str) -> None:
    await all_four.do(place, "create table t (id integer, word varchar(20))")
    payload = numbers(1000, to={"connection": place, "table": "t"})
    await break_after(all_four, payload, chunks=4)
    staging = f"rota_etl_{RecordingContext().run_id.hex}"
    staged = await all_four.rows(place, f"select count(*) from {staging}")
    seen = await all_four.rows(place, "select count(*) from t")

    result = await all_four.result(payload, RecordingContext(attempt=2))

    assert (staged, seen) == ([[400]], [[0]])
    assert (result["resumed_after"], result["rows"]) == (4, 1000)
    found = await all_four.rows(place, "select count(*), count(distinct id), sum(id) from t")
    assert [int(cell) for cell in found[0]] == [1000, 1000, 499_500]


class Broken(RecordingContext):
    """An attempt that ends by an error when so many chunks are staged."""

    __slots__ = ()

    def progress(self, fraction: float, message: str = "") -> None:
        if message.startswith("staged 400 "):
            raise RuntimeError("the worker is gone")
        super().progress(fraction, message)


async def break_after(bench: Bench, payload: Any, *, chunks: int) -> None:
    assert chunks * payload["chunk_rows"] == 400
    with pytest.raises(RuntimeError, match="the worker is gone"):
        await bench.run(payload, Broken())


async def test_other_rows_than_before_begin_anew(bench: Bench) -> None:
    await bench.do("sqlite", "create table t (id integer, word text)")
    to = {"connection": "sqlite", "table": "t"}
    await break_after(bench, numbers(1000, to=to), chunks=4)
    changed = numbers(1000, to=to)
    changed["transform"] = changed["transform"].replace("'word '", "'other '")

    result = await bench.result(changed, RecordingContext(attempt=2))

    assert result["resumed_after"] == 0
    assert await bench.rows("sqlite", "select count(*), min(word) from t") == [[1000, "other 0"]]


async def test_a_late_worker_cannot_load_beside_the_next_attempt(bench: Bench) -> None:
    await bench.do("sqlite", "create table t (id integer, word text)")
    payload = numbers(1000, to={"connection": "sqlite", "table": "t"})
    await break_after(bench, payload, chunks=4)
    await bench.do("sqlite", "update rota_etl_marks set attempt = 3")

    late = await bench.failure(payload, RecordingContext(attempt=2))

    assert late.failure.type == "taken over"
    assert await bench.rows("sqlite", "select count(*) from t") == [[0]]


async def test_values_keep_their_meaning_on_the_way_between_databases(all_four: Bench) -> None:
    await all_four.do(
        "postgresql",
        "create table a (n numeric, b bytea, at timestamptz, j jsonb, u uuid, t text, f float8,"
        " l integer[], d date, o boolean)",
        "insert into a values (12345678901234567890.125, '\\x00ff', '2030-01-31T10:00:00+02',"
        " '{\"a\": [1, null]}', '01890000-0000-7000-8000-000000000001', 'it''s\\ü', 0.1,"
        " '{1,2}', '2030-01-31', true)",
        "insert into a (t, f) values ('', 'nan')",
        "create table b (like a)",
    )

    await all_four.result(
        {
            "extract": [
                {"name": "a", "from": {"connection": "postgresql", "query": "select * from a"}}
            ],
            "load": {"to": {"connection": "postgresql", "table": "b"}},
        }
    )

    left = "select count(*) from (select * from a except all select * from b) x"
    assert await all_four.rows("postgresql", left) == [[0]]
    assert await all_four.rows("postgresql", "select count(*) from b") == [[2]]


@pytest.mark.parametrize(
    ("place", "blob", "instant"),
    [
        ("mysql", "varbinary(9)", "datetime"),
        ("sqlite", "blob", "text"),
        ("duckdb", "blob", "timestamptz"),
    ],
)
async def test_rows_move_from_one_database_to_another_and_back(
    all_four: Bench, place: str, blob: str, instant: str
) -> None:
    await all_four.do(
        "postgresql",
        "create table a (n numeric(12, 3), b bytea, moment timestamptz, j jsonb, t text, d date,"
        " o boolean, i bigint, f float8, l time)",
        "insert into a values (-123456789.125, '\\x00ff', '2030-01-31T10:00:00+02', '{\"a\": [1]}',"
        " 'it''s %s \\ \"ü\"', '2030-01-31', true, 9007199254740993, 0.1, '10:30')",
        "insert into a (t) values (null), ('')",
        "create table back (like a)",
    )
    await all_four.do(
        place,
        f"create table b (n decimal(12, 3), b {blob}, moment {instant}, j varchar(99),"
        " t varchar(99), d date, o boolean, i bigint, f double precision, l time)",
    )
    types = {"n": "DECIMAL(12,3)", "moment": "TIMESTAMP", "o": "BOOLEAN", "d": "DATE", "l": "TIME"}
    there = {
        "extract": [
            {"name": "a", "from": {"connection": "postgresql", "query": "select * from a"}}
        ],
        "load": {"to": {"connection": place, "table": "b"}},
    }
    back = {
        "extract": [
            {
                "name": "b",
                "from": {"connection": place, "query": "select * from b"},
                "columns": types if place == "sqlite" else {},
            }
        ],
        "transform": "select * replace (o::boolean as o, j::json as j,"
        " moment::timestamptz as moment, l::varchar as l) from b",
        "load": {"to": {"connection": "postgresql", "table": "back"}},
    }

    await all_four.result(there)
    await all_four.result(back, RecordingContext(run_id=OTHER_RUN))

    same = "select count(*) from (select * from a intersect all select * from back) x"
    assert await all_four.rows("postgresql", same) == [[3]]


@pytest.mark.parametrize("name", ["out.parquet", "sub/out.csv", "out.json", "out.csv.gz"])
async def test_a_result_becomes_a_file(bench: Bench, name: str) -> None:
    result = await bench.result(numbers(10, to={"file": name}))

    written = bench.folder / name
    assert (result["rows"], result["file"]) == (10, name)
    assert duckdb.execute(f"select count(*), max(id) from '{written}'").fetchall() == [(10, 9)]
    assert [path.name for path in written.parent.glob(".*")] == []
    assert list(bench.work.iterdir()) == []


async def test_files_of_an_object_store_are_read_and_written(bench: Bench, tmp_path: Path) -> None:
    bucket = tmp_path / "buckets" / "lake"
    (bucket / "in" / "orders").mkdir(parents=True)
    for number in range(2):
        (bucket / "in" / "orders" / f"{number}.csv").write_text(f"id,word\n{number},w\n")
    (bucket / "in" / "orders" / "no.txt").write_text("no")
    with s3_in(tmp_path / "buckets") as s3:
        url = f"s3://{KEY}:{SECRET}@lake/in?endpoint={s3.endpoint}&region=us-east-1"
        bench.connections.append(SqlConnection(name="lake", url=url))
        payload = {
            "extract": [{"name": "o", "from": {"connection": "lake", "file": "orders/*.csv"}}],
            "transform": "select * from o order by id",
            "load": {
                "to": {"connection": "lake", "file": "out/{scheduled_at:date}/{run_id}.parquet"}
            },
        }

        result = await bench.result(payload)
        payload["extract"][0]["from"]["file"] = "gone.csv"  # type: ignore[index]
        gone = await bench.failure(payload)
        wrong = url.replace(SECRET, f"not-{SECRET}")
        bench.connections[-1] = SqlConnection(name="lake", url=wrong)
        payload["extract"][0]["from"]["file"] = "orders/0.csv"  # type: ignore[index]
        refused = await bench.failure(payload)

    written = bucket / "in" / result["file"]
    assert duckdb.execute(f"from '{written}'").fetchall() == [(0, "w"), (1, "w")]
    assert (gone.failure.type, gone.final) == ("no file", True)
    assert SECRET not in repr(gone) + repr(refused)
    assert refused.failure.type == "object store"


@pytest.mark.parametrize(
    "transform",
    [
        "select * from read_text('/etc/passwd')",
        "select * from '/etc/passwd'",
        "from glob('/etc/*')",
        "select 1; copy one to '/tmp/rota-stolen.csv'",
        "set memory_limit = '100GB'",
        "attach '/tmp/rota-stolen.duckdb'",
        "install httpfs",
    ],
)
async def test_a_transform_reaches_no_file_and_lifts_no_limit(bench: Bench, transform: str) -> None:
    payload = numbers(1, to={"file": "out.csv"})
    payload["transform"] = transform

    failed = await bench.failure(payload)

    assert failed.final
    assert not (bench.folder / "out.csv").exists()


async def test_a_transform_stays_within_its_memory_and_disk(bench: Bench) -> None:
    payload = numbers(1, to={"file": "out.csv"})
    payload["transform"] = "select uuid() as a, uuid() as b from range(2000000)"
    bench.memory = 32

    failed = await bench.failure(payload)

    assert "memory" in failed.failure.message.lower() or "size" in failed.failure.message.lower()
    assert list(bench.work.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"transform": "selec"}, "syntax"),
        ({"load": {"to": {"connection": "sqlite", "table": "gone"}}}, "no such table"),
        ({"extract": [{"name": "one", "from": {"file": "gone.csv"}}]}, "no file gone.csv"),
    ],
)
async def test_what_a_retry_cannot_mend_fails_at_once(
    bench: Bench, change: dict[str, Any], said: str
) -> None:
    failed = await bench.failure({**numbers(1, to={"file": "out.csv"}), **change})

    assert failed.final
    assert said in failed.failure.message.lower()
    assert [path.name for path in bench.folder.iterdir()] == ["one.csv"]


async def test_work_folders_of_dead_workers_are_removed(bench: Bench) -> None:
    (bench.work / "rota-etl-dead").mkdir()
    (bench.work / "rota-etl-dead" / "lock").touch()

    await bench.etl.open()

    assert list(bench.work.iterdir()) == []


async def test_a_result_can_be_stored(bench: Bench) -> None:
    result = await bench.result(numbers(3, to={"file": "out.json"}))

    assert json.loads(json.dumps(result)) == {
        "extracted": {"one": 1},
        "rows": 3,
        "file": "out.json",
    }
