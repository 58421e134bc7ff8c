"""The ETL executor under the suite that every executor must pass (E17)."""

from pathlib import Path
from typing import Any

import pytest

from rota.executors.sql import DataFolder, EtlExecutor, EtlLimits, SqlConnections
from rota.sdk.testing.executor_contract import ExecutorContract


def payload(transform: str, file: str = "out.csv") -> dict[str, Any]:
    return {
        "extract": [{"name": "one", "from": {"file": "one.csv"}}],
        "transform": transform,
        "load": {"to": {"file": file}},
    }


class TestEtl(ExecutorContract):
    good_payload = payload("select * from one")
    bad_payloads = (
        {},
        {"extract": []},
        {**payload("select 1"), "load": {}},
        {**payload("select 1"), "load": {"to": {"connection": "gone", "table": "t"}}},
        {**payload("select 1"), "extract": [{"name": "one", "from": {"file": "/etc/passwd"}}]},
        {**payload("select 1"), "chunk_rows": 0},
        "select 1",
        None,
        7,
        [],
    )
    failing_payload = payload("select * from gone")
    slow_payload = payload("select count(*) from range(100000000000000) r(i) where i % 7 = 3")
    loud_payload = payload("select i, i as j from range(30000) r(i)", "loud.json")
    place: Path

    @pytest.fixture(autouse=True)
    def make_files(self, tmp_path: Path) -> None:
        self.place = tmp_path
        (tmp_path / "work").mkdir()
        (tmp_path / "one.csv").write_text("n\n1\n")

    def make_executor(self) -> EtlExecutor:
        limits = EtlLimits(memory=128, disk=64, threads=1, folder=self.place / "work")
        return EtlExecutor(
            connections=SqlConnections(), folder=DataFolder(self.place), limits=limits
        )

    def speaking_payload(self, word: str) -> Any:
        return payload("select * from one", f"{word}.csv")
