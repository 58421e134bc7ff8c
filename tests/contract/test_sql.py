"""The SQL executor under the suite that every executor must pass (E17)."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rota.executors.sql import DataFolder, SqlConnection, SqlConnections, SqlExecutor
from rota.sdk.testing.executor_contract import ExecutorContract

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"
LOUD = "with recursive n(i) as (select 1 union all select i + 1 from n limit 30000) select i from n"


class TestSql(ExecutorContract):
    good_payload = {"connection": "shop", "query": "select 1 as one, 'a' || char(0) as word"}  # noqa: RUF012
    bad_payloads = (
        {},
        {"connection": "shop"},
        {"connection": "gone", "query": "select 1"},
        {"connection": "shop", "query": 7},
        {"connection": "shop", "query": "select 1", "result": "all"},
        {"connection": "shop", "query": "select 1", "file": {"path": "../x.csv"}},
        {"connection": "shop", "query": "commit"},
        "select 1",
        None,
        7,
        [],
    )
    failing_payload = {"connection": "shop", "query": "select * from gone"}  # noqa: RUF012
    slow_payload = {"connection": "shop", "query": ENDLESS}  # noqa: RUF012
    loud_payload = {"connection": "shop", "query": LOUD, "file": {"path": "loud.csv"}}  # noqa: RUF012
    place: Path

    @pytest.fixture(autouse=True)
    def make_database(self, tmp_path: Path) -> None:
        self.place = tmp_path
        sqlite3.connect(tmp_path / "shop.db").close()

    def make_executor(self) -> SqlExecutor:
        shop = SqlConnection(name="shop", url=f"sqlite://{self.place}/shop.db")
        return SqlExecutor(connections=SqlConnections([shop]), folder=DataFolder(self.place))

    def speaking_payload(self, word: str) -> Any:
        return {"connection": "shop", "query": "select :word as word", "parameters": {"word": word}}
