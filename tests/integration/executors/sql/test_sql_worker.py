"""A worker that runs SQL and ETL jobs, from its settings to what its database keeps (E9, E17)."""

import json
import sqlite3
from pathlib import Path

import pytest
from tests.integration.executors.sql.conftest import Bench
from tests.support.mariadb import PASSWORD, Mariadb
from tests.support.shop import open_shop

from rota.config.loader import load_settings
from rota.core.errors import InvalidSetting
from rota.core.states import RunState
from rota.processes.built_in_executors import build_etl_executor, build_sql_executor
from rota.processes.executor_factory import ExecutorSetup, build_executor_factory


async def test_a_worker_moves_rows_as_its_settings_say(
    all_four: Bench, mariadb: Mariadb, database: str, tmp_path: Path
) -> None:
    all_four.used.add("mysql")
    mariadb.run("create table orders (id int, word text)", "insert into orders values (7, 'ü')")
    url = mariadb.url.replace(PASSWORD, "${SHOP_PASSWORD}")
    file = tmp_path / "rota.toml"
    file.write_text(
        f"""
        [executors]
        data_folder = "{all_four.folder}"
        etl_folder = "{all_four.work}"
        [executors.connections.shop]
        url = "{url}"
        read_only = true
        """
    )
    settings = load_settings(environment={}, file=file, default_files=())
    setup = ExecutorSetup(settings=settings, environment={"SHOP_PASSWORD": PASSWORD})
    sql, etl = build_sql_executor(setup), build_etl_executor(setup)
    assert sql is not None
    assert etl is not None
    query = "select id, word from orders"
    async with open_shop(database) as shop:
        shop.others = (lambda: sql, lambda: etl)
        async with shop.worker():
            asked = await shop.submit("sql", {"connection": "shop", "query": query})
            moved = await shop.submit(
                "etl",
                {
                    "extract": [{"name": "o", "from": {"connection": "shop", "query": query}}],
                    "load": {"to": {"file": "orders.csv"}},
                },
            )
            wrong = await shop.submit("sql", {"connection": "gone", "query": query})
            runs = [await shop.ends(run_id) for run_id in (asked, moved, wrong)]

    assert [run.state for run in runs] == [
        RunState.SUCCEEDED,
        RunState.SUCCEEDED,
        RunState.DEAD,
    ]
    assert json.loads(runs[0].result or "")["rows"] == [[7, "ü"]]
    assert (all_four.folder / "orders.csv").read_text() == "id,word\n7,ü\n"


def test_a_worker_whose_password_is_missing_does_not_start(tmp_path: Path) -> None:
    file = tmp_path / "rota.toml"
    file.write_text('[executors.connections.shop]\nurl = "mysql://me:${NOT_THERE}@db/shop"')
    settings = load_settings(environment={}, file=file, default_files=())

    with pytest.raises(InvalidSetting, match="set the environment variable NOT_THERE"):
        build_executor_factory(settings)()


def test_a_worker_with_a_connection_has_both_kinds_and_others_leave_them_alone(
    tmp_path: Path,
) -> None:
    sqlite3.connect(tmp_path / "shop.db").close()
    file = tmp_path / "rota.toml"
    file.write_text(f'[executors.connections.shop]\nurl = "sqlite://{tmp_path}/shop.db"')

    with_one = build_executor_factory(load_settings(environment={}, file=file, default_files=()))()
    without = build_executor_factory(load_settings(environment={}, default_files=()))()

    assert {"sql", "etl"} <= {kind for executor in with_one for kind in executor.kinds}
    assert not {"sql", "etl"} & {kind for executor in without for kind in executor.kinds}
