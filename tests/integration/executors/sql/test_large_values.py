"""One large value ends its own run and leaves the worker alone; SQLite's pragmas are few."""

import pytest
from tests.integration.executors.sql.conftest import DIALECTS, Bench
from tests.support.shop import open_shop

from rota.core.states import RunState

# More than a fetch of PostgreSQL may bring, and more than one value may have.
FETCHED, LARGE = 70_000_000, 20_000_000
QUERIES = {
    "postgresql": f"select repeat('x', {FETCHED})",
    "mysql": "select repeat('x', 16777216 - 512) as a, repeat('y', 16777216 - 512) as b",
    "sqlite": "select zeroblob(900000000)",
    "duckdb": f"select repeat('x', {LARGE})",
}


@pytest.mark.parametrize("place", DIALECTS)
async def test_a_value_that_is_too_large_is_a_final_failure(all_four: Bench, place: str) -> None:
    failed = await all_four.failure({"connection": place, "query": QUERIES[place]})

    assert (failed.failure.type, failed.final) == ("value too large", True)
    assert "16 MiB" in failed.failure.message
    # The connection is a new one for each attempt, so the next job is not touched by it.
    assert await all_four.rows(place, "select 1") == [[1]]


@pytest.mark.parametrize("place", DIALECTS)
async def test_a_value_that_fits_in_memory_but_not_in_a_result_truncates_it(
    all_four: Bench, place: str
) -> None:
    result = await all_four.result(
        {"connection": place, "query": "select 1 as n, repeat('x', 1000000) as large"}
        if place != "sqlite"
        else {"connection": place, "query": "select 1 as n, zeroblob(1000000) as large"}
    )

    assert (result["rows"], result["truncated"]) == ([], True)


@pytest.mark.parametrize("place", DIALECTS)
async def test_many_large_rows_are_all_written(all_four: Bench, place: str) -> None:
    """4 times a piece: rows come in smaller numbers, and none is lost."""
    large = "zeroblob(1000000)" if place == "sqlite" else "repeat('x', 1000000)"
    numbers = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 32)"
    result = await all_four.result(
        {
            "connection": place,
            "query": f"{numbers} select i, {large} as large from n order by i",
            "result": "file",
            "file": {"path": "rows.csv"},
        }
    )
    lines = (all_four.folder / "rows.csv").read_text().splitlines()

    assert result["rows"] == 32
    assert [line.partition(",")[0] for line in lines] == ["i", *map(str, range(1, 33))]


async def test_the_worker_lives_on_after_a_large_value(database: str, bench: Bench) -> None:
    async with open_shop(database) as shop:
        shop.others = (lambda: bench.sql,)
        async with shop.worker() as worker:
            large = await shop.submit("sql", {"connection": "sqlite", "query": QUERIES["sqlite"]})
            small = await shop.submit("sql", {"connection": "sqlite", "query": "select 7"})
            assert (await shop.reaches(large, RunState.DEAD)).attempt == 1
            await shop.reaches(small, RunState.SUCCEEDED)
            assert not worker.node.done()


@pytest.mark.parametrize(
    "pragma",
    [
        "pragma temp_store_directory = '/tmp'",
        "pragma writable_schema = on",
        "pragma query_only = off",
        "pragma journal_mode = off",
        "pragma mmap_size = 1000000000",
        "pragma database_list",
        "select * from pragma_database_list",
    ],
)
async def test_a_pragma_that_is_not_known_to_be_harmless_is_refused(
    bench: Bench, pragma: str
) -> None:
    failed = await bench.failure({"connection": "sqlite", "query": pragma})

    assert failed.final
    assert "not authorized" in failed.failure.message


async def test_pragmas_that_only_tell_something_are_allowed(bench: Bench) -> None:
    await bench.do("sqlite", "create table t (id integer primary key)", "pragma user_version = 3")

    assert await bench.rows("sqlite", "pragma user_version") == [[3]]
    assert (await bench.rows("sqlite", "pragma table_info(t)"))[0][1] == "id"
    assert await bench.rows("sqlite", "select name from pragma_table_info('t')") == [["id"]]
    assert await bench.rows("sqlite", "pragma integrity_check") == [["ok"]]
